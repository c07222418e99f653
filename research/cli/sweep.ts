/** brume evaluate --zoo tuning --sweep: is θ sensible for hold-outs and ranges of any length? */
import type { Arguments } from "../../src/cli/command.js";
import { table } from "../../src/cli/table.js";
import { type SweepCell, sweepZoo } from "../zoo/sweep.js";
import { zooOptions } from "./zoo.js";

const STREAMS = [
  ...[
    "exponential",
    "lognormal",
    "pareto",
    "uniform",
    "sparse",
    "zero-inflated",
    "small integers",
    "bimodal",
  ],
];

export async function evaluateSweep(args: Arguments): Promise<void> {
  const usual = { epsilons: [0.1, 1], runs: 7, holdout: 0, maxRange: 0 };
  const { streams = STREAMS, epsilons, runs, seed } = await zooOptions(args, usual);
  const cells = sweepZoo({
    ...{ streams, epsilons, runs, seed },
    holdouts: [16, 64, 256, 1024, 4096, 16_384],
    maxRanges: [16, 256, 4096, 65_536],
  });
  process.stdout.write(`${args.has("json") ? JSON.stringify(cells) : textOf(cells)}\n`);
}

/** By hold-out and range: the geometric mean of the losses, the worst ones, and how many runs had a warning. */
function textOf(cells: readonly SweepCell[]): string {
  const groups = new Map<string, SweepCell[]>();
  for (const cell of cells) {
    const key = [cell.epsilon, cell.maxRange, cell.holdout].join(" ");
    groups.set(key, [...(groups.get(key) ?? []), cell]);
  }
  const short = (x: number) => (x === 0 ? "" : String(Number(x.toPrecision(2))));
  const rows = [...groups.values()].map((group) => {
    const { epsilon, maxRange, holdout } = group[0]!;
    const mean = Math.exp(group.reduce((sum, { loss }) => sum + Math.log(loss), 0) / group.length);
    const warned = group.reduce((sum, cell) => sum + cell.warned, 0) / group.length;
    return [
      ...[String(epsilon), String(maxRange), String(holdout), short(holdout / maxRange)],
      ...[short(mean), short(Math.max(...group.map(({ loss }) => loss)))],
      ...[`${Math.round(100 * warned)} %`, short(Math.max(...group.map(({ unwarned }) => unwarned)))],
    ];
  });
  const head = ["ε", "r", "m", "m/r", "loss", "worst stream", "warned", "worst run without a warning"];
  return table(head, rows);
}
