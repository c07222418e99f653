/** The mean of events from a noisy sum and a noisy count, with an interval that holds for the quotient. */
import { noiseQuantile } from "../stream/answer.js";
import type { RawAnswer } from "../stream/ranges.js";

export interface Ratio {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Fieller's theorem: m is not refused while |S − m·C| ≤ z·√(σ_S² + m²·σ_C²). Where the count may be 0 that holds for
 * m without end; a mean of values in [0, most] lies there, so the interval does too.
 * @param most θ, in the unit of the sum over the unit of the count
 */
export function ratioOf(sum: RawAnswer, count: RawAnswer, most: number, confidence: number): Ratio {
  const inRange = (m: number): number => Math.min(most, Math.max(0, m));
  const value = inRange(count.sum > 0 ? sum.sum / count.sum : most / 2);
  // At the mean itself: the noise of S − m·C, its kurtosis included.
  const z = noiseQuantile(confidence, {
    variance: sum.spread.variance + value ** 2 * count.spread.variance,
    fourth: sum.spread.fourth + value ** 4 * count.spread.fourth,
  });
  const a = count.sum ** 2 - z ** 2 * count.spread.variance;
  const b = sum.sum * count.sum;
  const c = sum.sum ** 2 - z ** 2 * sum.spread.variance;
  const root = b * b - a * c;
  if (!(a > 0 && root >= 0 && count.sum > 0)) return { value, low: 0, high: most };
  const reach = Math.sqrt(root) / a;
  return { value, low: inRange(b / a - reach), high: inRange(b / a + reach) };
}
