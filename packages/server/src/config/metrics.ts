/** The metrics of a config with every default filled in, and what a schema cannot say about them. */
import {
  type CounterOptions,
  type EventStreamOptions,
  type HistogramOptions,
  privateCounter,
  privateHistogram,
  privateStream,
} from "brume";
import { milliseconds } from "./duration.js";
import type { Config, MetricConfig, MetricType } from "./types.js";

/** What the streams of one metric are made with, but for name and clock. */
export type StreamOptions =
  | HistogramOptions
  | (CounterOptions & { readonly of: "count" })
  | (EventStreamOptions & { readonly max: number });

export interface Metric {
  readonly name: string;
  readonly type: MetricType;
  /** For one person and day, one event, or one report. */
  readonly epsilon: number;
  /** How many events of one person and day count; undefined where events are protected, not people. */
  readonly perPerson: number | undefined;
  readonly unit: string;
  /** All keys; [""] without keys. */
  readonly keys: readonly string[];
  readonly hasKeys: boolean;
  /** Milliseconds. */
  readonly every: number;
  readonly lateness: number;
  readonly skew: number;
  readonly options: StreamOptions | undefined;
  readonly local: { readonly max: number; readonly holdout: number } | undefined;
}

export const DAY = 86_400_000;
const MOST_STREAMS = 100_000;
/** Which fields a type needs, and which it may have beside those of all types. */
const NEEDS: Readonly<Record<MetricType, readonly string[]>> = {
  count: [],
  sum: ["max"],
  mean: ["max"],
  histogram: [],
  local: ["max"],
};
const TAKES: Readonly<Record<MetricType, readonly string[]>> = {
  count: [],
  sum: ["max", "threshold", "holdout"],
  mean: ["max", "threshold", "holdout"],
  histogram: ["min", "max", "buckets", "edges"],
  local: ["max", "holdout"],
};
const ONLY_SOME = ["max", "min", "buckets", "edges", "threshold", "holdout"];
const NOT_LOCAL = [
  "protect",
  "keys",
  "every",
  "lateness",
  "skew",
  "perTick",
  "finest",
  "maxRange",
  "history",
];

export function metricsOf({ metrics }: Config): Metric[] {
  return Object.entries(metrics).map(([name, config]) => resolveMetric(name, config));
}

export function resolveMetric(name: string, config: MetricConfig): Metric {
  const { type, epsilon, unit = "" } = config;
  const local = type === "local";
  const perPerson = config.protect === "event" ? undefined : (config.perPerson ?? (local ? 1 : 10));
  const keys = keysOf(config);
  return {
    name,
    type,
    epsilon,
    perPerson,
    unit,
    keys: keys ?? [""],
    hasKeys: keys !== undefined,
    every: milliseconds(config.every ?? "10s"),
    lateness: milliseconds(config.lateness ?? "5s"),
    skew: milliseconds(config.skew ?? "1m"),
    options: local ? undefined : streamOptions(config, perPerson ?? 1),
    local: local ? { max: config.max!, holdout: Number(config.holdout ?? 65_536) } : undefined,
  };
}

function keysOf({ keys }: MetricConfig): readonly string[] | undefined {
  if (keys === undefined || isList(keys)) return keys;
  return Array.from({ length: keys.to - keys.from + 1 }, (_, i) => `${keys.prefix}${keys.from + i}`);
}

const isList = (keys: NonNullable<MetricConfig["keys"]>): keys is readonly string[] => Array.isArray(keys);

/** How many streams a metric has, without making the list. */
function keyCount({ keys }: MetricConfig): number {
  return keys === undefined ? 1 : isList(keys) ? keys.length : keys.to - keys.from + 1;
}

/**
 * At most k events of a person count in all streams of the metric together, and each event is in one stream. So each
 * stream protects one event at ε/k, and the metric one person at ε.
 */
function streamOptions(config: MetricConfig, k: number): StreamOptions {
  const { type, max, min, buckets, edges, threshold, holdout, finest, maxRange, history } = config;
  const common = {
    epsilon: k === 1 ? config.epsilon : shareOf(config.epsilon, k),
    every: config.every ?? "10s",
    lateness: config.lateness ?? "5s",
    skew: config.skew ?? "1m",
    perTick: config.perTick ?? 100,
    ...(finest === undefined ? {} : { finest }),
    ...(maxRange === undefined ? {} : { maxRange }),
    ...(history === undefined ? {} : { history }),
  };
  if (type === "count") return { ...common, of: "count" };
  if (type === "histogram")
    return { ...common, edges: edges ?? { min: min!, max: max!, buckets: buckets ?? 64 } };
  const chosen = threshold ?? max!;
  return {
    ...common,
    of: type as "sum" | "mean",
    max: max!,
    threshold: chosen,
    ...(chosen === "noisy-max" && holdout !== undefined ? { holdout } : {}),
  };
}

/** Below ε/k: with u = 2⁻⁵³, k·(ε/k)(1 + u)(1 − 2u)(1 + u) = ε(1 − 3u² − 2u³) < ε. */
const shareOf = (epsilon: number, k: number): number => (epsilon / k) * (1 - Number.EPSILON);

/** What is wrong, in words. */
export function metricProblems(config: Config): string[] {
  const entries = Object.entries(config.metrics);
  const single = entries.flatMap(([name, metric]) => problemsOf(`metrics.${name}`, metric));
  if (single.length > 0) return single;
  const streams = entries.reduce((sum, [, metric]) => sum + keyCount(metric), 0);
  if (streams > MOST_STREAMS)
    return [`metrics: expected at most ${MOST_STREAMS} keys in all, got ${streams}; list fewer keys`];
  const wrong = entries.flatMap(([name, metric]) => libraryProblem(`metrics.${name}`, name, metric));
  if (wrong.length > 0) return wrong;
  const spent = budgetOf(config);
  // Decimal numbers such as 0.1 + 0.2 are off by a rounding: what counts is what the odometer adds up exactly.
  return spent <= config.epsilon * (1 + 1e-12)
    ? []
    : [
        `epsilon: expected metrics that spend at most ε = ${config.epsilon} of a person and day, got ${Number(spent.toPrecision(12))}; lower their epsilon, or raise this one`,
      ];
}

/** ε of a person and day over all metrics that protect people. */
function budgetOf({ metrics }: Config): number {
  return Object.values(metrics)
    .filter(({ protect }) => protect !== "event")
    .reduce((sum, metric) => sum + personEpsilon(metric), 0);
}

/** What a metric costs a person and day. A device sends `perPerson` reports at ε each. */
export const personEpsilon = ({
  type,
  epsilon,
  perPerson,
}: Pick<MetricConfig, "type" | "epsilon"> & { readonly perPerson?: number | undefined }): number =>
  type === "local" ? epsilon * (perPerson ?? 1) : epsilon;

function problemsOf(path: string, metric: MetricConfig): string[] {
  const { type } = metric;
  const own = Object.keys(metric);
  const unfit = [
    ...ONLY_SOME.filter((field) => !TAKES[type].includes(field)),
    ...(type === "local" ? NOT_LOCAL : []),
  ];
  const problems = [
    ...NEEDS[type].filter((field) => !own.includes(field)).map((field) => missing(path, type, field)),
    ...own
      .filter((field) => unfit.includes(field))
      .map((field) => `${path}.${field}: expected none for type ${type}; remove it`),
  ];
  if (type === "histogram" && metric.edges === undefined)
    for (const field of ["min", "max"] as const)
      if (metric[field] === undefined) problems.push(missing(path, type, field));
  if (type === "local" && typeof metric.holdout === "string")
    problems.push(
      `${path}.holdout: expected a number of reports for type local, got ${JSON.stringify(metric.holdout)}`,
    );
  if (type !== "local" && typeof metric.holdout === "number")
    problems.push(`${path}.holdout: expected a duration such as "10m", got ${metric.holdout}`);
  if (keyCount(metric) <= 0)
    problems.push(`${path}.keys: expected from ≤ to, got none between them; turn them around`);
  if (metric.protect === "event" && metric.perPerson !== undefined)
    problems.push(`${path}.perPerson: expected none with protect: event; remove one of the two`);
  return problems;
}

const missing = (path: string, type: string, field: string): string =>
  `${path}: expected the field ${JSON.stringify(field)} for type ${type}, got none; add it`;

/** The library checks the rest: it makes a stream, and its message names the field. */
function libraryProblem(path: string, name: string, config: MetricConfig): string[] {
  const { options } = resolveMetric(name, config);
  if (options === undefined) return [];
  try {
    if ("edges" in options) privateHistogram(options);
    else if (options.of === "count") {
      const { of: _, ...counter } = options;
      privateCounter(counter);
    } else privateStream(options);
    return [];
  } catch (error) {
    return [`${path}.${(error as Error).message}`];
  }
}
