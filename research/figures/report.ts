/** All figures on one page that needs nothing else: pictures inline, a reading beside each. */
import type { Panel } from "../chart/panel.js";
import { escapeXml, piecesOf } from "../chart/svg.js";
import type { Figure, Lab, Table } from "./figure.js";
import { aboutData, type Claim } from "./readings.js";

export interface Drawn {
  readonly figure: Figure;
  readonly panels: readonly Panel[];
}

const STYLE = `
  :root { color-scheme: light dark; --ink: #222; --soft: #555; --page: #fafafa; --card: #fff; --line: #e4e4e4; --link: #0060a0; --good: #00684b; --bad: #b04600; }
  @media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --soft: #a8a8a8; --page: #141414; --card: #1e1e1e; --line: #383838; --link: #6cb6ff; --good: #4cc9a0; --bad: #ff9d5c; } }
  body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); margin: 0 auto; padding: 2rem 1.5rem; max-width: 1500px; }
  h1 { font-size: 1.6rem; margin: 0 0 .5rem; } h2 { font-size: 1.15rem; margin: 0 0 .75rem; }
  h1, h2, p, dd { overflow-wrap: anywhere; }
  a { color: var(--link); } nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
  section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1.25rem; margin: 1.5rem 0; }
  .legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; margin: 0 0 .5rem; padding: 0; font-size: .85rem; }
  .legend svg { vertical-align: middle; }
  .panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(max(min(100%, 17rem), 100%/var(--columns) - .75rem), 1fr)); gap: .75rem; }
  .panels svg { width: 100%; max-width: 34rem; height: auto; display: block; margin: 0 auto; }
  dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr)); gap: .75rem 2rem; margin: 1rem 0 0; font-size: .95rem; }
  dt { font-weight: 600; color: var(--soft); } dd { margin: 0; } p { max-width: 60rem; }
  .scroll { overflow-x: auto; margin: 0 0 1rem; } .claims { margin: 1rem 0 0; }
  table { border-collapse: collapse; font-size: .9rem; } th, td { padding: .15rem .8rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
  th { color: var(--soft); font-weight: 600; } th:first-child, td:first-child { text-align: left; padding-left: 0; white-space: normal; } .claims td:first-child { min-width: 9rem; }
  .all { color: var(--good); } .none { color: var(--bad); }
  @media (max-width: 600px) { body { padding: 1rem .5rem; } section { padding: .9rem .7rem; } }`;

/** @param about when and where it was made, and by which command */
export function reportOf(drawn: readonly Drawn[], lab: Lab, about: string): string {
  const { repeat, queries, holdout, maxRange, seed } = lab.settings;
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>The paper's figures, by brume</title><style>${STYLE}
</style></head>
<body>
<h1>The paper's figures, by brume</h1>
<p>“Continuous Release of Data Streams under both Centralized and Local Differential Privacy” (CCS 2021), measured again, with our defaults beside the paper's variant.
${repeat} ${repeat === 1 ? "run" : "runs"} a point, ${queries} random ranges a run, m = ${holdout} values held out, r = ${maxRange} released. Bars show one standard deviation from run to run; where one reaches below 0 it ends at the axis.</p>
<p>${escapeXml(aboutData(lab))} Seed “${escapeXml(seed)}”: repeatable, so not private. ${escapeXml(about)}</p>
<nav>${drawn.map(({ figure }) => `<a href="#${figure.id}">${escapeXml(figure.title.split(":")[0]!.split("?")[0]!)}</a>`).join("")}</nav>
${drawn.map((one) => sectionOf(one, lab)).join("\n")}
</body>
</html>
`;
}

function sectionOf({ figure, panels }: Drawn, lab: Lab): string {
  const { id, title, paper, columns = Math.min(panels.length, 4) } = figure;
  const table = figure.table?.(lab);
  const claims = figure.claims?.(panels) ?? [];
  const pieces = piecesOf(panels);
  const part = (term: string, text: string) => `<div><dt>${term}</dt><dd>${escapeXml(text)}</dd></div>`;
  return `<section id="${id}">
<h2>${escapeXml(title)}</h2>
${table === undefined ? "" : tableOf(table)}${pieces.legend}
<div class="panels" style="--columns: ${columns}">${pieces.panels.join("\n")}</div>
<dl>${part("What the paper shows", paper)}${part("What we got", figure.got(panels))}${part("Why they differ", figure.why(lab))}</dl>
${claims.length === 0 ? "" : claimsOf(claims)}
</section>`;
}

/** Panels as columns; a claim about some of them leaves the others empty. */
function claimsOf(claims: readonly Claim[]): string {
  const panels = [...new Set(claims.flatMap(({ found }) => found.map(({ panel }) => panel)))];
  const table = {
    head: ["Points where it is so", ...panels],
    rows: claims.map(({ paper, found }) => [
      paper,
      ...panels.map((panel) => {
        const one = found.find((other) => other.panel === panel);
        return one === undefined || one.of === 0 ? "" : `${one.holds} of ${one.of}`;
      }),
    ]),
  };
  return tableOf(table, "claims");
}

function tableOf({ head, rows }: Table, kind = "data"): string {
  const look = (cell: string) => {
    const [, holds, of] = /^(\d+) of (\d+)$/.exec(cell) ?? [];
    return holds === undefined ? "" : holds === of ? ' class="all"' : holds === "0" ? ' class="none"' : "";
  };
  const line = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}${look(cell)}>${escapeXml(cell)}</${tag}>`).join("")}</tr>`;
  return `<div class="scroll ${kind}"><table>${line(head, "th")}${rows.map((row) => line(row, "td")).join("")}</table></div>`;
}
