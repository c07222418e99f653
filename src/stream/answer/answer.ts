/** The answer of `range`. */
import { normalQuantile } from "../../core/normal.js";
import type { Hidden } from "./clipping.js";
import type { Bounds, NoisySum, RawAnswer } from "./rangeIndex.js";
import type { Spread } from "./variance.js";

/** Which of the sums that released numbers allow: `RangeOptions` says what each one is. */
export const ANSWER_KINDS = ["best", "blocks", "published"] as const;
export type AnswerKind = (typeof ANSWER_KINDS)[number];

/** Plain data: it survives JSON, structuredClone and postMessage. */
export interface RangeAnswer {
  /** Estimated sum over the range, in units of the stream. An empty range sums to 0, without error. */
  readonly sum: number;
  /** Estimated mean value over the range; 0 for an empty range. */
  readonly mean: number;
  /**
   * Standard deviation of the noise in what was measured, in closed form from public parameters: predictions carry the
   * noise of the blocks that they come from. "best" moves `sum` by at most 1.5 of it.
   */
  readonly standardError: number;
  /**
   * `low` ≤ sum of the values, clamped to θ, ≤ `high` with probability `confidence` at least, for any data: a range sums to
   * at least the blocks inside it and at most the blocks it touches, each measured with known noise, give or take the
   * rounding of values to the grid. The interval is not centred on `sum`; "best" sums always lie inside it.
   */
  readonly low: number;
  /** Upper end of the interval; the comment of `low` says what it holds. */
  readonly high: number;
  /** The probability that was asked for: 0.95 by default. */
  readonly confidence: number;
  /**
   * Whether both ends of the range are borders of finished blocks (`statement().blockLength`). If not, nothing was measured
   * at the ends: the interval leaves room for all that the blocks there may hold, and is longer.
   */
  readonly measured: boolean;
  /**
   * Which of the received values these are, [from, to), counted from 0 at the first value that the stream received: `range`
   * counts published positions, and the held-out values came before them.
   */
  readonly received: { readonly from: number; readonly to: number };
  /** Estimate of what clamping to θ took from the true sum, beside `sum`: where the hold-out counted values above θ. */
  readonly hidden?: Hidden;
}

/** The part of an answer that follows from released numbers alone. */
export type MeasuredAnswer = Omit<RangeAnswer, "received" | "hidden">;

/** How many standard errors a shrunk answer may be away from the measured one. Found on the tuning streams of the zoo. */
const REACH = 1.5;

/**
 * @param count values in the range
 * @param unit the resolution: grid units → units of the stream
 */
export function makeAnswer(raw: RawAnswer, count: number, unit: number, confidence: number): MeasuredAnswer {
  const { sum: noisy, spread, shrunk, bounds } = raw;
  const error = Math.sqrt(spread.variance);
  const [low, high] =
    bounds === undefined
      ? [noisy - reachOf(raw, confidence), noisy + reachOf(raw, confidence)]
      : intervalOf(bounds, count, confidence);
  const moved = shrunk === undefined ? noisy : within(shrunk, noisy - REACH * error, noisy + REACH * error);
  const sum = (shrunk === undefined ? moved : within(moved, low, high)) * unit;
  return {
    sum,
    mean: count === 0 ? 0 : sum / count,
    standardError: error * unit,
    low: low * unit,
    high: high * unit,
    confidence,
    measured: raw.cut !== true,
  };
}

const within = (x: number, low: number, high: number): number => Math.min(high, Math.max(low, x));

/** How far from a noisy sum the noise-free one is, with the probability asked for. */
const reachOf = ({ spread }: NoisySum, confidence: number): number =>
  noiseQuantile(confidence, spread) * Math.sqrt(spread.variance);

/**
 * From the lower end of what is inside to the upper end of what is touched. Each of `count` values was rounded to the grid,
 * by half a grid unit at most. Where a range cuts blocks, noise may put the lower end above the upper one: they swap.
 */
function intervalOf(
  { inside, touched, least, most }: Bounds,
  count: number,
  confidence: number,
): [low: number, high: number] {
  const low = within(inside.sum - reachOf(inside, confidence) - count / 2, least, most);
  const high = within(touched.sum + reachOf(touched, confidence) + count / 2, least, most);
  return low <= high ? [low, high] : [high, low];
}

/**
 * Two-sided quantile of a sum of independent Laplace variables, in standard deviations. The sum is Laplace when
 * one node dominates (excess kurtosis κ = 3) and Gaussian when many share (κ = 0): exact at both ends, and in
 * between (κ/3)^¾ of the way, which is within 0.03 of the exact quantile up to confidence 0.99 (test/ranges). Noise that
 * is mostly 0, because ε is large, has κ > 3: there √(κ/3) of the way, with half a unit beside it, is enough.
 */
export function noiseQuantile(confidence: number, { variance, fourth }: Spread): number {
  if (variance === 0) return 0;
  const laplace = -Math.log(1 - confidence) / Math.SQRT2;
  const gauss = normalQuantile(confidence);
  const peak = Math.sqrt(fourth) / variance; // √(κ/3), without variance², which is 0 where the variance is tiny
  const beyond = laplace > gauss ? peak : 1; // below a confidence of 0.77 less than Laplace's quantile is too little
  return gauss + (laplace - gauss) * (peak > 1 ? beyond : peak ** 1.5);
}
