/** Kinds of streams of events: which options make which, how one begins and how it resumes from a snapshot. */
import { chooseNoise } from "../core/choose.js";
import type { NoiseCore } from "../core/core.js";
import { secretKey } from "../core/random.js";
import { unsafeKey } from "../core/unsafeKey.js";
import type { SnapshotKey } from "../snapshot/streamCipher.js";
import { BucketedEvents } from "./bucketedEvents.js";
import { CountedEvents, ValueEvents } from "./metricStream.js";
import { eventParameters, type EventSettings } from "./eventSettings.js";
import { type AnyEventOptions, resolveEvents } from "./options.js";
import { resume } from "./snapshots.js";

/** Whatever takes events. */
export type AnyEvents = ValueEvents | CountedEvents | BucketedEvents;

/** Makes a stream of any kind: `edges` make a histogram, `of: "count"` a counter. */
export function beginEvents(options: AnyEventOptions): AnyEvents {
  const settings = resolveEvents(options);
  return make(settings, chooseNoise(settings.core), keyOf(settings));
}

/** All randomness of a release. */
export const keyOf = ({ unsafeSeed }: EventSettings): Uint32Array =>
  unsafeSeed === undefined ? secretKey() : unsafeKey(unsafeSeed);

function make(settings: EventSettings, core: NoiseCore, key: Uint32Array): AnyEvents {
  const Kind =
    settings.of === "histogram" ? BucketedEvents : settings.of === "count" ? CountedEvents : ValueEvents;
  return new Kind(settings, core, key, settings.schedule.clock());
}

/** A stream of any kind that resumes from a snapshot. Periods that ended meanwhile have no number. */
export async function restoreEvents(
  bytes: Uint8Array,
  key: SnapshotKey,
  options: AnyEventOptions,
): Promise<AnyEvents> {
  const settings = resolveEvents(options);
  const core = chooseNoise(settings.core);
  const stream = await resume(bytes, key, eventParameters(settings), (noiseKey) =>
    make(settings, core, noiseKey),
  );
  stream.resume();
  return stream;
}

/** Whether options are an object with a field of its own. */
export const has = (options: unknown, name: string): boolean =>
  typeof options === "object" && options !== null && Object.hasOwn(options, name);

/** Whether a stream takes events at times, not values at positions. */
export const isEvents = (options: object): options is AnyEventOptions =>
  has(options, "every") || has(options, "over");
