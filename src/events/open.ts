/** Makes streams of events and restores them. With `every` in the options a stream takes events, without it values. */
import { chooseCore } from "../core/choose.js";
import type { Core } from "../core/core.js";
import { secretKey } from "../core/random.js";
import { unsafeKey } from "../core/unsafeKey.js";
import type { Settings, StreamOptions } from "../stream/options.js";
import type { SnapshotKey } from "../stream/sealing.js";
import { privateStream as positionStream, restore as restorePositions } from "../stream/stream.js";
import type { PrivateStream } from "../stream/system.js";
import type { Counter, EventStream } from "./answers.js";
import { TickedHistogram } from "./histogram.js";
import type { Histogram } from "./histogramAnswers.js";
import {
  type HistogramOptions,
  histogramParameters,
  type HistogramSettings,
  resolveHistogram,
} from "./histogramOptions.js";
import { type EventSettings, type EventStreamOptions, resolveEventStream } from "./options.js";
import { resume } from "./snapshots.js";
import { CountedEvents, streamParameters, ValueEvents } from "./tickedStream.js";

/** Whatever takes events. */
export type AnyEvents = ValueEvents | CountedEvents | TickedHistogram;

/** Options of a stream that counts events: all but those about values. */
export type CounterOptions = Omit<EventStreamOptions, "of" | "max" | "threshold" | "holdout">;

/**
 * Makes a stream that publishes under differential privacy. With `every` it takes events at times: `add` them, and
 * `advance` closes ticks. Without it, it takes one value per position: `push` a value, get its private number.
 */
export function privateStream(options: EventStreamOptions): EventStream;
export function privateStream(options: StreamOptions): PrivateStream;
export function privateStream(options: StreamOptions | EventStreamOptions): PrivateStream | EventStream {
  if (!isEvents(options)) return positionStream(options);
  return beginStream(options, ValueEvents);
}

/** Makes a stream that counts events. It needs no bound and no hold-out: the first tick is published. */
export function privateCounter(options: CounterOptions): Counter {
  return beginStream({ ...options, of: "count" }, CountedEvents);
}

function beginStream<T>(
  options: EventStreamOptions,
  Kind: new (settings: EventSettings, core: Core, key: Uint32Array) => T,
): T {
  const settings = resolveEventStream(options);
  const { stream } = settings.columns[0]!;
  return new Kind(settings, chooseCore(stream.core), newKey(stream));
}

/** Makes a histogram: counts, percentiles and shares of values over any range of time. */
export function privateHistogram(options: HistogramOptions): Histogram {
  return beginHistogram(options);
}

function beginHistogram(options: HistogramOptions): TickedHistogram {
  const settings = resolveHistogram(options);
  return new TickedHistogram(settings, chooseCore(settings.stream.core), newKey(settings.stream));
}

/** What the options are for: `edges` make a histogram, `of: "count"` a counter. */
export function beginEvents(options: EventStreamOptions | HistogramOptions): AnyEvents {
  if (has(options, "edges")) return beginHistogram(options as HistogramOptions);
  const asked = options as EventStreamOptions;
  return asked.of === "count" ? beginStream(asked, CountedEvents) : beginStream(asked, ValueEvents);
}

/**
 * A stream that resumes where `snapshot` was called, bit for bit. Needs the options that the stream was made with; a
 * function of your own as smoother comes with them again. `of: "count"` restores a counter, `edges` a histogram.
 */
export function restore(bytes: Uint8Array, key: SnapshotKey, options: HistogramOptions): Promise<Histogram>;
export function restore(
  bytes: Uint8Array,
  key: SnapshotKey,
  options: CounterOptions & { readonly of: "count" },
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
  options: StreamOptions | EventStreamOptions | HistogramOptions,
): Promise<PrivateStream | EventStream | Counter | Histogram> {
  return isEvents(options)
    ? restoreEvents(bytes, key, options)
    : restorePositions(bytes, key, options as StreamOptions);
}

export function restoreEvents(
  bytes: Uint8Array,
  key: SnapshotKey,
  options: EventStreamOptions | HistogramOptions,
): Promise<AnyEvents> {
  if (has(options, "edges")) return restoreHistogram(bytes, key, options as HistogramOptions);
  const settings = resolveEventStream(options);
  const core = chooseCore(settings.columns[0]!.stream.core);
  const Kind = settings.of === "count" ? CountedEvents : ValueEvents;
  const make = (own: EventSettings, noiseKey: Uint32Array) => new Kind(own, core, noiseKey);
  return resume(bytes, key, options, settings, streamParameters(settings), make);
}

function restoreHistogram(
  bytes: Uint8Array,
  key: SnapshotKey,
  options: HistogramOptions,
): Promise<TickedHistogram> {
  const settings = resolveHistogram(options);
  const core = chooseCore(settings.stream.core);
  const make = (own: HistogramSettings, noiseKey: Uint32Array) => new TickedHistogram(own, core, noiseKey);
  return resume(bytes, key, options, settings, histogramParameters(settings), make);
}

const has = (options: unknown, name: string): boolean =>
  typeof options === "object" && options !== null && Object.hasOwn(options, name);

/** Whether a stream takes events at times, not values at positions. */
export const isEvents = (options: object): options is EventStreamOptions => has(options, "every");

/** All randomness of a release. */
function newKey({ unsafeSeed }: Settings): Uint32Array {
  return unsafeSeed === undefined ? secretKey() : unsafeKey(unsafeSeed);
}
