/** What `range` gives back. */
import { normalQuantile } from "../core/normal.js";
import type { Spread } from "./variance.js";

export interface RangeAnswer {
  /** Estimated sum over the range, in units of the stream. An empty range sums to 0, without error. */
  readonly sum: number;
  /** Estimated mean value over the range; `NaN` for an empty one, which has no mean. */
  readonly mean: number;
  /**
   * Standard deviation of the noise in `sum`, in closed form from public parameters. It does not cover values
   * that were clamped to θ, nor how far a prediction is off inside a block that is still running (or, for part
   * of a finished block, how unevenly the block's sum is spread over it).
   */
  readonly standardError: number;
  /** Bounds that hold the noise-free sum with this probability (default 0.95), under the same two provisos. */
  interval(confidence?: number): readonly [low: number, high: number];
}

/** @param unit the resolution: grid units → units of the stream */
export function makeAnswer(sum: number, count: number, spread: Spread, unit: number): RangeAnswer {
  const total = sum * unit;
  const standardError = Math.sqrt(spread.variance) * unit;
  return {
    sum: total,
    mean: total / count,
    standardError,
    interval(confidence = 0.95) {
      if (!(confidence > 0 && confidence < 1))
        throw new RangeError(`confidence: expected a number between 0 and 1, got ${confidence}`);
      const reach = noiseQuantile(confidence, spread) * standardError;
      return [total - reach, total + reach];
    },
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
