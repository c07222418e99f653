/** brume evaluate --zoo: the default on every stream of the zoo, against the paper's variant and the first default. */
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { formatOf, readNumbers } from "../../src/cli/input.js";
import { type Arguments, UsageError } from "../../src/cli/command.js";
import { given } from "../../src/core/given.js";
import { Progress } from "../../src/cli/progress.js";
import { table } from "../../src/cli/table.js";
import { measureZoo, type Measured, type ZooFile, type ZooReport } from "../zoo/measure.js";

export interface ZooDefaults {
  readonly epsilons: readonly number[];
  readonly runs: number;
  readonly holdout: number;
  readonly maxRange: number;
}

const USUAL: ZooDefaults = {
  epsilons: [0.01, 0.02, 0.05, 0.1, 0.5, 1],
  runs: 30,
  holdout: 65536,
  maxRange: 2 ** 20,
};

export async function evaluateZoo(args: Arguments): Promise<void> {
  const file = args.text("kept") ?? join("build", "zoo", "runs.ndjson");
  await mkdir(dirname(file), { recursive: true });
  const progress = new Progress("jobs");
  const report = await measureZoo({
    ...(await zooOptions(args, USUAL)),
    systems: [
      "default",
      ...(args.has("recorded") ? [] : (["paper"] as const)),
      ...(args.has("still") ? (["still"] as const) : []),
    ],
    file,
    progress: (done, share) => progress.show(done, share),
  }).finally(() => progress.clear());
  process.stdout.write(args.has("json") ? `${JSON.stringify(report)}\n` : `${textOf(report)}\n`);
}

/** Options that all measurements on the zoo take from the command line. */
export async function zooOptions(args: Arguments, usual: ZooDefaults) {
  const group = args.choice("zoo", ["tuning", "fresh", "all"] as const)!;
  return {
    groups: group === "all" ? (["tuning", "fresh"] as const) : [group],
    files: await Promise.all(args.texts("data").map(fileOf)),
    ...given({
      streams: args
        .text("streams")
        ?.split(",")
        .map((name) => name.trim()),
    }),
    epsilons: args.numbers("epsilon") ?? usual.epsilons,
    runs: args.number("repeat") ?? usual.runs,
    queries: args.number("queries") ?? 100,
    holdout: args.number("holdout") ?? usual.holdout,
    maxRange: args.number("max-range") ?? usual.maxRange,
    seed: args.text("unsafe-seed") ?? "zoo",
  };
}

/** @param entry NAME=FILE:MAX */
async function fileOf(entry: string): Promise<ZooFile> {
  const [, name, path, max] = /^([^=]+)=(.+):([\d.]+)$/.exec(entry) ?? [];
  if (path === undefined) throw new UsageError(`--data: expected NAME=FILE:MAX beside --zoo, got "${entry}"`);
  return {
    name: name!,
    max: Number(max),
    values: await readNumbers(path, formatOf(path, undefined), undefined),
  };
}

function textOf({ cells, summary, coverage }: ZooReport): string {
  const short = (x: number) => (x >= 1e5 ? x.toExponential(1) : String(Number(x.toPrecision(3))));
  const ratio = (measured: Measured | undefined) =>
    measured === undefined ? "" : `${measured.mean.toFixed(2)} ± ${measured.se.toFixed(2)}`;
  const percent = ({ mean }: Measured) => `${(100 * mean).toFixed(1)} %`;
  const rows = cells.map((cell) => [
    ...[
      cell.stream,
      String(cell.epsilon),
      short(cell.theta),
      String(cell.skipLevels),
      short(cell.answers.mean),
    ],
    ...[ratio(cell.ratios["answers to paper"]), ratio(cell.ratios["answers to first"])],
    ...[ratio(cell.ratios["published to paper"]), ratio(cell.ratios["published to first"])],
    ...[percent(cell.clampedCoverage), percent(cell.trueCoverage), percent(cell.hiddenCoverage)],
  ]);
  const head = [
    ...["stream", "ε", "θ", "s", "MSE", "to paper", "to first"],
    ...["published: to paper", "to first", "covers clamped", "true", "hidden"],
  ];
  const lines = summary.map(
    ({ comparison, mean, cells: count, worst, above, clearlyAbove }) =>
      `${comparison}: geometric mean ${mean.toFixed(3)} over ${count} cells; worst ${ratio(worst.ratio)} (${worst.stream}, ε = ${worst.epsilon}); above 1.15: ${above}, by more than two standard errors: ${clearlyAbove}`,
  );
  return [
    table(head, rows),
    ...lines,
    `95 % intervals hold the clamped sum in ${(100 * coverage.lowest).toFixed(1)} to ${(100 * coverage.highest).toFixed(1)} %`,
  ].join("\n");
}
