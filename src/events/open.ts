/** Makes streams of events and restores them. With `every` in the options a stream takes events, without it values. */
import { chooseCore } from "../core/choose.js";
import type { Core } from "../core/core.js";
import { secretKey } from "../core/random.js";
import { unsafeKey } from "../core/unsafeKey.js";
import type { StreamOptions } from "../stream/options.js";
import type { SnapshotKey } from "../stream/streamCipher.js";
import { privateStream as positionStream, restore as restorePositions } from "../stream/stream.js";
import type { PrivateStream } from "../stream/system.js";
import type { Counter, EventStream } from "./answers.js";
import { CountedEvents, ValueEvents } from "./eventStream.js";
import { BucketedEvents } from "./histogram.js";
import type { Histogram } from "./histogramAnswers.js";
import type { PeopleOptions } from "./distinct.js";
import {
  type AnyEventOptions,
  eventParameters,
  type EventSettings,
  type EventStreamOptions,
  type HistogramOptions,
  resolveEvents,
  resolveEventStream,
  resolveHistogram,
  resolvePeople,
} from "./options.js";
import { resume } from "./snapshots.js";

/** Whatever takes events. */
export type AnyEvents = ValueEvents | CountedEvents | BucketedEvents;

/** Options of a stream that counts events: all but those about values. */
export type CounterOptions = Omit<
  EventStreamOptions,
  "of" | "min" | "max" | "threshold" | "holdout" | "resolution"
>;

/**
 * Makes a stream that publishes under differential privacy. With `every` it takes events at times: `add` them, and
 * `advance` closes periods. Without it, it takes one value per position: `push` a value, get its private number.
 */
export function privateStream(options: EventStreamOptions): EventStream;
export function privateStream(options: StreamOptions): PrivateStream;
export function privateStream(options: StreamOptions | EventStreamOptions): PrivateStream | EventStream {
  if (!isEvents(options)) return positionStream(options);
  const settings = resolveEventStream(options);
  return new ValueEvents(settings, chooseCore(settings.core), keyOf(settings), settings.schedule.clock());
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
    return begin(settings) as CountedEvents;
  }
  return begin(resolveEventStream({ ...(options as CounterOptions), of: "count" })) as CountedEvents;
}

/** Makes a histogram: counts, percentiles and shares of values over any range of time. */
export function privateHistogram(options: HistogramOptions): Histogram {
  return begin(resolveHistogram(options)) as BucketedEvents;
}

/** Makes a stream of any kind: `edges` make a histogram, `of: "count"` a counter. */
export function beginEvents(options: AnyEventOptions): AnyEvents {
  return begin(resolveEvents(options));
}

function begin(settings: EventSettings): AnyEvents {
  return make(settings, chooseCore(settings.core), keyOf(settings));
}

/** All randomness of a release. */
const keyOf = ({ unsafeSeed }: EventSettings): Uint32Array =>
  unsafeSeed === undefined ? secretKey() : unsafeKey(unsafeSeed);

function make(settings: EventSettings, core: Core, key: Uint32Array): AnyEvents {
  const Kind =
    settings.of === "histogram" ? BucketedEvents : settings.of === "count" ? CountedEvents : ValueEvents;
  return new Kind(settings, core, key, settings.schedule.clock());
}

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
  return isEvents(options) ? restoreEvents(bytes, key, options) : restorePositions(bytes, key, options);
}

/** A stream of any kind that resumes from a snapshot. Periods that ended meanwhile have no number. */
export async function restoreEvents(
  bytes: Uint8Array,
  key: SnapshotKey,
  options: AnyEventOptions,
): Promise<AnyEvents> {
  const settings = resolveEvents(options);
  const core = chooseCore(settings.core);
  const stream = await resume(bytes, key, eventParameters(settings), (noiseKey) =>
    make(settings, core, noiseKey),
  );
  stream.resume();
  return stream;
}

const has = (options: unknown, name: string): boolean =>
  typeof options === "object" && options !== null && Object.hasOwn(options, name);

/** Whether a stream takes events at times, not values at positions. */
export const isEvents = (options: object): options is AnyEventOptions =>
  has(options, "every") || has(options, "over");
