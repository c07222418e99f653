/**
 * How the stream of a key is made, restored and fed. The options decide the kind: with `every` it takes events and
 * heartbeats close its periods, with `edges` too it is a histogram, and without either it publishes one number per value.
 */
import type { webcrypto } from "node:crypto";

import {
  type EventStreamOptions,
  type HistogramOptions,
  privateCounter,
  privateHistogram,
  type PrivateStream,
  privateStream,
  restore,
  type StreamOptions,
} from "brume";
import { HOUR, parseDuration } from "brume/node";

import { type ClockRules, LogClock, type Silence } from "./logClock.js";
import { countPeriods, histogramPeriods, type Periods, valuePeriods } from "./periods.js";
import type { Published } from "./values.js";

/** The key of a record names the stream; the log has the clock and the days. */
type Unnamed<T> = Omit<T, "name" | "clock" | "days">;

/** Options of every stream. */
export type KeyedStreamOptions =
  Unnamed<StreamOptions> | Unnamed<EventStreamOptions> | Unnamed<HistogramOptions>;

/** A number, or the counts of a period, that may be published once its transaction commits. */
export type Output = Omit<Published, "name">;

/** The stream of a key, whatever its kind. */
export interface KeyedStream {
  readonly sequence: number;
  snapshot(key: webcrypto.CryptoKey): Promise<Uint8Array>;
  /** Takes a value, or an event. Throws nothing: value, time and person are checked before. */
  take(value: number, at: number, person: string | undefined): void;
  /** Publishes what was taken, where every value has a number of its own. */
  push(): Output[];
  /** Closes the periods that are due by the log's clock, after it moved. @param silence that ended with it */
  beat(silence?: Silence): Output[];
  /** Public values that restoring a stream needs in addition to its snapshot. */
  readonly state: readonly number[];
}

export const takesEvents = (options: KeyedStreamOptions): boolean => Object.hasOwn(options, "every");
export const needsPerson = (options: KeyedStreamOptions): boolean =>
  (options as EventStreamOptions).perPerson !== undefined;

/** Periods of a key that one heartbeat closes, at most. */
const MOST_PERIODS = 3600;
/**
 * Numbers are kept in `out`, so a stream keeps what longer periods of the running day need, and the days that the share
 * of limited people is taken from.
 */
const HISTORY = { days: "7d", hours: "1h", finer: "1h" };
/** Heartbeats know the days this far ahead. */
const LONGEST_SKEW = 12 * HOUR;

/** Milliseconds of the finest period. */
export function periodLength(options: KeyedStreamOptions): number {
  if (!takesEvents(options))
    throw new RangeError(
      "stream.every: expected how often a number is published, got none; only event streams need a clock",
    );
  return parseDuration("stream.every", (options as EventStreamOptions).every);
}

/** Milliseconds between heartbeats that these options need, at most: `skew` must bridge the time between two. */
export function beatLength(options: KeyedStreamOptions): number {
  const every = periodLength(options);
  const { skew } = clockRules(options);
  return every / Math.ceil(every / Math.max(100, skew / 3));
}

/** How the log's clock works for streams with these options. */
export function clockRules(options: KeyedStreamOptions): ClockRules {
  if (!takesEvents(options)) return { zone: "UTC", lateness: 0, skew: 0, longestStep: 0 };
  const { zone = "UTC", lateness = 0, skew = "1m" } = options as EventStreamOptions;
  const rules = {
    zone,
    lateness: parseDuration("stream.lateness", lateness, 0),
    skew: parseDuration("stream.skew", skew, 0),
    longestStep: Math.max(HOUR, MOST_PERIODS * periodLength(options)),
  };
  if (rules.skew > LONGEST_SKEW)
    throw new RangeError(
      `stream.skew: expected at most 12h, got ${rules.skew} ms; heartbeats tell the days ahead`,
    );
  return rules;
}

const isHistogram = (options: object): options is HistogramOptions => Object.hasOwn(options, "edges");
const isCounter = (options: object): options is EventStreamOptions & { readonly of: "count" } =>
  (options as EventStreamOptions).of === "count";

/** @throws if the options are wrong */
export function checkStream(options: KeyedStreamOptions): void {
  makeStream("options", options, new LogClock(clockRules(options), [0, 0, 0, 0]));
}

export function makeStream(name: string, options: KeyedStreamOptions, clock: LogClock): KeyedStream {
  const own = named(name, options, clock);
  if (!takesEvents(options)) return new Positions(privateStream(own as StreamOptions));
  if (isHistogram(own)) return histogramPeriods(privateHistogram(own), clock);
  if (!isCounter(own)) return valuePeriods(privateStream(own as EventStreamOptions), clock);
  const { of: _, ...rest } = own;
  return countPeriods(privateCounter(rest), clock);
}

/** @param state what the stream's `state` was when its snapshot was made */
export async function restoreStream(
  name: string,
  bytes: Uint8Array,
  key: webcrypto.CryptoKey,
  options: KeyedStreamOptions,
  clock: LogClock,
  state: readonly number[],
): Promise<KeyedStream> {
  const own = named(name, options, clock);
  if (!takesEvents(options)) return new Positions(await restore(bytes, key, own as StreamOptions));
  const resumed = (periods: Periods) => (periods.resume(state), periods);
  if (isHistogram(own)) return resumed(histogramPeriods(await restore(bytes, key, own), clock));
  if (isCounter(own)) return resumed(countPeriods(await restore(bytes, key, own), clock));
  return resumed(valuePeriods(await restore(bytes, key, own as EventStreamOptions), clock));
}

function named(
  name: string,
  options: KeyedStreamOptions,
  clock: LogClock,
): StreamOptions | EventStreamOptions | HistogramOptions {
  const { unsafeSeed } = options;
  return {
    ...(takesEvents(options) ? { history: HISTORY } : {}),
    ...options,
    name,
    ...(takesEvents(options) ? { clock: () => clock.now, days: (time: number) => clock.dayAt(time) } : {}),
    ...(unsafeSeed === undefined ? {} : { unsafeSeed: `${unsafeSeed}/${name}` }),
  } as StreamOptions | EventStreamOptions | HistogramOptions;
}

/** One number per value, at its position. */
class Positions implements KeyedStream {
  readonly #stream: PrivateStream;
  readonly #waiting: number[] = [];

  constructor(stream: PrivateStream) {
    this.#stream = stream;
  }

  get sequence(): number {
    return this.#stream.sequence;
  }

  snapshot(key: webcrypto.CryptoKey): Promise<Uint8Array> {
    return this.#stream.snapshot(key);
  }

  take(value: number): void {
    this.#waiting.push(value);
  }

  push(): Output[] {
    const from = this.#stream.length;
    const values = this.#stream.pushMany(new Float64Array(this.#waiting));
    this.#waiting.length = 0;
    const outputs: Output[] = [];
    for (let i = 0; i < values.length; i++) outputs.push({ position: from + i, value: values[i]! });
    return outputs;
  }

  beat(): Output[] {
    return [];
  }

  get state(): number[] {
    return [];
  }
}
