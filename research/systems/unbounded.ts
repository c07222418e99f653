/**
 * A binary hierarchy without end (Chan, Shi and Song 2011): level k = 1, 2, … gets the budget (1/9)·0.9^k·ε, and all of
 * them together ε. Printed as 0.9 ε, 0.9² ε, …, which is 9 ε in all. One forest for ever: nothing is dropped, and
 * memory grows by 16 bytes a value.
 */
import { exactRational } from "../../src/core/tables/fixedPoint.js";
import { makeScale, type Scale } from "../../src/core/tables/scale.js";
import type { NodeShape } from "./nodes.js";

/** Levels that are ever needed: memory ends long before 2³² values. The top one has no parent. */
export const UNBOUNDED_LEVELS = 33;

/** Scale of the noise of the level that has most of it, for Θ = 1. */
export function largestUnboundedScale(epsilon: number): number {
  return (9 / epsilon) * (10 / 9) ** UNBOUNDED_LEVELS;
}

/** @param theta Θ in grid units */
export function unboundedShape(theta: number, epsilon: number): NodeShape {
  const scales: Scale[] = [];
  return {
    fanout: 2,
    levels: UNBOUNDED_LEVELS,
    scale: (level) => (scales[level] ??= levelScale(level + 1, theta, epsilon)),
    forestLength: Infinity,
    history: 1,
  };
}

/** Θ/((1/9)·0.9^k·ε) = Θ·10^k/(9^(k−1)·ε), exactly. */
function levelScale(k: number, theta: number, epsilon: number): Scale {
  const { numerator, denominator } = exactRational(epsilon);
  return makeScale(BigInt(theta) * 10n ** BigInt(k) * denominator, 9n ** BigInt(k - 1) * numerator);
}
