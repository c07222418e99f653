/** The options of a release of events on the command line, shared by the commands that make or plan one. */
import { given } from "../core/given.js";
import type { AnyEventOptions } from "../events/options.js";
import type { PerPerson } from "../events/people/people.js";
import { type Arguments, type Option, UsageError } from "./command.js";

/** Beside those of a stream of values. */
export const EVENT_FLAGS: Readonly<Record<string, Option>> = {
  every: {
    value: "D",
    help: "events at times: how often there is a number, such as 1m, 1h or 1d; 1w or 1mo of people; public",
  },
  levels: { value: "D,E", help: "with --every: the periods you ask about (--every, then 1s, 1m, 1h, 1d)" },
  zone: { value: "Z", help: "with --every: whose hours and days, such as Europe/Berlin (UTC)" },
  of: { value: "W", help: "with --every: count, people, sum or mean (count, or sum with --max)" },
  edges: { value: "A:B[:N]", help: "with --every: percentiles; N buckets from A to B (64)" },
  "per-person": {
    value: "K",
    help: "with --every: K events of a person count in a day; events:K,perHour:N or sum:S limit more; brume plan takes choose",
  },
  "keys-per-person": { value: "C", help: "with --of people and --group-by: a person counts in C groups" },
  discover: {
    value: "DELTA",
    help: "with --group-by: groups that nobody listed, found by votes of people; DELTA, such as 1e-9, is the probability that a group that only one person had on a day becomes public",
  },
};

/** Options of `brume release --every`: where events come from and go to. */
export const EVENT_RELEASE_FLAGS: Readonly<Record<string, Option>> = {
  time: { value: "NAME", help: "with --every: the column with times, ISO text or a number since 1970" },
  "time-unit": { value: "U", help: "of times that are numbers: ms or s (ms)" },
  value: { value: "NAME", help: "with --every: the column with values; none for a count" },
  person: { value: "NAME", help: "with --per-person: the column that says whose an event is" },
  "group-by": { value: "NAME", help: "with --every: a release for each of --keys in this column" },
  keys: { value: "A,B", help: "all groups, public; rows of other groups are dropped" },
  from: { value: "T", help: "with --every: when the first period starts, public (required)" },
  to: { value: "T", help: "with --every: publish the periods that end by then, public (required)" },
  report: { value: "D", help: "with --every: a row for each 1h, 1d, 1w, 1mo or auto (--every)" },
  quantiles: { value: "P,Q", help: "with --edges: percentiles, as shares (0.5,0.95)" },
  plot: { help: "with --every: a table with a picture of each number and its interval" },
  state: { value: "DIR", help: "with --every: keep the state here; later runs go on, brume query asks it" },
  key: {
    value: "FILE",
    help: "with --state: 64 hexadecimal digits that encrypt it (DIR.key, made if missing)",
  },
};

/** Options of earlier versions, and what takes their place. */
export const FORMER_FLAGS: Readonly<Record<string, string>> = {
  "per-tick": "nothing: every number is measured. brume plan takes --rate",
  finest: "--every, the finest period that has a number",
  period: "--zone: a person's period is a day of the zone",
};

/** Options of streams of values that streams of events do not have. */
const VALUES_ONLY: Readonly<Record<string, string>> = {
  "max-range": "nothing: noise ends with the day, and answers may span any number of days",
  smoother: "nothing: no number is predicted",
  "skip-levels": "--levels, the periods you ask about",
  holdout: "--threshold for a public θ: of a finished file nothing is held out, and θ takes 1/8 of ε",
  refine: "nothing: θ is chosen once",
  paper: "nothing: the paper has no events",
};

/** @param epsilon and `limit`, of a person: as the options say, or others that are tried */
export function metricOptions(
  args: Arguments,
  epsilon = args.required("epsilon"),
  limit: number | PerPerson | undefined = perPersonOf(args.text("per-person")),
  every = args.text("every")!,
): AnyEventOptions {
  for (const [name, successor] of Object.entries(VALUES_ONLY))
    if (args.text(name) !== undefined)
      throw new UsageError(`--${name}: expected none with --every; use ${successor}`);
  const edges = args.text("edges");
  const of =
    args.choice("of", ["count", "people", "sum", "mean"]) ??
    (args.text("max") === undefined ? "count" : "sum");
  const keysPerPerson = args.number("keys-per-person");
  if (keysPerPerson !== undefined && of !== "people")
    throw new UsageError("--keys-per-person: expected with --of people alone");
  const limits = given({ levels: args.text("levels")?.split(","), perPerson: limit });
  const shared = { epsilon, ...given({ zone: args.text("zone"), unsafeSeed: args.text("unsafe-seed") }) };
  if (of === "people") return { ...shared, ...limits, of, over: every as "1d", ...given({ keysPerPerson }) };
  const common = { ...shared, ...limits, every };
  if (edges !== undefined) return { ...common, edges: edgesOf(edges) };
  if (of === "count") return { ...common, of };
  const values = {
    max: args.required("max"),
    ...given({
      min: args.number("min"),
      threshold: args.number("threshold"),
      resolution: args.number("resolution"),
    }),
  };
  return { ...common, of, ...values };
}

/** "5", "choose", "events:5,perHour:1" or "sum:20". */
export function perPersonOf(text: string | undefined): PerPerson | undefined {
  if (text === undefined) return undefined;
  const wrong = (): never => {
    throw new UsageError(
      `--per-person: expected K, choose, events:K,perHour:N or sum:S, such as 5 or events:5,perHour:1, got "${text}"`,
    );
  };
  const parts = text.split(",").map((part) => {
    const [name, number] = part.includes(":") ? part.split(":") : ["events", part];
    if (name === "events" && number === "choose") return [name, number] as const;
    const value = Number(number);
    if (number === undefined || number.trim() === "" || Number.isNaN(value)) wrong();
    return [["events", "most", "perHour", "sum"].includes(name!) ? name! : wrong(), value] as const;
  });
  return Object.fromEntries(parts) as PerPerson;
}

function edgesOf(text: string) {
  const [min, max, buckets] = text.split(":").map(Number);
  if (min === undefined || max === undefined || [min, max, buckets ?? 64].some(Number.isNaN))
    throw new UsageError(`--edges: expected A:B or A:B:N, such as 1:60000:64, got "${text}"`);
  return { min, max, ...given({ buckets }) };
}
