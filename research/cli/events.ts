/** brume evaluate --events: how good θ of event streams is, against the best θ. */
import { type Arguments, UsageError } from "../../src/cli/command.js";
import { table } from "../../src/cli/table.js";
import { DISTRIBUTIONS, type Loss, measureTheta, type ThetaCell } from "../eventTheta/measure.js";

const EVENTS = [10, 100, 1000, 10_000, 100_000];

export function evaluateEvents(args: Arguments): void {
  const streams = args.text("streams")?.split(",");
  const unknown = streams?.find((name) => !DISTRIBUTIONS.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`--streams: expected ${DISTRIBUTIONS.join(", ")}, got "${unknown}"`);
  const cells = measureTheta({
    distributions: streams ?? DISTRIBUTIONS,
    epsilons: args.numbers("epsilon") ?? [0.1, 1, 3],
    events: EVENTS,
    runs: args.number("repeat") ?? 200,
    seed: args.text("unsafe-seed") ?? "events",
  });
  process.stdout.write(`${args.has("json") ? JSON.stringify(cells) : textOf(cells)}\n`);
}

const short = (x: number): string => (x >= 1e4 ? x.toExponential(1) : String(Number(x.toPrecision(2))));
const lossText = ({ median, worstDecile }: Loss): string => `${short(median)} to ${short(worstDecile)}`;
/** Below this share of hold-outs that are enough, a stream mostly waits for another day. */
const MOSTLY = 0.5;

/** Per ε and way one table: a row per distribution, a column per number of events. */
function textOf(cells: readonly ThetaCell[]): string {
  const parts = [
    "Error of a day's sum over that with the best θ: median to worst decile. In brackets: the hold-out goes on for a day.",
  ];
  const byEpsilon = (epsilon: number, name: string, cellText: (cell: ThetaCell) => string): string => {
    const rows = [...new Set(cells.map(({ distribution }) => distribution))].map((distribution) => [
      distribution,
      ...cells.filter((cell) => cell.epsilon === epsilon && cell.distribution === distribution).map(cellText),
    ]);
    return `ε = ${epsilon}, ${name}\n${table(["distribution", ...EVENTS.map((n) => `${n} events`)], rows)}`;
  };
  for (const epsilon of new Set(cells.map((cell) => cell.epsilon))) {
    for (const way of ["split", "dealt"] as const)
      parts.push(
        byEpsilon(epsilon, way === "split" ? "ε split" : "events dealt", (cell) =>
          cell.enough < MOSTLY ? `(${lossText(cell[way])})` : lossText(cell[way]),
        ),
      );
    parts.push(byEpsilon(epsilon, "error with the best θ over the sum", ({ best }) => short(best)));
  }
  return parts.join("\n\n");
}
