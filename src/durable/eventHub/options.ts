/** Options of a hub of events, checked, with every default filled in. */
import { checkInteger, checkText, ownOptions, shown } from "../../core/checks.js";
import { given } from "../../core/given.js";
import { HISTOGRAM_OPTIONS, type HistogramOptions } from "../../events/histogramOptions.js";
import { EVENT_STREAM_OPTIONS, type EventStreamOptions } from "../../events/options.js";
import type { SnapshotKey } from "../../stream/sealing.js";
import { CheckedStore } from "../checkedStore.js";
import { keyRule, type KeyRule } from "../hubOptions.js";
import type { Budget } from "../odometer.js";
import type { Store } from "../stores/store.js";

interface Keyed {
  /**
   * The keys of this metric, known in advance: a list, or a public rule. All of them publish from the start, whether or
   * not they have events. Events of other keys are dropped in silence: a key that appears with its first event tells
   * that there was one.
   */
  readonly keys: Iterable<string> | ((key: string) => boolean);
}

/** Counts, sums or means of events, for every key. */
export interface StreamMetric extends Omit<EventStreamOptions, "name" | "clock" | "threshold">, Keyed {
  /**
   * θ: chosen once from the first events of all keys ("shared", the default), by each key for itself ("noisy-max"), or a
   * public number. With a number, and for counts, the first tick is published.
   */
  readonly threshold?: "shared" | "noisy-max" | number;
}

/** Counts per bucket and percentiles of events, for every key. */
export interface HistogramMetric extends Omit<HistogramOptions, "name" | "clock">, Keyed {}

export type Metric = StreamMetric | HistogramMetric;

export interface EventHubOptions<M extends Record<string, Metric> = Record<string, Metric>> {
  /** What is measured, by name. Each metric is a release of its own with its own ε. */
  readonly metrics: M;
  /** Names the records of this hub in its store. Default "events". Public. */
  readonly name?: string;
  /** A durable store. Default: none; the hub then lives as long as the process. */
  readonly store?: Store;
  /** Encrypts what is stored; as secret as the data. Needed with a store. */
  readonly key?: SnapshotKey;
  /** Milliseconds between two commits, at least. All events in between are stored together. Default 50. */
  readonly commitEvery?: number;
  /** The lowest `sequence` that the store may have: it refuses a store that was rolled back. Default 0: no check. */
  readonly atLeast?: number;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly clock?: () => number;
  /** The odometer that every metric is charged to, and the data. */
  readonly budget?: Budget;
}

export interface MetricSettings {
  readonly keys: KeyRule;
  readonly shared: boolean;
  readonly options: EventStreamOptions | HistogramOptions;
}

export interface EventHubSettings {
  readonly name: string;
  readonly metrics: ReadonlyMap<string, MetricSettings>;
  readonly store: CheckedStore | undefined;
  readonly key: SnapshotKey;
  readonly commitEvery: number;
  readonly atLeast: number;
  readonly clock: () => number;
  readonly budget: Budget | undefined;
}

const HUB_OPTIONS = ["metrics", "name", "store", "key", "commitEvery", "atLeast", "clock", "budget"];
const MOST_METRICS = 1024;
const METRIC_NAME = /^[\w.-]{1,100}$/;

export function resolveEventHub(asked: EventHubOptions): EventHubSettings {
  const own = ownOptions("openHub", asked, HUB_OPTIONS);
  const {
    metrics,
    name = "events",
    store,
    key,
    commitEvery = 50,
    atLeast = 0,
    clock = Date.now,
    budget,
  } = own;
  checkText("name", name);
  if (typeof clock !== "function")
    throw new TypeError(
      `clock: expected a function that gives milliseconds, got a value of type ${typeof clock}`,
    );
  if (store !== undefined && key === undefined)
    throw new TypeError("key: expected 32 bytes or a CryptoKey for what is stored, got none");
  const checked = store === undefined ? undefined : new CheckedStore(store);
  if (checked?.durable === false)
    throw new TypeError(
      "store: expected a durable store, or none for a hub that lives as long as the process",
    );
  return {
    name,
    metrics: resolveMetrics(metrics, clock),
    store: checked,
    key: key === undefined ? crypto.getRandomValues(new Uint8Array(32)) : key,
    commitEvery: checkInteger("commitEvery", commitEvery, 0, 60_000),
    atLeast: checkInteger("atLeast", atLeast, 0, Number.MAX_SAFE_INTEGER),
    clock,
    budget,
  };
}

function resolveMetrics(metrics: unknown, clock: () => number): Map<string, MetricSettings> {
  if (typeof metrics !== "object" || metrics === null)
    throw new TypeError(
      `metrics: expected an object of metrics by name, got a value of type ${typeof metrics}`,
    );
  const names = Object.keys(metrics);
  if (names.length === 0 || names.length > MOST_METRICS)
    throw new RangeError(`metrics: expected 1 to ${MOST_METRICS} of them, got ${names.length}`);
  return new Map(
    names.map((name) => [name, resolveMetric(name, (metrics as Record<string, Metric>)[name]!, clock)]),
  );
}

function resolveMetric(name: string, asked: Metric, clock: () => number): MetricSettings {
  if (!METRIC_NAME.test(name))
    throw new RangeError(
      `metrics: expected names of letters, digits, ".", "_" and "-", got ${JSON.stringify(name.slice(0, 40))}`,
    );
  const call = `metrics.${name}`;
  if (typeof asked !== "object" || (asked as unknown) === null)
    throw new TypeError(`${call}: expected an object of options, got ${shown(asked)}`);
  const known = Object.hasOwn(asked, "edges") ? HISTOGRAM_OPTIONS : EVENT_STREAM_OPTIONS;
  const names = known.filter((option) => option !== "name" && option !== "clock");
  const own = ownOptions(call, asked, [...names, "keys"]) as StreamMetric;
  if (own.keys === undefined)
    throw new TypeError(
      `${call}.keys: expected a list of keys or a public rule, got none; keys that appear with their first event are not protected`,
    );
  const { threshold, ...rest } = given(own, names as (keyof StreamMetric)[]);
  const shared =
    threshold === "shared" || (threshold === undefined && !("edges" in rest) && rest.of !== "count");
  const fixed = threshold === undefined || threshold === "shared" ? {} : { threshold };
  return {
    keys: keyRule(own.keys, `${call}.keys`),
    shared,
    options: { ...rest, ...fixed, clock } as EventStreamOptions | HistogramOptions,
  };
}
