/** Makes streams of events and restores them. With `every` in the options a stream takes events, without it values. */
import { chooseCore } from "../core/choose.js";
import { secretKey } from "../core/random.js";
import { unsafeKey } from "../core/unsafeKey.js";
import type { StreamOptions } from "../stream/options.js";
import type { SnapshotKey } from "../stream/sealing.js";
import { privateStream as positionStream, restore as restorePositions } from "../stream/stream.js";
import type { PrivateStream } from "../stream/system.js";
import type { Counter, EventStream } from "./answers.js";
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
  return new ValueEvents(settings, chooseCore(settings.columns[0]!.stream.core), newKey(settings));
}

/** Makes a stream that counts events. It needs no bound and no hold-out: the first tick is published. */
export function privateCounter(options: CounterOptions): Counter {
  const settings = resolveEventStream({ ...options, of: "count" });
  return new CountedEvents(settings, chooseCore(settings.columns[0]!.stream.core), newKey(settings));
}

/**
 * A stream that resumes where `snapshot` was called, bit for bit. Needs the options that the stream was made with; a
 * function of your own as smoother comes with them again. `of: "count"` restores a counter.
 */
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
  options: StreamOptions | EventStreamOptions,
): Promise<PrivateStream | EventStream | Counter> {
  if (!isEvents(options)) return restorePositions(bytes, key, options);
  const settings = resolveEventStream(options);
  const core = chooseCore(settings.columns[0]!.stream.core);
  const Kind = settings.of === "count" ? CountedEvents : ValueEvents;
  return resume(
    bytes,
    key,
    options,
    settings,
    streamParameters(settings),
    (own, noiseKey) => new Kind(own, core, noiseKey),
  );
}

const isEvents = (options: StreamOptions | EventStreamOptions): options is EventStreamOptions =>
  typeof options === "object" && options !== null && Object.hasOwn(options, "every");

/** All randomness of a release. */
function newKey({ columns }: EventSettings): Uint32Array {
  const { unsafeSeed } = columns[0]!.stream;
  return unsafeSeed === undefined ? secretKey() : unsafeKey(unsafeSeed);
}
