/**
 * The event stream of a key: what it publishes when heartbeats close its periods. Each period of each level has one
 * number, published when its last finest period closes; longer ones have less noise than the sum of their parts.
 */
import type { webcrypto } from "node:crypto";

import type {
  Counter,
  EventAnswer,
  EventInfo,
  EventStatement,
  EventStream,
  Histogram,
  HistogramAnswer,
} from "brume";
import { DAY, parseDuration } from "brume/node";

import type { LogClock, Silence } from "./logClock.js";
import type { KeyedStream, Output } from "./streams.js";

/** Methods that publishing needs of a stream, a counter or a histogram. */
interface Closing<A> {
  readonly sequence: number;
  snapshot(key: webcrypto.CryptoKey): Promise<Uint8Array>;
  advance(now: number): A[];
  between(from: number, to: number): A;
  statement(): EventStatement;
}

/** A period, or part of one. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly complete: boolean;
}

/** An output without its position, or undefined if there is no number. @param isLongest of the longest level */
type Read<A> = (answer: A, isLongest: boolean) => Omit<Output, "position"> | undefined;
type Add = (value: number, event: EventInfo) => void;

export const valuePeriods = (stream: EventStream, clock: LogClock): Periods =>
  new EventPeriods(stream, clock, (value, event) => stream.add(value, event), numberOf);

export const countPeriods = (counter: Counter, clock: LogClock): Periods =>
  new EventPeriods(counter, clock, (_, event) => counter.add(event), numberOf);

export const histogramPeriods = (histogram: Histogram, clock: LogClock): Periods =>
  new EventPeriods(histogram, clock, (value, event) => histogram.add(value, event), countsOf);

export interface Periods extends KeyedStream {
  /** Goes on from what `state` gave. */
  resume(state: readonly number[]): void;
}

class EventPeriods<A extends Span> implements Periods {
  // Parameters
  readonly #stream: Closing<A>;
  readonly #clock: LogClock;
  readonly #add: Add;
  readonly #read: Read<A>;
  /** Milliseconds, finest first. */
  readonly #levels: readonly number[];
  // State
  /** Position of the next number. */
  #position = 0;
  /** End of the last period that was not listened to. */
  #heardSince = -Infinity;
  /** Silences with periods that are not closed yet. */
  #silences: Silence[] = [];

  constructor(stream: Closing<A>, clock: LogClock, add: Add, read: Read<A>) {
    this.#stream = stream;
    this.#clock = clock;
    this.#add = add;
    this.#read = read;
    this.#levels = stream.statement().levels.map((level) => parseDuration("levels", level));
  }

  get sequence(): number {
    return this.#stream.sequence;
  }

  get state(): number[] {
    return [this.#position, this.#heardSince, ...this.#silences.flat()];
  }

  resume([position, heardSince, ...silences]: readonly number[]): void {
    this.#position = position!;
    this.#heardSince = heardSince!;
    for (let i = 0; i < silences.length; i += 2) this.#silences.push([silences[i]!, silences[i + 1]!]);
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

  beat(silence?: Silence): Output[] {
    if (silence !== undefined) this.#silences.push(silence);
    const outputs: Output[] = [];
    for (const answer of this.#stream.advance(this.#clock.now)) {
      const { from, to } = answer;
      if (this.#silences.some(([after, before]) => from > after && from < before)) this.#heardSince = to;
      else this.#put(outputs, answer, this.#levels.length === 1);
      for (const [i, start] of this.#longer(from, to))
        if (start >= this.#heardSince) {
          const whole = this.#stream.between(start, to);
          if (whole.complete) this.#put(outputs, whole, i === this.#levels.length - 1);
        }
    }
    const { now, rules } = this.#clock;
    const open = now - rules.lateness - this.#levels[0]!; // periods that are not closed start after it
    this.#silences = this.#silences.filter(([, before]) => before > open);
    return outputs;
  }

  /** Longer periods that end with a finest one: which level, and their start. */
  *#longer(from: number, to: number): Generator<readonly [level: number, start: number]> {
    const { start: midnight, end } = this.#clock.dayAt(from);
    for (let i = 1; i < this.#levels.length; i++) {
      const length = this.#levels[i] === DAY ? end - midnight : this.#levels[i]!; // a day may have 23 or 25 hours
      if (to !== end && (to - midnight) % length !== 0) continue;
      const start = midnight + Math.floor((from - midnight) / length) * length;
      if (start < from) yield [i, start];
    }
  }

  #put(outputs: Output[], answer: A, isLongest: boolean): void {
    const output = this.#read(answer, isLongest);
    if (output !== undefined) outputs.push({ position: this.#position++, ...output });
  }
}

function numberOf(answer: EventAnswer, isLongest: boolean): Omit<Output, "position"> | undefined {
  const { from, to, value, low, high, standardError, limited, clipped, sum, count } = answer;
  if (value === null) return undefined;
  return {
    ...{ value, from, to, low: low!, high: high!, standardError: standardError! },
    ...(isLongest && limited !== undefined ? { limited } : {}),
    ...(isLongest && clipped !== undefined ? { clipped } : {}),
    ...(sum === undefined ? {} : { sum: sum.value!, count: count!.value! }),
  };
}

function countsOf(answer: HistogramAnswer, isLongest: boolean): Omit<Output, "position"> | undefined {
  const { from, to, total, counts, countError, limited } = answer;
  if (total === null) return undefined;
  const { value, low, high, standardError } = total;
  return {
    ...{ value, from, to, low, high, standardError },
    ...(isLongest && limited !== undefined ? { limited } : {}),
    ...{ counts: counts!, countError: countError! },
  };
}
