/**
 * Everything that touches the library: how the stream of a key is made, restored and fed. The options decide the
 * kind: with `every` it takes events and heartbeats close its ticks, with `edges` too it is a histogram, and without
 * either it publishes one number per value.
 */
import type { webcrypto } from "node:crypto";

import {
  type Counter,
  type EventInfo,
  type EventStream,
  type EventStreamOptions,
  type Histogram,
  type HistogramOptions,
  privateCounter,
  privateHistogram,
  type PrivateStream,
  privateStream,
  restore,
  type StreamOptions,
  type TickStream,
} from "brume";

import type { Published } from "./values.js";

/** The key of a record names the stream; the log has the clock. */
type Unnamed<T> = Omit<T, "name" | "clock" | "origin">;

/** Options of every stream. */
export type KeyedStreamOptions =
  Unnamed<StreamOptions> | Unnamed<EventStreamOptions> | Unnamed<HistogramOptions>;

/** A number, or the counts of a block, that may be published once its transaction commits. */
export type Output = Omit<Published, "name">;

/** The stream of a key, whatever its kind. */
export interface KeyedStream {
  readonly sequence: number;
  snapshot(key: webcrypto.CryptoKey): Promise<Uint8Array>;
  /** Takes a value, or an event. Throws nothing: value, time and person are checked before. */
  take(value: number, at: number, person: string | undefined): void;
  /** Publishes what was taken, where every value has a number of its own. */
  push(): Output[];
  /** Closes the ticks that are due at a time of the log's clock. */
  beat(now: number): Output[];
}

/** Milliseconds since 1970, as the last heartbeat said. The stream reads it; only heartbeats move it. */
export interface LogClock {
  now: number;
}

export const takesEvents = (options: KeyedStreamOptions): boolean => Object.hasOwn(options, "every");
export const needsPerson = (options: KeyedStreamOptions): boolean =>
  (options as EventStreamOptions).perPerson !== undefined;

/** Milliseconds of a tick: how often a clock must write heartbeats. */
export function tickLength(options: KeyedStreamOptions): number {
  if (!takesEvents(options))
    throw new RangeError(
      "stream.every: expected the length of a tick, got none; only event streams need a clock",
    );
  const { every } = options as EventStreamOptions;
  return privateCounter({ epsilon: 1, every, clock: () => 0 }).advance(0).every;
}

const isHistogram = (options: object): options is HistogramOptions => Object.hasOwn(options, "edges");
const isCounter = (options: object): options is EventStreamOptions & { readonly of: "count" } =>
  (options as EventStreamOptions).of === "count";

export function makeStream(name: string, options: KeyedStreamOptions, clock: LogClock): KeyedStream {
  const own = named(name, options, clock);
  if (!takesEvents(options)) return new Positions(privateStream(own as StreamOptions));
  if (isHistogram(own)) return new Blocks(privateHistogram(own));
  if (!isCounter(own)) return valueTicks(privateStream(own as EventStreamOptions));
  const { of: _, ...rest } = own;
  return countTicks(privateCounter(rest));
}

export async function restoreStream(
  name: string,
  bytes: Uint8Array,
  key: webcrypto.CryptoKey,
  options: KeyedStreamOptions,
  clock: LogClock,
): Promise<KeyedStream> {
  const own = named(name, options, clock);
  if (!takesEvents(options)) return new Positions(await restore(bytes, key, own as StreamOptions));
  if (isHistogram(own)) return new Blocks(await restore(bytes, key, own));
  if (isCounter(own)) return countTicks(await restore(bytes, key, own));
  return valueTicks(await restore(bytes, key, own as EventStreamOptions));
}

const valueTicks = (stream: EventStream) => new Ticks(stream, (value, event) => stream.add(value, event));
const countTicks = (counter: Counter) => new Ticks(counter, (_, event) => counter.add(event));

function named(
  name: string,
  options: KeyedStreamOptions,
  clock: LogClock,
): StreamOptions | EventStreamOptions | HistogramOptions {
  const { unsafeSeed } = options;
  return {
    ...options,
    name,
    ...(takesEvents(options) ? { clock: () => clock.now } : {}),
    ...(unsafeSeed === undefined ? {} : { unsafeSeed: `${unsafeSeed}/${name}` }),
  };
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
}

type Add = (value: number, event: EventInfo) => void;

/** One number per tick: a sum, a count, or a sum and a count. */
class Ticks implements KeyedStream {
  readonly #stream: TickStream;
  readonly #add: Add;

  constructor(stream: TickStream, add: Add) {
    this.#stream = stream;
    this.#add = add;
  }

  get sequence(): number {
    return this.#stream.sequence;
  }

  snapshot(key: webcrypto.CryptoKey): Promise<Uint8Array> {
    return this.#stream.snapshot(key);
  }

  take(value: number, at: number, person: string | undefined): void {
    this.#add(value, person === undefined ? { at } : { at, person });
  }

  push(): Output[] {
    return [];
  }

  beat(now: number): Output[] {
    const { from, every, values, counts } = this.#stream.advance(now);
    const first = this.#stream.length - values.length;
    return Array.from(values, (value, i) => ({
      ...{ position: first + i, value, at: from + i * every },
      ...(counts === undefined ? {} : { count: counts[i]! }),
    }));
  }
}

/** The counts of all buckets, once per block of ticks. */
class Blocks implements KeyedStream {
  readonly #histogram: Histogram;

  constructor(histogram: Histogram) {
    this.#histogram = histogram;
  }

  get sequence(): number {
    return this.#histogram.sequence;
  }

  snapshot(key: webcrypto.CryptoKey): Promise<Uint8Array> {
    return this.#histogram.snapshot(key);
  }

  take(value: number, at: number, person: string | undefined): void {
    this.#histogram.add(value, person === undefined ? { at } : { at, person });
  }

  push(): Output[] {
    return [];
  }

  beat(now: number): Output[] {
    return this.#histogram.advance(now).map(({ position, from, to, counts }) => ({
      ...{ position, value: counts.reduce((sum, count) => sum + count, 0), at: from, until: to },
      counts: [...counts],
    }));
  }
}
