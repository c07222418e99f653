/** The comparison as a table: a block of rows per unit of privacy, best first within it. */
import { type OpponentName, OPPONENTS, type PrivacyUnit, UNIT_TITLES } from "./list.js";
import type { OpponentRow, OpponentsReport, ThetaColumn } from "./measure.js";

export interface ComparisonTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Opponents of one unit, by their mean ratio over all budgets and over both kinds of θ: best first. */
export function ranked({ rows }: OpponentsReport, unit: PrivacyUnit): OpponentName[] {
  const logs = new Map<OpponentName, number[]>();
  for (const { opponent, ratio } of rows)
    if (OPPONENTS[opponent].unit === unit)
      logs.set(opponent, [...(logs.get(opponent) ?? []), Math.log(ratio)]);
  const mean = (list: readonly number[]) => list.reduce((sum, x) => sum + x, 0) / list.length;
  return [...logs].toSorted(([, a], [, b]) => mean(a) - mean(b)).map(([opponent]) => opponent);
}

/** Two digits; nothing that no one can read. */
function short(x: number): string {
  if (x === 0) return "0";
  if (x >= 9950 || x < 0.001) return x.toExponential(1).replace("e+", "e");
  return String(Number(x.toPrecision(2)));
}

const bytes = (n: number | undefined): string =>
  n === undefined ? "" : n >= 1e6 ? `${short(n / 1e6)} MB` : `${short(n / 1e3)} kB`;

export function tableOf(report: OpponentsReport): ComparisonTable {
  const { epsilons } = report.settings;
  const head = [
    ...["privacy", "system"],
    ...epsilons.flatMap((epsilon) => [
      `MSE, θ best, ε = ${epsilon}`,
      `MSE, θ by rule, ε = ${epsilon}`,
      `better on`,
      `relative error`,
      `per value`,
    ]),
    ...["seconds", "memory", "numbers to publish"],
  ];
  const rows = (Object.keys(UNIT_TITLES) as PrivacyUnit[]).flatMap((unit) =>
    ranked(report, unit).map((opponent) => [
      UNIT_TITLES[unit],
      OPPONENTS[opponent].title,
      ...epsilons.flatMap((epsilon) => cellsOf(report, opponent, epsilon)),
      short(rowOf(report, opponent, "best", epsilons[0]!)!.seconds),
      bytes(report.memory[opponent]),
      OPPONENTS[opponent].state,
    ]),
  );
  return { head, rows };
}

function rowOf(
  { rows }: OpponentsReport,
  opponent: OpponentName,
  theta: ThetaColumn,
  epsilon: number,
): OpponentRow | undefined {
  return rows.find((row) => row.opponent === opponent && row.theta === theta && row.epsilon === epsilon);
}

/** "better on" counts streams with θ by the rule, or by a public θ where that is all there is; in brackets the clear ones. */
function cellsOf(report: OpponentsReport, opponent: OpponentName, epsilon: number): string[] {
  const best = rowOf(report, opponent, "best", epsilon)!;
  const rule = rowOf(report, opponent, "rule", epsilon);
  const main = rule ?? best;
  return [
    short(best.ratio),
    rule === undefined ? "–" : short(rule.ratio),
    opponent === "default" ? "" : `${main.better} (${main.clearlyBetter}) of ${main.streams}`,
    `${short(100 * main.relative)} %`,
    short(main.perValueRatio),
  ];
}

export function markdownOf({ head, rows }: ComparisonTable): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Cells in which an opponent of the same unit is clearly better than the default: what there is to learn from. */
export function defeats(report: OpponentsReport): ComparisonTable {
  const cells = report.cells
    .filter(({ opponent, ratio }) => opponent !== "default" && ratio.mean + 2 * ratio.se < 1)
    .toSorted((a, b) => a.ratio.mean - b.ratio.mean);
  return {
    head: ["privacy", "system", "stream", "ε", "θ", "MSE over ours"],
    rows: cells.map(({ opponent, stream, epsilon, theta, ratio }) => [
      UNIT_TITLES[OPPONENTS[opponent].unit],
      OPPONENTS[opponent].title,
      stream,
      String(epsilon),
      theta === "best" ? "best" : "by rule",
      `${short(ratio.mean)} ± ${short(ratio.se)}`,
    ]),
  };
}
