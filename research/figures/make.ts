/** From a list of figures to a folder: runs.ndjson, a JSON, CSV and SVG per figure, and report.html. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { csvOf } from "../chart/panel.js";
import { svgOf } from "../chart/svg.js";
import type { Figure, Lab } from "./figure.js";
import { reportOf, type Drawn } from "./report.js";
import { runAll, type RunOptions } from "./allJobs.js";

export interface MakeOptions extends Omit<RunOptions, "file"> {
  readonly folder: string;
  /** For the report: when, where and by which command. */
  readonly about: string;
}

export async function makeFigures(
  figures: readonly Figure[],
  lab: Lab,
  { folder, about, ...options }: MakeOptions,
): Promise<Drawn[]> {
  mkdirSync(folder, { recursive: true });
  const results = await runAll(
    figures.flatMap((figure) => figure.jobs(lab)),
    lab.datasets,
    { ...options, file: join(folder, "runs.ndjson") },
  );
  const drawn = figures.map((figure) => ({ figure, panels: figure.panels(lab, results) }));
  for (const { figure, panels } of drawn) {
    const write = (ending: string, text: string) =>
      writeFileSync(join(folder, `${fileName(figure)}.${ending}`), text);
    const { title, paper } = figure;
    const data = lab.datasets.map(({ id, origin, characteristics }) => ({
      id,
      origin: origin ?? "built in",
      ...characteristics,
    }));
    const claims = figure.claims?.(panels) ?? [];
    const reading = { paper, got: figure.got(panels), claims, why: figure.why(lab) };
    write("json", `${JSON.stringify({ title, settings: lab.settings, data, reading, panels }, null, 2)}\n`);
    write("csv", csvOf(panels));
    write("svg", svgOf(title, panels, figure.columns));
  }
  writeFileSync(join(folder, "report.html"), reportOf(drawn, lab, about));
  return drawn;
}

const fileName = ({ id }: Figure): string => (/^\d/.test(id) ? `figure-${id}` : id);
