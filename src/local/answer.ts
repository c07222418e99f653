/** What `range` of an aggregator gives back. */
import { normalQuantile } from "../core/normal.js";

export interface LocalAnswer {
  /**
   * Estimated sum over the range, in units of the stream: unbiased for values clamped to θ. An empty range sums to 0,
   * without error.
   */
  readonly sum: number;
  /** Estimated mean value over the range; `NaN` for an empty one, which has no mean. */
  readonly mean: number;
  /**
   * Standard deviation of the noise in `sum`, from public parameters: for every value the worst that the mechanism
   * does (Eq. 14), which is what it does for all values above ε = 0.61, and at most 9 % of variance too much below.
   */
  readonly standardError: number;
  /** What clamping to θ is expected to hide of the true sum, by the learned distribution; not part of `sum`. */
  readonly clipped: number;
  /**
   * Bounds that hold the true sum with this probability (default 0.95): noise on both sides, and above it what clamping is
   * expected to hide.
   */
  interval(confidence?: number): readonly [low: number, high: number];
}

export function makeLocalAnswer(
  sum: number,
  length: number,
  standardError: number,
  clipped: number,
): LocalAnswer {
  return {
    sum,
    mean: sum / length,
    standardError,
    clipped,
    interval(confidence = 0.95) {
      if (!(confidence > 0 && confidence < 1))
        throw new RangeError(`confidence: expected a number between 0 and 1, got ${confidence}`);
      const reach = normalQuantile(confidence) * standardError;
      return [sum - reach, sum + clipped + reach];
    },
  };
}
