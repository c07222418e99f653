/** Makes streams of events and restores them. With `every` in the options a stream takes events, without it values. */
import { chooseCore } from "../core/choose.js";
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
  const settings = resolveEventStream(options);
  return new ValueEvents(
    settings,
    chooseCore(settings.columns[0]!.stream.core),
    newKey(settings.columns[0]!.stream),
  );
}

/** Makes a stream that counts events. It needs no bound and no hold-out: the first tick is published. */
export function privateCounter(options: CounterOptions): Counter {
  const settings = resolveEventStream({ ...options, of: "count" });
  return new CountedEvents(
    settings,
    chooseCore(settings.columns[0]!.stream.core),
    newKey(settings.columns[0]!.stream),
  );
}

/** Makes a histogram: counts, percentiles and shares of values over any range of time. */
export function privateHistogram(options: HistogramOptions): Histogram {
  const settings = resolveHistogram(options);
  return new TickedHistogram(settings, chooseCore(settings.stream.core), newKey(settings.stream));
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
  if (has(options, "edges")) return restoreHistogram(bytes, key, options as HistogramOptions);
  if (!isEvents(options)) return restorePositions(bytes, key, options as StreamOptions);
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
): Promise<Histogram> {
  const settings = resolveHistogram(options);
  const core = chooseCore(settings.stream.core);
  const make = (own: HistogramSettings, noiseKey: Uint32Array) => new TickedHistogram(own, core, noiseKey);
  return resume(bytes, key, options, settings, histogramParameters(settings), make);
}

const has = (options: unknown, name: string): boolean =>
  typeof options === "object" && options !== null && Object.hasOwn(options, name);

const isEvents = (options: object): options is EventStreamOptions => has(options, "every");

/** All randomness of a release. */
function newKey({ unsafeSeed }: Settings): Uint32Array {
  return unsafeSeed === undefined ? secretKey() : unsafeKey(unsafeSeed);
}
