/**
 * The mean of the values clamped to θ, with an interval that covers from one report on, whatever the values:
 *
 *     half-width of the sum = θ·( z·√(n·V) + R·z²/6 ) + n·θ/2²¹          then ∩ [0, nθ]
 *     V = min(V(0), a + b·min(¼, max(0, M + 2·se(M) + ¼·min(1, 3/n))))
 *     a = V(½),  b = 4(V(0) − a),  M = (mean of (e − ½)² − a)/(1 + b)
 *
 * e: the unbiased estimates as shares of θ. V(x): their variance at the share x, a parabola. M estimates the mean of (x − ½)², from
 * which the average of V(x) follows. R: the largest distance of an estimate from its value; R·z²/6 bounds Cornish and Fisher's
 * term for skewness, since |κ₃| ≤ R·V. The last term is for rounding to cells of θ/2²⁰. Groups with other θ are independent:
 * their variances add up, and the largest R·θ counts.
 */
import { madeOnce } from "../core/madeOnce.js";
import { normalQuantile } from "../core/normal.js";
import type { Mechanism } from "../core/tables/sectors.js";
import { binCells, type ReportCounts } from "./dayTally.js";
import { BINS } from "./mechanisms.js";
import { estimateOf, estimator, estimatorSlopes, varianceOf } from "./moments.js";

/** A sum of values clamped to their day's θ, in units of the stream. */
export interface SumInterval {
  readonly sum: number;
  readonly low: number;
  readonly high: number;
  readonly standardError: number;
}

/**
 * @param groups reports by θ
 * @param mechanism one for all: θ scales its estimates
 */
export function sumInterval(
  groups: readonly ReportCounts[],
  mechanism: Mechanism,
  confidence: number,
): SumInterval {
  const z = normalQuantile(confidence);
  const farthest = estimateOf(mechanism, mechanism.cells - 1);
  let [sum, most, variance, skew, rounding] = [0, 0, 0, 0, 0];
  for (const group of groups) {
    const { theta, reports } = group;
    sum += theta * estimatedSum(group, mechanism);
    most += theta * reports;
    variance += theta * theta * reports * varianceIn(group, mechanism);
    skew = Math.max(skew, theta * farthest);
    rounding += (theta * reports) / (2 * (mechanism.top + 1));
  }
  const standardError = Math.sqrt(variance);
  const reach = z * standardError + (skew * z * z) / 6 + rounding;
  const inside = (x: number): number => Math.min(most, Math.max(0, x));
  return { sum, low: inside(sum - reach), high: inside(sum + reach), standardError };
}

/** The sum of the estimates as a multiple of θ. An input of cell x stands for the middle of its values, (x + ½)/2²⁰. */
function estimatedSum({ reports, cells }: ReportCounts, mechanism: Mechanism): number {
  const { top, width } = mechanism;
  const { perCell } = estimatorSlopes(mechanism);
  const inputs = reports / 2 + (cells - (reports * (top + width - 1)) / 2) * perCell;
  return (inputs * top + reports / 2) / (top + 1);
}

/** V: an upper estimate of the average variance of an estimate, as a share of θ². */
function varianceIn({ reports, counts }: ReportCounts, mechanism: Mechanism): number {
  const [a, worst] = [varianceOf(mechanism, 0.5), varianceOf(mechanism, 0)];
  const b = 4 * (worst - a);
  const distances = squaredDistances(mechanism);
  let [squares, fourths] = [0, 0];
  for (let i = 0; i < counts.length; i++) {
    const part = counts[i]! * distances[i]!;
    squares += part;
    fourths += part * distances[i]!;
  }
  const mean = squares / reports;
  const error = Math.sqrt(Math.max(0, fourths / reports - mean * mean) / reports);
  const spread = (mean - a + 2 * error) / (1 + b) + Math.min(1, 3 / reports) / 4;
  return Math.min(worst, a + b * Math.min(0.25, Math.max(0, spread)));
}

/** (e − ½)² in the middle of every output bin. */
const squaredDistances = madeOnce((mechanism: Mechanism) => {
  const wide = binCells(mechanism);
  const estimate = estimator(mechanism);
  return Float64Array.from({ length: BINS }, (_, i) => (estimate((i + 0.5) * wide - 0.5) - 0.5) ** 2);
});
