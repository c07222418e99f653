/** What `range` gives back. */
import { normalQuantile } from "../core/normal.js";
import type { Hidden } from "./hidden.js";
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
   * Standard deviation of the noise in `sum`, in closed form from public parameters: predictions carry the noise of the
   * blocks that they come from. It does not cover values that were clamped to θ, nor how far data that change are from
   * a prediction (or, for part of a finished block, how unevenly the block's sum is spread over it).
   */
  readonly standardError: number;
  /** `low` ≤ noise-free sum ≤ `high` with probability `confidence`, under the same two provisos. */
  readonly low: number;
  readonly high: number;
  /** The probability that was asked for: 0.95 by default. */
  readonly confidence: number;
  /** What clamping to θ took from the true sum, beside `sum`: where the hold-out counted values above θ. */
  readonly hidden?: Hidden;
}

/** @param unit the resolution: grid units → units of the stream */
export function makeAnswer(
  sum: number,
  count: number,
  spread: Spread,
  unit: number,
  confidence: number,
): RangeAnswer {
  const total = sum * unit;
  const standardError = Math.sqrt(spread.variance) * unit;
  const reach = noiseQuantile(confidence, spread) * standardError;
  return {
    sum: total,
    mean: count === 0 ? 0 : total / count,
    standardError,
    low: total - reach,
    high: total + reach,
    confidence,
  };
}

/**
 * Two-sided quantile of a sum of independent Laplace variables, in standard deviations. The sum is Laplace when
 * one node dominates (excess kurtosis κ = 3) and Gaussian when many share (κ = 0): exact at both ends, and in
 * between (κ/3)^¾ of the way, which is within 0.03 of the exact quantile up to confidence 0.99 (test/ranges).
 */
export function noiseQuantile(confidence: number, { variance, fourth }: Spread): number {
  if (variance === 0) return 0;
  const laplace = -Math.log(1 - confidence) / Math.SQRT2;
  const gauss = normalQuantile(confidence);
  return gauss + (laplace - gauss) * Math.min(1, fourth / variance ** 2) ** 0.75;
}
