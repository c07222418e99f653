/** Percentiles and shares of the values of a local aggregation, with bounds that hold whatever the distribution (sharesBelow.ts). */
import { checkConfidence, ownOptions } from "../core/checks.js";
import type { RunOptions } from "./em.js";
import { type ReportHistogram, SharesBelow } from "./sharesBelow.js";

/** A percentile of the values. Plain data. */
export interface LocalQuantile {
  readonly p: number;
  /** The estimate, in units of the stream. */
  readonly value: number;
  /** low ≤ p-quantile ≤ high with probability `confidence`, whatever the distribution; whole bins of max/1024. */
  readonly low: number;
  readonly high: number;
  readonly confidence: number;
}

/** The share of values below x. Plain data. */
export interface LocalShare {
  readonly x: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly confidence: number;
}

export interface PercentileOptions extends RunOptions {
  /** Probability of the interval [low, high]. Default 0.95. */
  readonly confidence?: number;
}

export function percentileOptions(
  call: string,
  options: PercentileOptions,
): { readonly confidence: number; readonly run: RunOptions } {
  const {
    confidence = 0.95,
    onProgress,
    signal,
  } = ownOptions(call, options, ["confidence", "onProgress", "signal"]);
  checkConfidence(confidence);
  return { confidence, run: { onProgress, signal } };
}

/**
 * The p-quantile. Going up from below, the interval begins where the first bound fails to say "still below"; so only one
 * bound can be wrong, and the same from above.
 * @param shares the estimated distribution, in bins
 */
export function quantileOf(
  histogram: ReportHistogram,
  shares: Float64Array,
  max: number,
  p: number,
  confidence: number,
): LocalQuantile {
  const n = shares.length;
  const bin = (histogram.mechanism.top + 1) / n;
  const below = new SharesBelow(histogram, confidence);
  let bottom = 0;
  while (bottom < n && below.upper(bin * (bottom + 1)) < p) bottom++;
  let top = n;
  while (top > bottom + 1 && below.lower(bin * (top - 1)) > p) top--;
  const [low, high] = [(bottom * max) / n, (top * max) / n];
  const value = (quantileIn(shares, p) * max) / n;
  return { p, value: Math.min(high, Math.max(low, value)), low, high, confidence };
}

/** Where the shares reach p, in bins; the values of a bin are spread evenly over it. */
export function quantileIn(shares: Float64Array, p: number): number {
  let below = 0;
  for (let j = 0; j < shares.length; j++) {
    const share = shares[j]!;
    if (below + share >= p && share > 0) return j + Math.max(0, p - below) / share;
    below += share;
  }
  return shares.length;
}

/** The share of values below x. */
export function shareOf(
  histogram: ReportHistogram,
  shares: Float64Array,
  max: number,
  x: number,
  confidence: number,
): LocalShare {
  const cells = (Math.min(Math.max(x, 0), max) / max) * (histogram.mechanism.top + 1);
  const below = new SharesBelow(histogram, confidence);
  const [low, high] = [below.lower(Math.floor(cells)), x > max ? 1 : below.upper(Math.ceil(cells))];
  const place = (cells / (histogram.mechanism.top + 1)) * shares.length;
  const value = shares.reduce((sum, share, j) => sum + share * Math.min(1, Math.max(0, place - j)), 0);
  return { x, value: Math.min(high, Math.max(low, value)), low, high, confidence };
}
