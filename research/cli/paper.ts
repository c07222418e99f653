/** brume paper: makes the figures of the paper again, with our defaults beside its variant. */
import { mkdir } from "node:fs/promises";
import { cpus } from "node:os";
import { basename, join } from "node:path";
import { DATASET_NAMES, type DatasetName } from "../data/datasets.js";
import { builtIn, type Dataset, fromNumbers } from "../data/source.js";
import { type Figure, FULL, QUICK } from "../figures/figure.js";
import { FIGURES } from "../figures/index.js";
import { makeFigures } from "../figures/make.js";
import { type Command, DataError, UsageError } from "../../src/cli/command.js";
import { formatOf, readNumbers } from "../../src/cli/input.js";
import { Progress } from "../../src/cli/progress.js";
import { SUMMARIES } from "../../src/cli/summaries.js";

const FARE_COLUMN = "fare_amount";

export const paper: Command = {
  name: "paper",
  operands: "",
  summary: `${SUMMARIES.paper}\nFigures: ${FIGURES.map(({ id }) => id).join(", ")}. Finished runs with the same parameters are cached.`,
  options: {
    figure: { value: "F,F,…", help: "which of them (all)" },
    full: { help: "as in the paper: 10 budgets, 100 runs a point; some 80 times the work" },
    data: {
      value: "NAME=FILE",
      repeatable: true,
      help: `a real data set in place of ours: ${DATASET_NAMES.join(", ")}; numbers, .dat transactions (sizes) or .csv taxi records (fares), gzip or not`,
    },
    out: { value: "FOLDER", help: "where it goes (build/paper)" },
    "unsafe-seed": { value: "S", help: "other ranges and other noise, the same every time (paper)" },
  },
  example: "brume paper --figure 3,5 --data Kosarak=kosarak.dat.gz",
  async run(args) {
    const figures = figuresOf(args.text("figure"));
    const folder = args.text("out") ?? join("build", "paper");
    const files = filesOf(args.texts("data"));
    const base = args.has("full") ? FULL : QUICK;
    const settings = { ...base, seed: args.text("unsafe-seed") ?? base.seed };
    await mkdir(folder, { recursive: true }); // fails now if it can, not after an hour
    const given = new Map<DatasetName, Dataset>();
    for (const [name, path] of files) given.set(name, await load(name, path)); // what may fail comes first
    const datasets = DATASET_NAMES.map((name) => given.get(name) ?? builtIn(name));
    const progress = new Progress("runs");
    const drawn = await makeFigures(
      figures,
      { settings, datasets },
      {
        folder,
        about: aboutThis(),
        progress: (done, share) => progress.show(done, share),
      },
    ).finally(() => progress.clear());
    for (const { figure, panels } of drawn) console.log(`${figure.title}\n  ${figure.got(panels)}`);
    console.log(`\n${join(folder, "report.html")}`);
  },
};

function figuresOf(asked: string | undefined): readonly Figure[] {
  if (asked === undefined) return FIGURES;
  const ids = asked.split(",").map((id) => id.trim());
  for (const id of ids)
    if (!FIGURES.some((figure) => figure.id === id))
      throw new UsageError(
        `--figure: expected ${FIGURES.map((figure) => figure.id).join(", ")}, got "${id}"`,
      );
  return FIGURES.filter(({ id }) => ids.includes(id));
}

function filesOf(entries: readonly string[]): Map<DatasetName, string> {
  return new Map(
    entries.map((entry) => {
      const [given, ...path] = entry.split("=");
      const name = DATASET_NAMES.find((known) => known.toLowerCase() === given!.toLowerCase());
      if (name === undefined || path.join("=") === "")
        throw new UsageError(
          `--data: expected NAME=FILE with a name out of ${DATASET_NAMES.join(", ")}, got "${entry}"`,
        );
      return [name, path.join("=")];
    }),
  );
}

/** Taxi records give dollars; a plain file of fares is taken for cents. */
async function load(name: DatasetName, path: string): Promise<Dataset> {
  const format = formatOf(path, undefined);
  const taxi = name === "Fare" && format === "csv";
  const column = taxi ? FARE_COLUMN : undefined;
  const numbers = await readNumbers(path, format, column).catch((reason: unknown) => {
    if (!(reason instanceof RangeError)) throw reason; // no such column: there is no --column here to name another
    const wanted = taxi ? `a column "${FARE_COLUMN}" in its header` : "a single column";
    throw new DataError(`${path}: expected ${wanted}`, { cause: reason });
  });
  if (numbers.length === 0) throw new DataError(`${path}: expected at least one number, got none`);
  return fromNumbers(name, basename(path), numbers, taxi);
}

function aboutThis(): string {
  const command = ["brume", ...process.argv.slice(2)].join(" ");
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}`;
  return `Made by “${command}” on ${new Date().toISOString().slice(0, 10)}, ${machine}, Node ${process.version}.`;
}
