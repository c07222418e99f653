/** Answers of event streams, and the interfaces that they have in common. */
import { checkConfidence, ownOptions } from "../../core/checks.js";
import { noiseQuantile } from "../../stream/answer/answer.js";
import type { SnapshotKey } from "../../snapshot/streamCipher.js";
import type { Spread } from "../../stream/answer/variance.js";
import type { Duration, Time } from "../days/duration.js";
import type { DroppedEvents, EventInfo } from "../eventInfo.js";
import type { Measured } from "../days/history.js";
import { discreteNoise } from "../days/dayNoise.js";
import type { LimitedDay } from "../people/limitedDays.js";
import type { EventMetric } from "../eventMetric.js";
import { type Noisy, shareOf } from "./share.js";
import { SHARES } from "../shares.js";
import type { EventStatement } from "../statement.js";
import type { Published } from "../release.js";

/** The part of a range of time that an answer is about. */
export interface Window {
  /** Milliseconds since 1970: the whole published periods inside the range that was asked for. */
  readonly from: number;
  /** The end of that range, in milliseconds since 1970. */
  readonly to: number;
  /** Whether that is all that was asked for. */
  readonly complete: boolean;
  /** When this same call will next give more, in milliseconds since 1970; null if nothing more will come. */
  readonly next: number | null;
}

/** A number with an interval that holds for any data, over the noise. */
export interface Estimate {
  /** The unbiased estimate; null if nothing was measured. May be negative. */
  readonly value: number | null;
  /** Lower end of the interval; null if nothing was measured. */
  readonly low: number | null;
  /** Upper end of the interval; null if nothing was measured. */
  readonly high: number | null;
  /** Standard deviation of the noise in `value`. Of a mean: half the width of its interval at one standard deviation. */
  readonly standardError: number | null;
}

/** People with events that were not counted: a share, of the whole metric. */
export interface Limited {
  /** Share of the people of a day who had events beyond their limit, from 0 to 1. */
  readonly share: number;
  /** Lower end of the interval of the share. */
  readonly low: number;
  /** Upper end of the interval of the share. */
  readonly high: number;
}

/** Events above θ in the days of a range: how many, not how much they lost. */
export interface Clipped {
  /** Events above θ, which were clamped to it. Noisy, so it may be negative. */
  readonly events: number;
  /** Lower end of the interval of that number. */
  readonly low: number;
  /** Upper end of the interval of that number. */
  readonly high: number;
}

/** An answer over a range of time. Plain data. */
export interface EventAnswer extends Window, Estimate {
  /** The probability that `low` and `high` hold the true answer, whatever the data. */
  readonly confidence: number;
  /** People with events that were not counted, with `perPerson`. */
  readonly limited?: Limited;
  /** Events above θ in the days of the range, if θ was chosen privately. */
  readonly clipped?: Clipped;
  /** The sum of the values behind a mean. */
  readonly sum?: Estimate;
  /** How many events are behind a mean. */
  readonly count?: Estimate;
}

/** One answer per calendar period. Plain data. */
export interface Series<A = EventAnswer> {
  /** The period that was asked for, or chosen. */
  readonly period: string;
  /** Why this period was chosen, in words, if it was not asked for. */
  readonly why?: string;
  readonly answers: readonly A[];
}

/** "1h", "1d", "1w" (from Monday), "1mo", another level, or "auto" for the finest that is not mostly noise. */
export type Period = Duration;

export interface BetweenOptions {
  /** The probability that `low` and `high` hold the answer. Default 0.95. */
  readonly confidence?: number;
}

/** Methods that streams of events, counters and histograms have in common. */
export interface PeriodStream<A, Q> {
  /** Closes the periods that are due at `now` (default: the clock) and gives their answers. */
  advance(now?: Time): A[];
  /** The answer from the whole periods in [from, to) that have ended: its own `from` and `to` say which. */
  between(from: Time, to: Time, options?: Q): A;
  /** The newest range of exactly this length that ends with a published period. */
  last(duration: Duration, options?: Q): A;
  /** One answer per calendar period of [from, to), for charts. */
  series(period: Period, from: Time, to: Time, options?: Q): Series<A>;
  /** Private: how many events were dropped, and why. For the operator's eyes. */
  readonly dropped: DroppedEvents;
  /** How often this stream has been put into a snapshot. */
  readonly sequence: number;
  /** The privacy statement for machines: unit, ε and its shares, θ, software. */
  statement(): EventStatement;
  /** The privacy statement for people, as a short text. */
  explain(): string;
  /** The state of this moment, encrypted; `restore` resumes from it bit for bit (docs/snapshots.md). */
  snapshot(key: SnapshotKey): Promise<Uint8Array>;
}

/** Events with a value. */
export interface EventStream extends PeriodStream<EventAnswer, BetweenOptions> {
  /** Takes an event. It returns nothing, whatever happens to the event: what it returned might tell others about it. */
  add(value: number, event?: EventInfo): void;
}

/** Events that are only counted. */
export interface Counter extends PeriodStream<EventAnswer, BetweenOptions> {
  /** Counts an event. */
  add(event?: EventInfo): void;
}

export function confidenceOf(options: BetweenOptions): number {
  return checkConfidence(ownOptions("between", options, ["confidence"]).confidence ?? 0.95);
}

const NOTHING: Estimate = { value: null, low: null, high: null, standardError: null };

/**
 * Bounds of a noisy integer: the quantile of its noise, and half a unit of the grid since the noise is discrete.
 * @param unit grid units → units of the answer
 */
export function estimateOf({ value, spread }: Noisy, unit: number, confidence: number): Estimate {
  const deviation = Math.sqrt(spread.variance);
  const reach = noiseQuantile(confidence, spread) * deviation + 0.5;
  return {
    value: value * unit,
    low: (value - reach) * unit,
    high: (value + reach) * unit,
    standardError: deviation * unit,
  };
}

/** The spread of a sum, from the coefficients of its noise. */
export function spreadIn(
  { spread }: Measured,
  noise: { readonly variance: number; readonly fourth: number },
): Spread {
  return { variance: spread.variance * noise.variance, fourth: spread.fourth * noise.fourth };
}

/** The answer of a sum, a count or a mean over the measured part of a range. */
export function eventAnswer(
  metric: EventMetric,
  release: Published | undefined,
  asked: readonly [from: number, to: number],
  confidence: number,
): EventAnswer {
  const measured = release?.measure(...asked);
  const window = windowOf(metric, measured, asked);
  const extras = {
    ...limitedIn(metric, asked, confidence),
    ...(release === undefined ? {} : clippedIn(metric, release, asked, confidence)),
  };
  if (measured === undefined || measured.from === measured.to)
    return { ...window, ...NOTHING, confidence, ...extras };
  const spread = spreadIn(measured, metric.nodeNoise);
  const columns = Array.from(measured.sums, (value): Noisy => ({ value, spread }));
  const { of, grid } = metric.settings;
  const unit = grid?.resolution ?? 1;
  if (of !== "mean")
    return { ...window, ...estimateOf(columns[0]!, unit, confidence), confidence, ...extras };
  return { ...window, ...meanOf(columns[0]!, columns[1]!, metric, confidence), confidence, ...extras };
}

/**
 * A mean from Σ (v − min) and Σ (θ − v): a share of θ − min. Its interval has room for the rounding of values to the grid: half
 * a unit, however many events there are. Null if the interval says nothing. With n events, Σ v = Σ (v − min) + min·n, where the
 * two columns sum to n·(θ − min).
 */
function meanOf(sum: Noisy, rest: Noisy, metric: EventMetric, confidence: number) {
  const { units } = metric;
  const { min, resolution } = metric.settings.grid!;
  const width = units * resolution;
  const shift = Math.round(min / resolution) / units;
  const { value, ...noisy } = shareOf(sum, rest, confidence);
  const rounding = 0.5 / units;
  const [low, high] = [Math.max(0, noisy.low - rounding), Math.min(1, noisy.high + rounding)];
  const narrow = shareOf(sum, rest, 0.6827);
  const both: Noisy = { value: sum.value + rest.value, spread: times(sum.spread, 2) };
  const says = !(low <= 0 && high >= 1);
  return {
    value: says ? min + value * width : null,
    low: min + low * width,
    high: min + high * width,
    standardError: says ? ((narrow.high - narrow.low) / 2) * width : null,
    sum: estimateOf(combined(sum, 1 + shift, rest, shift), resolution, confidence),
    count: estimateOf(both, 1 / units, confidence),
  };
}

/** A sum of two independent noisy numbers with weights. */
const combined = (a: Noisy, weight: number, b: Noisy, other: number): Noisy => ({
  value: weight * a.value + other * b.value,
  spread: {
    variance: weight ** 2 * a.spread.variance + other ** 2 * b.spread.variance,
    fourth: weight ** 4 * a.spread.fourth + other ** 4 * b.spread.fourth,
  },
});

/** An answer without numbers, for a period that has none. */
export function blankAnswer(answer: EventAnswer, [from, to]: readonly [number, number]): EventAnswer {
  const { complete, next, confidence, limited } = answer;
  return { from, to, complete, next, ...NOTHING, confidence, ...(limited && { limited }) };
}

/** How many events an answer is about, as published. */
export function eventsIn({ settings, moved }: EventMetric, answer: EventAnswer): number {
  if (settings.of === "mean") return answer.count?.value ?? 0;
  return Math.abs(answer.value ?? 0) / (settings.of === "sum" ? moved * settings.grid!.resolution : 1);
}

/** The measured part of what was asked for, and when there will be more. */
export function windowOf(
  metric: EventMetric,
  measured: Measured | undefined,
  [from, to]: readonly [number, number],
): Window {
  const next = metric.nextNumber(from, to);
  if (measured === undefined || measured.from === measured.to)
    return { from, to: from, complete: from === to, next };
  return { from: measured.from, to: measured.to, complete: measured.complete, next };
}

/** Days before the end of a range that the share of limited people is taken from, at least. */
const LIMITED_DAYS = 7;
/** A share that is known no better than this is not shown. */
const WIDEST = 0.5;

/** How many people had events that were not counted, from the closed days of the range, at least the last seven. */
export function limitedIn(
  { limitedDays, settings }: EventMetric,
  [from, to]: readonly [number, number],
  confidence: number,
): { readonly limited?: Limited } {
  const before = limitedDays.filter(({ day }) => day < to);
  const inside = before.filter(({ end }) => end > from).length;
  const used = before.slice(-Math.max(inside, LIMITED_DAYS));
  if (used.length === 0) return {};
  const spread = times(discreteNoise(SHARES / settings.epsilon), used.length);
  const sum = (read: (day: LimitedDay) => number): Noisy => ({
    value: used.reduce((total, day) => total + read(day), 0),
    spread,
  });
  const { value, low, high } = shareOf(
    sum(({ lost }) => lost),
    sum(({ whole }) => whole),
    confidence,
  );
  return high - low > WIDEST ? {} : { limited: { share: value, low, high } };
}

function clippedIn(
  metric: EventMetric,
  release: Published,
  [from, to]: readonly [number, number],
  confidence: number,
): { readonly clipped?: Clipped } {
  const days = release.clipped(from, to);
  if (days.length === 0) return {};
  const { epsilon, limit } = metric.settings;
  const spread = times(discreteNoise((SHARES * (limit?.events ?? 1)) / epsilon), days.length);
  const value = days.reduce((total, { count }) => total + count, 0);
  const { low, high } = estimateOf({ value, spread }, 1, confidence);
  return { clipped: { events: value, low: low!, high: high! } };
}

/** The spread of a sum of so many independent numbers. */
const times = ({ variance, fourth }: Spread, count: number): Spread => ({
  variance: variance * count,
  fourth: fourth * count,
});
