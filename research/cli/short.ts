/** brume evaluate --zoo tuning --short: what publishing after a short hold-out costs, and what a second choice of θ mends. */
import type { Arguments } from "../../src/cli/command.js";
import { table } from "../../src/cli/table.js";
import { KINDS, measureShort, PLACES, type ShortCell } from "../zoo/short.js";
import { ZOO } from "../zoo/zoo.js";
import { zooOptions } from "./zoo.js";

export async function evaluateShort(args: Arguments): Promise<void> {
  const usual = { epsilons: [0.1, 1], runs: 10, holdout: 1024, maxRange: 2 ** 20 };
  const { groups, streams, ...options } = await zooOptions(args, usual);
  const named = groups.flatMap((group) => Object.keys(ZOO[group]));
  const cells = measureShort({ ...options, streams: streams ?? named });
  process.stdout.write(`${args.has("json") ? JSON.stringify(cells) : textOf(cells)}\n`);
}

const COLUMNS = PLACES.flatMap((place) => KINDS.map((kind) => [place, kind] as const));

/** Errors over those of waiting: first without a second choice of θ, then with it. */
function textOf(cells: readonly ShortCell[]): string {
  const short = (x: number) => (x >= 1e5 ? x.toExponential(1) : String(Number(x.toPrecision(2))));
  const ratiosOf = ({ errors: { wait, short, refined } }: ShortCell): number[] =>
    COLUMNS.flatMap(([place, kind]) => [short, refined].map((way) => way[place][kind] / wait[place][kind]));
  const rows = cells.map((cell) => [cell.stream, String(cell.epsilon), ...ratiosOf(cell).map(short)]);
  for (const epsilon of new Set(cells.map((cell) => cell.epsilon))) {
    const all = cells.filter((cell) => cell.epsilon === epsilon).map(ratiosOf);
    const mean = (k: number) =>
      Math.exp(all.reduce((sum, ratios) => sum + Math.log(ratios[k]!), 0) / all.length);
    rows.push(["geometric mean", String(epsilon), ...all[0]!.map((_, k) => short(mean(k)))]);
  }
  const head = COLUMNS.flatMap(([place, kind]) => [`${place}: ${kind}`, "refined"]);
  return table(["stream", "ε", ...head], rows);
}
