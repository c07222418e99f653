/** brume evaluate --zoo --methods: every opponent on every stream of the zoo, against the default. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Arguments, UsageError } from "../../src/cli/command.js";
import { Progress } from "../../src/cli/progress.js";
import { table } from "../../src/cli/table.js";
import { figureOf } from "../opponents/figure.js";
import { type OpponentName, OPPONENT_NAMES } from "../opponents/list.js";
import { measureOpponents } from "../opponents/measure.js";
import { defeats, markdownOf, tableOf } from "../opponents/table.js";
import { type ZooDefaults, zooOptions } from "./zoo.js";

/** A quarter of the usual length, in the same proportion: some of these systems take half a second for a million values. */
const USUAL: ZooDefaults = { epsilons: [0.1, 1], runs: 3, holdout: 2 ** 14, maxRange: 2 ** 18 };

export async function evaluateOpponents(args: Arguments): Promise<void> {
  const file = args.text("kept") ?? join("build", "opponents", "runs.ndjson");
  await mkdir(dirname(file), { recursive: true });
  const progress = new Progress("jobs");
  const report = await measureOpponents({
    ...(await zooOptions(args, USUAL)),
    opponents: opponentsOf(args.text("methods")!),
    file,
    progress: (done, share) => progress.show(done, share),
  }).finally(() => progress.clear());
  const [rows, lost] = [tableOf(report), defeats(report)];
  const out = args.text("out");
  if (out !== undefined) {
    await mkdir(out, { recursive: true });
    await writeFile(join(out, "opponents.json"), `${JSON.stringify(report)}\n`);
    await writeFile(join(out, "opponents.md"), `${markdownOf(rows)}\n\n${markdownOf(lost)}\n`);
    await writeFile(join(out, "opponents.svg"), figureOf(report));
  }
  if (args.has("json")) return void process.stdout.write(`${JSON.stringify(report)}\n`);
  const text = [
    table(rows.head, rows.rows),
    "MSE and per value: over the default's with the same kind of θ, geometric mean over streams; below 1 a system is better.",
    lost.rows.length === 0
      ? "No system is better than the default on any stream by more than two standard errors."
      : `Better than the default by more than two standard errors:\n${table(lost.head, lost.rows)}`,
  ];
  process.stdout.write(`${text.join("\n")}\n`);
}

function opponentsOf(asked: string): readonly OpponentName[] {
  if (asked === "all") return OPPONENT_NAMES;
  return asked.split(",").map((name) => {
    const found = OPPONENT_NAMES.find((known) => known === name.trim());
    if (found === undefined)
      throw new UsageError(
        `--methods: expected all or ${OPPONENT_NAMES.join(", ")} beside --zoo, got "${name}"`,
      );
    return found;
  });
}
