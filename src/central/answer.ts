/** What `range` gives back. */
import type { Spread } from "./variance.js";

export interface RangeAnswer {
  /** Estimated sum over the range, in units of the stream. */
  readonly sum: number;
  /** Estimated mean value over the range. */
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

/** z with P(|Z| ≤ z) = confidence for a standard normal Z: Newton on the error function. */
export function normalQuantile(confidence: number): number {
  const tail = 1 - confidence;
  let z = tail < 0.1 ? Math.sqrt(-2 * Math.log(tail)) : 1;
  for (let i = 0; i < 60; i++) {
    const step = (normalTail(z) - tail) / (Math.sqrt(2 / Math.PI) * Math.exp((-z * z) / 2));
    z += step;
    if (Math.abs(step) < 1e-14 * z) break;
  }
  return z;
}

/** P(|Z| > z): series for the body, continued fraction for the tail. */
function normalTail(z: number): number {
  const density = Math.sqrt(2 / Math.PI) * Math.exp((-z * z) / 2);
  if (z < 2.5) {
    let term = z;
    let sum = z;
    for (let k = 1; term > 1e-17 * sum; k++) sum += term *= (z * z) / (2 * k + 1);
    return 1 - density * sum;
  }
  let fraction = z;
  for (let k = 60; k > 0; k--) fraction = z + k / fraction;
  return density / fraction;
}
