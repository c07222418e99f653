/**
 * Tables of the documents whose figures follow from public parameters alone: the same numbers that `brume plan` prints.
 * A page names a table between two comments, and `npm run docs` writes it there.
 */
import { composedEpsilon } from "../../src/durable/budget/composition.js";
import { planEvents } from "../../src/events/plan.js";
import type { AnyEventOptions } from "../../src/events/options.js";

type Row = readonly string[];

/** A table in Markdown; columns after the first are numbers. */
export const markdown = (head: Row, rows: readonly Row[]): string =>
  [head, head.map((_, i) => (i === 0 ? "---" : "---:")), ...rows]
    .map((row) => `| ${row.join(" | ")} |`)
    .join("\n");

/** Three digits, with commas: 1.36, 58.9, 1,130. */
export const digits = (x: number): string =>
  x >= 100 ? Math.round(x).toLocaleString("en") : String(Number(x.toPrecision(3)));
/** Two digits, upwards: what is needed at least. */
const atLeast = (x: number): string => {
  const unit = 10 ** (Math.floor(Math.log10(x)) - 1);
  return (Math.ceil(x / unit - 1e-9) * unit).toLocaleString("en", { maximumFractionDigits: 0 });
};
const percent = (p: number): string => `${Number((100 * p).toPrecision(p > 0.99 ? 4 : 3))} %`;

/** Half the width of a 95 % interval. */
export const reachOf = (options: AnyEventOptions, period: string): number =>
  planEvents(options, ["7d", "30d", "365d"]).errors.find((error) => error.period === period)!.reach;

const EPSILONS = [0.1, 0.5, 1, 2, 4];

/** How far somebody who guesses whether a person is in the data gets, by Bayes. */
function odds(): string {
  const after = (before: number, epsilon: number) => {
    const ratio = (before / (1 - before)) * Math.exp(epsilon);
    return percent(ratio / (1 + ratio));
  };
  return markdown(
    ["ε", "a guesser goes from 50 % to at most", "from 1 % to at most"],
    [...EPSILONS, 8].map((epsilon) => [String(epsilon), after(0.5, epsilon), after(0.01, epsilon)]),
  );
}

/** Table of the 95 % errors of a counter of hours and days. */
function errors(): string {
  const counter = (epsilon: number): AnyEventOptions => ({ epsilon, every: "1h", of: "count" });
  return markdown(
    ["ε", "an hour", "a day", "30 days", "a year"],
    EPSILONS.map((epsilon) => [
      String(epsilon),
      ...["1h", "1d", "30d", "365d"].map((period) => `± ${digits(reachOf(counter(epsilon), period))}`),
    ]),
  );
}

/** Table of the ε that a person who is there every day spends. */
function spending(): string {
  const composed = (epsilon: number, times: number) => digits(composedEpsilon([{ epsilon, times }], 1e-9));
  return markdown(
    ["ε a day", "30 days", "at δ = 10⁻⁹", "365 days", "at δ = 10⁻⁹"],
    [0.02, ...EPSILONS.slice(0, 3)].map((epsilon) => [
      String(epsilon),
      digits(30 * epsilon),
      composed(epsilon, 30),
      digits(365 * epsilon),
      composed(epsilon, 365),
    ]),
  );
}

/** Events that a period needs to be known to some share. */
function needs(): string {
  const at = (epsilon: number) => {
    const count = reachOf({ epsilon, every: "1h", of: "count" }, "1h");
    const mean = reachOf({ epsilon, every: "1h", of: "mean", max: 400, threshold: 400 }, "1h");
    const people = reachOf({ epsilon, of: "people", over: "1d" }, "1d");
    const limited = reachOf({ epsilon, every: "1d", of: "count", perPerson: 5 }, "1d");
    const [hour] = planEvents({ epsilon, every: "1h", edges: { min: 1, max: 60_000 } }).errors;
    const rank = (hour!.reach / hour!.standardError) * hour!.rankError!;
    return [count / 0.1, people / 0.1, limited / 0.1, (4 * mean) / 0.1, rank / 0.02].map(atLeast);
  };
  const [small, large] = [at(0.1), at(1)];
  return markdown(
    ["question", "known to", "events needed at ε = 0.1", "at ε = 1"],
    (
      [
        ["a count of an hour, hours and days published", "± 10 %"],
        ["unique visitors of a day, week or month", "± 10 %"],
        ["a count of a day, at most 5 events a person", "± 10 %"],
        ["a mean of an hour that is a quarter of θ", "± 10 %"],
        ["p50 or p95 of an hour, 64 buckets", "2 ranks in 100, and the width of a bucket"],
      ] as const
    ).map(([question, known], i) => [question, known, small[i]!, large[i]!]),
  );
}

/** Standard errors of a count at ε = 1 for some lists of levels. */
function levels(): string {
  const periods = ["1h", "1d", "7d", "30d"] as const;
  return markdown(
    ["levels", "finest", "an hour", "a day", "7 days", "30 days"],
    [["1h"], ["1h", "1d"], ["15m", "1h", "1d"], ["1m", "1h", "1d"], ["10s", "1m", "1h", "1d"]].map((list) => {
      const options = { epsilon: 1, every: list[0]!, levels: list, of: "count" } as AnyEventOptions;
      const { errors } = planEvents(options);
      const of = (period: string) => errors.find((error) => error.period === period)?.standardError;
      return [
        list.join(", "),
        digits(of(list[0]!)!),
        ...periods.map((period) => (of(period) === undefined ? "" : digits(of(period)!))),
      ];
    }),
  );
}

/** Every table by its name. */
export const tables = (): Readonly<Record<string, string>> => ({
  odds: odds(),
  errors: errors(),
  spending: spending(),
  needs: needs(),
  levels: levels(),
});
