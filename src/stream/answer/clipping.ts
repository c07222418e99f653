/**
 * Clipping: estimates what clamping to θ removes from a range, from noisy counts alone. These are the count of held-out values
 * above θ (thresholdCounts.ts) and, if θ follows the stream, the count of every tree: values above the next larger candidate
 * (follow.ts).
 *
 * A count says how many values were cut, and not by how much. Where a tail falls like a power of at least two, as all tails
 * with a variance do, they lose at most count·θ together if the count is above θ, and √2·count·θ if it is above the next
 * candidate, 2^¼·θ. On streams of many shapes it is 0.3 and 0.6 of count·θ (research/notes/zoo.md): that is the estimate.
 */
import { noiseQuantile } from "./answer.js";
import type { AboveCount } from "../holdout/thresholdCounts.js";
import { addSpreads, laplaceVariance, NO_SPREAD, scaleSpread, type Spread } from "./variance.js";

/** Estimate of the amount that clamping removed from the true sum of a range, in units of the stream; never negative. */
export interface Hidden {
  /** An estimate within the interval: how much a value that is cut usually loses is not known from a count. */
  readonly sum: number;
  /**
   * `low` ≤ hidden ≤ `high` with the answer's probability, if the tail above θ falls like a power of at least two, and what
   * is cut is spread evenly over a tree of noise. [answer.low + low, answer.high + high] then holds the true sum.
   */
  readonly low: number;
  /** Upper end of the interval; the comment of `low` says what it holds. */
  readonly high: number;
}

/** Amount of a counted value above θ, in units of θ: at least, usually, and at most. */
interface Excess {
  readonly low: number;
  readonly sum: number;
  readonly high: number;
}
const ABOVE_THETA: Excess = { low: 0, sum: 0.3, high: 1 };
const ABOVE_NEXT: Excess = { low: 2 ** 0.25 - 1, sum: 0.6, high: Math.SQRT2 };

/** Values of a range, and the count that speaks for them. */
export interface CountedPart {
  /** Θ in grid units. */
  readonly theta: number;
  readonly values: number;
  /** The noisy count, among how many values it was taken, and its error. */
  readonly count: AboveCount;
  readonly spread: Spread;
  readonly excess: Excess;
}

/** Values of a tree that has ended. @param scale of the noise on its count */
export function partOfTree(theta: number, values: number, count: AboveCount, scale: number): CountedPart {
  return { theta, values, count, spread: laplaceSpread(scale), excess: ABOVE_NEXT };
}

/** Values that no tree's count speaks for: held-out ones are a sample of values like them. */
export function partLikeHeldOut(
  theta: number,
  values: number,
  count: AboveCount,
  epsilon: number,
): CountedPart {
  const sampling = { variance: Math.max(count.count, 0) + 1, fourth: 0 };
  const spread = addSpreads(laplaceSpread(1 / epsilon), sampling);
  return { theta, values, count, spread, excess: ABOVE_THETA };
}

function laplaceSpread(scale: number): Spread {
  const variance = laplaceVariance(scale);
  return { variance, fourth: variance ** 2 };
}

/** In grid units. @param largest max − min in grid units: no value loses more than it can have above θ */
export function clippingIn(parts: readonly CountedPart[], largest: number, confidence: number): Hidden {
  const estimate = (kind: keyof Excess, errors: -1 | 0 | 1): number => {
    let [sum, spread] = [0, NO_SPREAD];
    for (const part of parts) {
      const weight = (part.excess[kind] * part.theta * part.values) / part.count.values;
      sum += weight * part.count.count;
      spread = addSpreads(spread, scaleSpread(part.spread, weight));
    }
    return sum + errors * noiseQuantile(confidence, spread) * Math.sqrt(spread.variance);
  };
  const room = parts.reduce((sum, { theta, values }) => sum + values * (largest - theta), 0);
  const within = (x: number, low: number, high: number) => Math.min(high, Math.max(low, x));
  const high = within(estimate("high", 1), 0, room);
  const low = within(estimate("low", -1), 0, high);
  return { sum: within(estimate("sum", 0), low, high), low, high };
}
