/** All figures on one page that needs nothing else: pictures inline, a reading beside each. */
import type { Panel } from "../chart/panel.js";
import { escapeXml, svgOf } from "../chart/svg.js";
import type { Figure, Lab, Table } from "./figure.js";

export interface Drawn {
  readonly figure: Figure;
  readonly panels: readonly Panel[];
}

const STYLE = `
  body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fafafa; margin: 0 auto; padding: 2rem 1.5rem; max-width: 1500px; }
  h1 { font-size: 1.6rem; margin: 0 0 .5rem; } h2 { font-size: 1.15rem; margin: 0 0 .75rem; }
  section { background: #fff; border: 1px solid #e4e4e4; border-radius: 8px; padding: 1.25rem; margin: 1.5rem 0; }
  svg { max-width: 100%; height: auto; display: block; margin: 0 auto; }
  dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); gap: .25rem 2rem; margin: 1rem 0 0; font-size: .95rem; }
  dt { font-weight: 600; color: #555; } dd { margin: 0; } p { max-width: 60rem; }
  table { border-collapse: collapse; font-size: .9rem; margin: 0 0 1rem; } th, td { padding: .15rem .8rem; text-align: right; border-bottom: 1px solid #eee; }
  th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; }
  nav a { margin-right: .8rem; }`;

/** @param about when and where it was made, and by which command */
export function reportOf(drawn: readonly Drawn[], lab: Lab, about: string): string {
  const { repeat, queries, holdout, maxRange, seed } = lab.settings;
  const data = lab.datasets.map(
    ({ name, origin }) => `${name} ${origin === "file" ? "from a file" : origin}`,
  );
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>The paper's figures, by brume</title><style>${STYLE}
</style></head>
<body>
<h1>The paper's figures, by brume</h1>
<p>“Continuous Release of Data Streams under both Centralized and Local Differential Privacy” (CCS 2021), measured again, with our defaults beside the paper's variant.
${repeat} ${repeat === 1 ? "run" : "runs"} a point, ${queries} random ranges a run, m = ${holdout} values held out, r = ${maxRange} released. Bars show one standard deviation from run to run; where one reaches below 0 it ends at the axis.</p>
<p>Data: ${escapeXml(data.join(", "))}. Seed “${escapeXml(seed)}”: repeatable, so not private. ${escapeXml(about)}</p>
<nav>${drawn.map(({ figure }) => `<a href="#${figure.id}">${escapeXml(figure.title.split(":")[0]!.split("?")[0]!)}</a>`).join("")}</nav>
${drawn.map((one) => sectionOf(one, lab)).join("\n")}
</body>
</html>
`;
}

function sectionOf({ figure, panels }: Drawn, lab: Lab): string {
  const { id, title, paper, why, columns } = figure;
  const table = figure.table?.(lab);
  const part = (term: string, text: string) => `<div><dt>${term}</dt><dd>${escapeXml(text)}</dd></div>`;
  return `<section id="${id}">
<h2>${escapeXml(title)}</h2>
${table === undefined ? "" : tableOf(table)}${svgOf(title, panels, columns)}
<dl>${part("What the paper shows", paper)}${part("What we got", figure.got(panels))}${part("Why they differ", why)}</dl>
</section>`;
}

function tableOf({ head, rows }: Table): string {
  const line = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${escapeXml(cell)}</${tag}>`).join("")}</tr>`;
  return `<table>${line(head, "th")}${rows.map((row) => line(row, "td")).join("")}</table>`;
}
