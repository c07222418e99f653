/** The options of a release of events on the command line, shared by the commands that make, plan or ask one. */
import { given } from "../core/given.js";
import type { HistogramMetric, StreamMetric } from "../durable/eventHub/options.js";
import { type Arguments, type Option, UsageError } from "./command.js";

/** Beside those of a stream of values. */
export const EVENT_FLAGS: Readonly<Record<string, Option>> = {
  every: { value: "D", help: "events at times: length of a tick, such as 1s, 1m or 1h; public" },
  of: { value: "W", help: "with --every: count, sum or mean (count, or sum with --max)" },
  edges: { value: "A:B[:N]", help: "with --every: percentiles; N buckets from A to B (64)" },
  "per-person": { value: "K", help: "with --every: at most K events of a person count in a period" },
  period: { value: "D", help: "the period of --per-person (1d)" },
  "per-tick": { value: "N", help: "with --every: a public guess of the events in a tick (1)" },
  finest: { value: "D", help: "with --every: an estimate at least this often" },
};

/** And those of where events come from and go to. */
export const EVENT_RELEASE_FLAGS: Readonly<Record<string, Option>> = {
  time: { value: "NAME", help: "with --every: the column with times, ISO text or a number since 1970" },
  "time-unit": { value: "U", help: "of times that are numbers: ms or s (ms)" },
  value: { value: "NAME", help: "with --every: the column with values; none for a count" },
  person: { value: "NAME", help: "with --per-person: the column that says whose an event is" },
  "group-by": { value: "NAME", help: "with --every: a release for each of --keys in this column" },
  keys: { value: "A,B", help: "all groups, public; rows of other groups are dropped" },
  from: { value: "T", help: "with --every: when the first tick starts, public (needed once)" },
  to: { value: "T", help: "with --every: publish ticks up to here, public (now)" },
  report: { value: "D", help: "with --every: a line for every so long (--every)" },
  quantiles: { value: "P,Q", help: "with --edges: percentiles, as shares (0.5,0.95)" },
  state: { value: "DIR", help: "with --every: keep the state here; later runs go on, brume query asks it" },
  key: {
    value: "FILE",
    help: "with --state: 64 hexadecimal digits that encrypt it (DIR.key, made if missing)",
  },
};

/** Everything but the keys. */
export type MetricFlags = Omit<StreamMetric, "keys"> | Omit<HistogramMetric, "keys">;

/** @param epsilon and `limit`, events of a person: as the options say, or others that are tried */
export function metricOptions(
  args: Arguments,
  epsilon = args.required("epsilon"),
  limit: number | null = args.number("per-person") ?? null,
): MetricFlags {
  const edges = args.text("edges");
  const of =
    args.choice("of", ["count", "sum", "mean"]) ?? (args.text("max") === undefined ? "count" : "sum");
  const ticks = {
    epsilon,
    every: args.text("every")!,
    ...given({
      perPerson: limit === null ? undefined : { events: limit, every: args.text("period") ?? "1d" },
      perTick: args.number("per-tick"),
      finest: args.text("finest"),
      maxRange: args.text("max-range"),
      unsafeSeed: args.text("unsafe-seed"),
    }),
  };
  if (edges !== undefined) return { ...ticks, edges: edgesOf(edges) };
  if (of === "count") return { ...ticks, of };
  const values = {
    max: args.required("max"),
    ...given({ threshold: args.number("threshold"), holdout: args.text("holdout") }),
  };
  return { ...ticks, of, ...values };
}

function edgesOf(text: string) {
  const [min, max, buckets] = text.split(":").map(Number);
  if (min === undefined || max === undefined || [min, max, buckets ?? 64].some(Number.isNaN))
    throw new UsageError(`--edges: expected A:B or A:B:N, such as 1:60000:64, got "${text}"`);
  return { min, max, ...given({ buckets }) };
}
