/**
 * A stream's values as events at their times: counts and means by `privateStream({ every, of: "mean" })`, percentiles by
 * `privateHistogram`. Half of ε goes to each of the two releases.
 */
import { type EventStream, type Histogram, privateHistogram, privateStream } from "brume";
import type { Run } from "../look/coverage.js";
import type { Part } from "./protocol.js";

export interface TimelineSettings {
  readonly epsilon: number;
  readonly max: number;
  /** Seconds between two values, and when the first one came, in milliseconds since 1970. */
  readonly pace: number;
  readonly start: number;
  /** Seed of the noise; omitted for secret noise. */
  readonly seed?: string;
}

/** A percentile and its interval; an end that is not known is undefined. */
export interface TimedQuantile {
  readonly p: number;
  readonly value: number | undefined;
  readonly low: number | undefined;
  readonly high: number | undefined;
  readonly truth: number;
}

/** A number with its interval; undefined where the interval says nothing. */
export interface Estimate {
  readonly value: number | undefined;
  readonly low: number;
  readonly high: number;
  readonly truth: number;
}

export interface Moment {
  /** The part of the stream that it is about: whole periods, in positions. */
  readonly from: number;
  readonly to: number;
  /** Undefined where nothing is measured. */
  readonly count: Estimate | undefined;
  readonly mean: Estimate | undefined;
  readonly quantiles: readonly TimedQuantile[];
  /** Values above the bound, by the visitor's own data: a mean takes them as the bound. */
  readonly above: number;
}

/** Periods that a stream is cut into, or fewer where it is short. */
const PERIODS = 2 ** 11;
/** The fewest values in a period. */
const LEAST = 8;

/** Seconds of a period: they divide a minute or an hour, or are an hour or a day. */
const LENGTHS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 86_400];
/** All of it: a page asks about the beginning, too. */
const ALWAYS = { days: "36525d", hours: "36525d", finer: "36525d" } as const;

export class Timeline {
  readonly #values: Float64Array;
  readonly #settings: TimelineSettings;
  readonly #histogram: Histogram;
  readonly #means: EventStream;
  /** Milliseconds of a period, and when the first one starts: periods are parts of a UTC day. */
  readonly #every: number;
  readonly #first: number;
  #clock: number;

  /** Takes all values and closes all of their periods. */
  constructor(values: Float64Array, settings: TimelineSettings) {
    const { pace, start, epsilon, max, seed } = settings;
    this.#values = values;
    this.#settings = settings;
    this.#every = periodOf(values.length, pace);
    this.#first = Math.floor(start / this.#every) * this.#every;
    this.#clock = this.#first;
    const shared = {
      epsilon: epsilon / 2,
      every: this.#every,
      history: ALWAYS,
      clock: () => this.#clock,
      ...(seed === undefined ? {} : { unsafeSeed: seed }),
    };
    this.#histogram = privateHistogram({ ...shared, edges: { min: max / 1000, max } });
    this.#means = privateStream({ ...shared, max, threshold: max, of: "mean" });
    this.#takeAll();
  }

  #takeAll(): void {
    const event = { at: 0 };
    for (let i = 0; i < this.#values.length; i++) {
      event.at = this.#timeOf(i);
      if (event.at >= this.#clock + this.#every) this.#close(event.at);
      const value = Math.max(0, this.#values[i]!);
      this.#histogram.add(value, event);
      this.#means.add(value, event);
    }
    this.#close(this.#clock + this.#every);
  }

  #close(now: number): void {
    this.#clock = this.#first + Math.floor((now - this.#first) / this.#every) * this.#every;
    this.#histogram.advance(this.#clock);
    this.#means.advance(this.#clock);
  }

  #timeOf(position: number): number {
    return Math.floor(this.#settings.start + 1000 * this.#settings.pace * position);
  }
  #positionAt(time: number): number {
    const position = Math.ceil((time - this.#settings.start) / (1000 * this.#settings.pace));
    return Math.min(this.#values.length, Math.max(0, position));
  }

  /** A percentile of a part of another timeline of the same values, with other noise. */
  again(part: Part, p: number, seed?: string): Run {
    const { seed: _, ...settings } = this.#settings;
    const other = new Timeline(this.#values, { ...settings, ...(seed === undefined ? {} : { seed }) });
    const { low = -Infinity, high = Infinity, truth } = other.ask(part, [p]).quantiles[0]!;
    return { low, high, truth };
  }

  /** Answers of the library for a part, rounded to whole periods, beside the truth. */
  ask(part: Part, quantiles: readonly number[]): Moment {
    const round = (position: number) =>
      this.#first + Math.round((this.#timeOf(position) - this.#first) / this.#every) * this.#every;
    const from = round(part.from);
    const to = Math.max(from + this.#every, round(part.to));
    const answer = this.#histogram.between(from, to, { quantiles });
    const [first, last] = [this.#positionAt(from), this.#positionAt(to)];
    const sorted = this.#values.slice(first, last).sort();
    const truth = (p: number) => sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)] ?? NaN;
    return {
      from: first,
      to: last,
      count: answer.total === null ? undefined : { ...answer.total, truth: last - first },
      mean: this.#meanOf(from, to),
      quantiles: answer.quantiles.map(({ p, value, low, high }) => ({
        p,
        value: value ?? undefined,
        low: low ?? undefined,
        high: high ?? undefined,
        truth: truth(p),
      })),
      above: sorted.reduce((count, value) => count + (value > this.#settings.max ? 1 : 0), 0),
    };
  }

  /** `max` is public, so nothing waits for a θ, and no value below it is clamped. */
  #meanOf(from: number, to: number): Estimate | undefined {
    const answer = this.#means.between(from, to);
    const { value, low, high } = answer;
    if (low === null || high === null) return undefined;
    const [first, last] = [this.#positionAt(answer.from), this.#positionAt(answer.to)];
    let sum = 0;
    for (let i = first; i < last; i++) sum += Math.max(0, this.#values[i]!);
    return { value: value ?? undefined, low, high, truth: sum / (last - first) };
  }

  /** Values in a period. */
  get perPeriod(): number {
    return this.#every / (1000 * this.#settings.pace);
  }

  explanation(): string {
    return `${this.#histogram.explain()}\n\n${this.#means.explain()}`;
  }
}

/** Milliseconds of a period for so many values; a day at most. */
export function periodOf(values: number, pace: number): number {
  const least = Math.max((values * pace) / PERIODS, LEAST * pace);
  return 1000 * (LENGTHS.find((length) => length >= least) ?? LENGTHS.at(-1)!);
}
