/** The metrics of a config with every default filled in, and what a schema cannot say about them. */
import {
  aggregator,
  type EventStreamOptions,
  type HistogramMetric,
  type HistogramOptions,
  type Over,
  type PeopleMetric,
  type PeopleOptions,
  plan,
  privateHistogram,
  privateStream,
  type StreamMetric,
} from "brume";
import { DAY } from "brume/node";
import { milliseconds, SPANS } from "./duration.js";
import type { Config, DiscoverConfig, MetricConfig, MetricType, PerPersonConfig } from "./types.js";

/** Options that the hub makes a metric of, without its keys. */
export type HubMetricOptions =
  Omit<StreamMetric, "keys"> | Omit<HistogramMetric, "keys"> | Omit<PeopleMetric, "keys">;

/** A metric of a config, with every default filled in. */
export interface ResolvedMetric {
  readonly name: string;
  readonly type: MetricType;
  /** For one person and day, one event, or one report. */
  readonly epsilon: number;
  /** Limits of one person and day; undefined where events are protected, not people. */
  readonly perPerson: PerPersonConfig | undefined;
  readonly unit: string;
  /** All keys; [""] without keys. Where keys are found: those that are public now. */
  readonly keys: readonly string[];
  /** How keys that nobody listed become public, if they do. */
  readonly discovers: DiscoverConfig | undefined;
  readonly hasKeys: boolean;
  /** Milliseconds; of a month 28 days. */
  readonly every: number;
  /** The period in which a person counts once; for metrics of distinct people. */
  readonly over: Over | undefined;
  readonly lateness: number;
  readonly skew: number;
  /** Undefined for a local metric. */
  readonly options: HubMetricOptions | undefined;
  readonly local:
    { readonly max: number; readonly threshold: number | undefined; readonly reports: number } | undefined;
}

const MOST_STREAMS = 100_000;
/** Which fields a type needs, and which it may have beside those of all types. */
const NEEDS: Readonly<Record<MetricType, readonly string[]>> = {
  count: ["every"],
  people: ["over"],
  sum: ["every", "max"],
  mean: ["every", "max"],
  histogram: ["every"],
  local: [],
};
const TAKES: Readonly<Record<MetricType, readonly string[]>> = {
  count: [],
  people: ["over", "keysPerPerson"],
  sum: ["min", "max", "threshold", "holdout"],
  mean: ["min", "max", "threshold", "holdout"],
  histogram: ["min", "max", "buckets", "edges"],
  local: ["max", "threshold"],
};
const ONLY_SOME = ["max", "min", "buckets", "edges", "threshold", "holdout", "over", "keysPerPerson"];
const NOT_PEOPLE = ["every", "levels", "perPerson", "protect"];
const NOT_LOCAL = ["protect", "keys", "every", "levels", "lateness", "skew", "history"];

export function metricsOf({ metrics }: Config): ResolvedMetric[] {
  return Object.entries(metrics).map(([name, config]) => resolveMetric(name, config));
}

export function resolveMetric(name: string, config: MetricConfig): ResolvedMetric {
  const { type, epsilon, over } = config;
  const local = type === "local" ? localConfig(config) : undefined;
  const { unit = "" } = local ?? config;
  const perPerson =
    config.protect === "event" ? undefined : limitOf(config.perPerson ?? config.keysPerPerson ?? 1);
  const keys = keysOf(config);
  return {
    name,
    type,
    epsilon,
    perPerson,
    unit,
    keys: keys ?? [""],
    discovers: discovered(config),
    hasKeys: keys !== undefined,
    every: over === undefined ? milliseconds(config.every ?? "1h") : SPANS[over],
    over,
    lateness: milliseconds(config.lateness ?? LATENESS),
    skew: milliseconds(config.skew ?? "1m"),
    options: local === undefined ? hubMetricOptions(config, perPerson) : undefined,
    local: local && { max: local.max, threshold: local.threshold, reports: perPerson!.events as number },
  };
}

/** Load times of pages, as the script tag measures them: nearly all are below the bound that the first day has. */
const PAGE_LOADS = { max: 60_000, threshold: 15_000, unit: "ms" };

/** Without `max` a local metric is of page loads. */
function localConfig({ max, threshold, unit }: MetricConfig) {
  const start = typeof threshold === "number" ? { threshold } : {};
  if (max === undefined) return { ...PAGE_LOADS, ...start };
  return { max, unit, threshold: start.threshold };
}

/** Senders that collect events for up to a minute are in time. */
const LATENESS = "1m";

const limitOf = (perPerson: number | PerPersonConfig): PerPersonConfig =>
  typeof perPerson === "number" ? { events: perPerson } : perPerson;

function keysOf({ keys }: MetricConfig): readonly string[] | undefined {
  if (keys === undefined || isList(keys)) return keys;
  if ("discover" in keys) return [...(keys.listed ?? []), OTHER];
  return Array.from({ length: keys.to - keys.from + 1 }, (_, i) => `${keys.prefix}${keys.from + i}`);
}

const isList = (keys: NonNullable<MetricConfig["keys"]>): keys is readonly string[] => Array.isArray(keys);

/** How many keys a metric has, without making the list. */
function keyCount({ keys }: MetricConfig): number {
  if (keys === undefined) return 1;
  if (isList(keys)) return keys.length;
  if ("discover" in keys) return (keys.listed?.length ?? 0) + (keys.discover.most ?? 10_000) + 1;
  return keys.to - keys.from + 1;
}

/** The key that events of keys that are not public count under. */
const OTHER = "(other)";

const discovered = ({ keys }: MetricConfig): DiscoverConfig | undefined =>
  keys !== undefined && "discover" in keys ? keys : undefined;

/** δ that a metric costs a person and day: that of the keys it discovers. */
export const personDelta = ({ discovers }: Pick<ResolvedMetric, "discovers">): number =>
  discovers?.discover.delta ?? 0;

function hubMetricOptions(config: MetricConfig, perPerson: PerPersonConfig | undefined): HubMetricOptions {
  const { type, epsilon, levels, max, min, buckets, edges, threshold, holdout, history } = config;
  const timing = {
    epsilon,
    lateness: config.lateness ?? LATENESS,
    skew: config.skew ?? "1m",
    ...(history === undefined ? {} : { history }),
  };
  const { over, keysPerPerson } = config;
  if (over !== undefined)
    return { ...timing, of: "people", over, ...(keysPerPerson === undefined ? {} : { keysPerPerson }) };
  const common = {
    ...timing,
    every: config.every!,
    ...(levels === undefined ? {} : { levels }),
    ...(perPerson === undefined ? {} : { perPerson }),
  };
  if (type === "count") return { ...common, of: "count" };
  if (type === "histogram")
    return { ...common, edges: edges ?? { min: min!, max: max!, buckets: buckets ?? 64 } };
  return {
    ...common,
    of: type as "sum" | "mean",
    max: max!,
    ...(min === undefined ? {} : { min }),
    ...(threshold === undefined ? {} : { threshold }),
    ...(typeof holdout === "string" ? { holdout } : {}),
  };
}

/** Lists what is wrong with the metrics. A metric that is wrong in itself is not asked about again. */
export function metricProblems(config: Config): string[] {
  const entries = Object.entries(config.metrics);
  const streams = entries.reduce((sum, [, metric]) => sum + keyCount(metric), 0);
  const tooMany = streams > MOST_STREAMS;
  const zone = zoneProblem(config.zone);
  const single = entries.flatMap(([name, metric]) => {
    const problems = problemsOf(`metrics.${name}`, metric);
    return problems.length > 0 || tooMany ? problems : libraryProblem(`metrics.${name}`, name, metric);
  });
  const many = tooMany
    ? [`metrics: expected at most ${MOST_STREAMS} keys in all, got ${streams}; list fewer keys`]
    : [];
  const spent = budgetOf(config);
  // Decimal numbers such as 0.1 + 0.2 are off by a rounding: what counts is what the odometer adds up exactly.
  const budget =
    spent <= config.epsilon * (1 + 1e-12)
      ? []
      : [
          `epsilon: expected metrics that spend at most ε = ${config.epsilon} of a person and day, got ${Number(spent.toPrecision(12))}; lower their epsilon, or raise this one`,
        ];
  return [...zone, ...single, ...many, ...budget, ...deltaProblems(config)];
}

/** One vote table for a service: a person has one vote a day. Its δ is allowed by a field of its own. */
function deltaProblems({ metrics, delta }: Config): string[] {
  const names = Object.keys(metrics).filter((name) => discovered(metrics[name]!) !== undefined);
  if (names.length === 0)
    return delta === undefined ? [] : ["delta: expected none, since no metric discovers keys; remove it"];
  const [first, second] = names;
  if (second !== undefined)
    return [
      `metrics.${second}.keys: expected one metric that discovers keys, got ${names.join(" and ")}; list the keys of the others`,
    ];
  const needed = discovered(metrics[first!]!)!.discover.delta;
  return delta !== undefined && needed <= delta
    ? []
    : [
        `delta: expected at least ${needed}, the probability that a key that only one person used becomes public (metrics.${first}.keys), got ${delta ?? "none"}; add it, or list the keys`,
      ];
}

function discoverProblems(path: string, metric: MetricConfig): string[] {
  const { type, protect, over, threshold, perPerson } = metric;
  const asked = discovered(metric);
  if (asked === undefined) return [];
  const problems: string[] = [];
  if (protect === "event")
    problems.push(
      `${path}.keys: expected no keys that are discovered with protect: event, since votes are of people; list them, or protect people`,
    );
  if (over !== undefined && over !== "1d")
    problems.push(`${path}.over: expected 1d beside keys that are discovered, got ${over}`);
  if (["sum", "mean"].includes(type) && typeof threshold !== "number")
    problems.push(`${path}.threshold: expected a number beside keys that are discovered; give one`);
  if (typeof perPerson === "object" && perPerson.events === "choose")
    problems.push(
      `${path}.perPerson.events: expected a number beside keys that are discovered, got choose; give one, or list the keys`,
    );
  if (asked.listed?.includes(OTHER) === true)
    problems.push(`${path}.keys.listed: expected names other than ${OTHER}, which is reserved`);
  const { forget } = asked.discover;
  if (forget !== undefined && milliseconds(forget) < 28 * DAY)
    problems.push(`${path}.keys.discover.forget: expected at least 28d, got ${forget}`);
  return problems;
}

/** ε of a person and day over all metrics that protect people. */
function budgetOf({ metrics }: Config): number {
  return Object.entries(metrics)
    .filter(([, { protect }]) => protect !== "event")
    .reduce((sum, [, metric]) => sum + costOf(metric), 0);
}

const costOf = (config: MetricConfig): number =>
  config.epsilon *
  (config.type === "local" && typeof config.perPerson === "number"
    ? config.perPerson
    : daysShare(config.over, config.keys !== undefined));

/**
 * Whether one day of a person costs ε once or twice. In a week or month with several keys, the events of a day decide which
 * later keys of the person count: without them, c counts fall and c others rise.
 */
const daysShare = (over: Over | undefined, hasKeys: boolean): number =>
  over !== undefined && over !== "1d" && hasKeys ? 2 : 1;

/** The ε that a metric costs a person in a day. A device sends `perPerson` reports at ε each. */
export const personEpsilon = ({ epsilon, local, over, hasKeys }: ResolvedMetric): number =>
  epsilon * (local?.reports ?? daysShare(over, hasKeys));

/** Whether events of a type carry no value. */
export const isCounted = (type: MetricType): boolean => type === "count" || type === "people";

function problemsOf(path: string, metric: MetricConfig): string[] {
  const { type } = metric;
  const own = Object.keys(metric);
  const unfit = [
    ...ONLY_SOME.filter((field) => !TAKES[type].includes(field)),
    ...(type === "local" ? NOT_LOCAL : []),
    ...(type === "people" ? NOT_PEOPLE : []),
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
  return [
    ...problems,
    ...localProblems(path, metric),
    ...personProblems(path, metric),
    ...discoverProblems(path, metric),
  ];
}

function localProblems(path: string, config: MetricConfig): string[] {
  const { type, epsilon, unit, threshold, holdout } = config;
  if (type !== "local") return [];
  if (holdout !== undefined)
    return [
      `${path}.holdout: expected none for type local, since reports count from the first one; give threshold to start lower`,
    ];
  if (threshold === "noisy-max")
    return [`${path}.threshold: expected a number for type local, got "noisy-max"; give a number or none`];
  if (config.max === undefined && unit !== undefined && unit !== PAGE_LOADS.unit)
    return [
      `${path}.max: expected a number, since only page loads in ms have a bound of their own, got none; add it`,
    ];
  const { max, threshold: start } = localConfig(config);
  return libraryWords(() =>
    aggregator({ epsilon, max, ...(start === undefined ? {} : { threshold: start }) }),
  ).map((message) => `${path}.${message}`);
}

function personProblems(path: string, metric: MetricConfig): string[] {
  const { type, protect, perPerson } = metric;
  const problems: string[] = [];
  if (keyCount(metric) <= 0)
    problems.push(`${path}.keys: expected from ≤ to, got none between them; turn them around`);
  if (protect === "event" && perPerson !== undefined)
    problems.push(`${path}.perPerson: expected none with protect: event; remove one of the two`);
  if (type === "local" && typeof perPerson === "object")
    problems.push(`${path}.perPerson: expected a number of reports for type local; give a number`);
  if (type === "people" && keyCount(metric) > 1 && metric.keysPerPerson === undefined)
    problems.push(
      `${path}: expected the field "keysPerPerson", under how many keys a person counts, got none; add it, 1 if a person has one key`,
    );
  if (!["local", "people"].includes(type) && protect !== "event" && perPerson === undefined)
    problems.push(
      `${path}: expected the field "perPerson", how many events of a person and day count, got none; add it, or protect: "event"`,
    );
  return problems;
}

const missing = (path: string, type: string, field: string): string =>
  `${path}: expected the field ${JSON.stringify(field)} for type ${type}, got none; add it`;

/** The library checks the rest: it makes a stream, and its message names the field. */
function libraryProblem(path: string, name: string, config: MetricConfig): string[] {
  const { options } = resolveMetric(name, config);
  if (options === undefined) return [];
  return libraryWords(() =>
    "over" in options
      ? plan(options as PeopleOptions)
      : "edges" in options
        ? privateHistogram(options as HistogramOptions)
        : privateStream(options as EventStreamOptions),
  ).map((message) => `${path}.${message}`);
}

/** Asked once, not for every metric. */
function zoneProblem(zone = "UTC"): string[] {
  return libraryWords(() => privateStream({ of: "count", epsilon: 1, every: "1d", zone }));
}

function libraryWords(make: () => unknown): string[] {
  try {
    make();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}
