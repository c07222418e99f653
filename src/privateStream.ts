/** The public functions that make streams and restore them. With `every` in the options a stream takes events, without it values. */
import { chooseNoise } from "./core/choose.js";
import type { NoiseCore } from "./core/core.js";
import type { Counter, EventStream } from "./events/answer/answers.js";
import { BucketedEvents } from "./events/bucketedEvents.js";
import type { PeopleOptions } from "./events/people/distinct.js";
import type { Histogram } from "./events/answer/histogramAnswers.js";
import type { EventSettings } from "./events/eventSettings.js";
import { has, isEvents, keyOf, restoreEvents } from "./events/kinds.js";
import { CountedEvents, ValueEvents } from "./events/metricStream.js";
import {
  type AnyEventOptions,
  type CounterOptions,
  type EventStreamOptions,
  type HistogramOptions,
  resolveCounter,
  resolveEventStream,
  resolveHistogram,
  resolvePeople,
} from "./events/options.js";
import { restoreValues, valueStream } from "./stream/holdoutStream.js";
import type { StreamOptions } from "./stream/options.js";
import type { SnapshotKey } from "./snapshot/streamCipher.js";
import type { PrivateStream } from "./stream/system.js";

/**
 * Makes a stream that publishes under differential privacy. With `every` it takes events at times: `add` them, and
 * `advance` closes periods. Without it, it takes one value per position: `push` a value, get its private number.
 */
export function privateStream(options: EventStreamOptions): EventStream;
export function privateStream(options: StreamOptions): PrivateStream;
export function privateStream(options: StreamOptions | EventStreamOptions): PrivateStream | EventStream {
  if (!isEvents(options)) return valueStream(options);
  return make(ValueEvents, resolveEventStream(options));
}

/**
 * Makes a stream that counts events. It needs no bound and no hold-out: the first whole period is published. With
 * `of: "people"` it counts different people: unique visitors of a day, a week or a month (`over`).
 */
export function privateCounter(options: CounterOptions | PeopleOptions): Counter {
  if (has(options, "of") && (options as PeopleOptions).of === "people") {
    const settings = resolvePeople(options as PeopleOptions);
    if (settings.distinct!.keys !== undefined)
      throw new TypeError("keysPerPerson: expected none without keys; a hub (openHub) has keys");
    return make(CountedEvents, settings);
  }
  return make(CountedEvents, resolveCounter(options as CounterOptions));
}

/** Makes a histogram: counts, percentiles and shares of values over any range of time. */
export function privateHistogram(options: HistogramOptions): Histogram {
  return make(BucketedEvents, resolveHistogram(options));
}

/** Makes a stream of the class that a caller names: bundles leave the others out. */
const make = <T>(
  Kind: new (settings: EventSettings, core: NoiseCore, key: Uint32Array, began: number) => T,
  settings: EventSettings,
): T => new Kind(settings, chooseNoise(settings.core), keyOf(settings), settings.schedule.clock());

/**
 * A stream that resumes where `snapshot` was called, bit for bit. Needs the options that the stream was made with; a
 * function of your own as smoother comes with them again. `of: "count"` restores a counter, `edges` a histogram.
 */
export function restore(bytes: Uint8Array, key: SnapshotKey, options: HistogramOptions): Promise<Histogram>;
export function restore(
  bytes: Uint8Array,
  key: SnapshotKey,
  options: (CounterOptions & { readonly of: "count" }) | PeopleOptions,
): Promise<Counter>;
export function restore(
  bytes: Uint8Array,
  key: SnapshotKey,
  options: EventStreamOptions,
): Promise<EventStream>;
export function restore(bytes: Uint8Array, key: SnapshotKey, options: StreamOptions): Promise<PrivateStream>;
export async function restore(
  bytes: Uint8Array,
  key: SnapshotKey,
  options: StreamOptions | AnyEventOptions,
): Promise<PrivateStream | EventStream | Counter | Histogram> {
  return isEvents(options) ? restoreEvents(bytes, key, options) : restoreValues(bytes, key, options);
}
