/** The answer of an aggregator's `range`. */
import { normalQuantile } from "../../core/normal.js";

/** Plain data: it survives JSON, structuredClone and postMessage. */
export interface PaperAnswer {
  /** Estimated sum over the range, in units of the stream: unbiased for values clamped to θ. 0 for an empty range. */
  readonly sum: number;
  /** Estimated mean value over the range; 0 for an empty range. */
  readonly mean: number;
  /**
   * Standard deviation of the noise in `sum`, from public parameters: for every value the worst that the mechanism
   * does (Eq. 14). That is exact above ε = 0.61, and at most 9 % of variance too much below.
   */
  readonly standardError: number;
  /**
   * Expected amount that clamping to θ removes from the true sum, by the learned distribution; not part of `sum`. Null where θ was
   * given and not learned: nobody knows.
   */
  readonly clipped: number | null;
  /**
   * `low` ≤ true sum ≤ `high` with probability `confidence`, if `clipped` is right: noise on both sides, and above the
   * sum what clamping is expected to hide. Where `clipped` is null they are bounds for the values clamped to θ.
   */
  readonly low: number;
  readonly high: number;
  /** The probability that was asked for: 0.95 by default. */
  readonly confidence: number;
}

export function makePaperAnswer(
  sum: number,
  length: number,
  standardError: number,
  clipped: number | null,
  confidence = 0.95,
): PaperAnswer {
  const reach = normalQuantile(confidence) * standardError;
  const mean = length === 0 ? 0 : sum / length;
  return {
    sum,
    mean,
    standardError,
    clipped,
    low: sum - reach,
    high: sum + (clipped ?? 0) + reach,
    confidence,
  };
}
