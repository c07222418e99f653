/**
 * How high the hierarchy is, and how many of its lowest levels are left to prediction.
 * Tree sizes are counted with integers: rounding a logarithm is off by one sooner or later.
 */
import { lastMade } from "../core/lastMade.js";
import { meanVariance } from "./answer/variance.js";

export type SkipRule = "auto" | "paper" | number;

/** h = ⌈log_b r⌉, at least 1. */
export function levelCount(maxRange: number, fanout: number): number {
  let levels = 1;
  for (let leaves = fanout; leaves < maxRange; leaves *= fanout) levels++;
  return levels;
}

/** s by the rule asked for; always 0 ≤ s < h. */
export function skippedLevels(rule: SkipRule, epsilon: number, maxRange: number, fanout: number): number {
  const h = levelCount(maxRange, fanout);
  if (rule === "auto") return fewestErrors(h, epsilon, maxRange, fanout);
  if (rule === "paper") return cheapest(h - 1, (s) => paperCost(s, h, epsilon, fanout));
  if (!Number.isInteger(rule) || rule < 0 || rule >= h)
    throw new RangeError(
      `tuning.skipLevels: expected "auto", "paper" or a whole number from 0 to ${h - 1} (maxRange has ${h} levels), got ${rule}`,
    );
  return rule;
}

/** Eq. 7 in units of θ²: noise of (b−1)(h−s) nodes, and a prediction off by θ/3 for half a block. */
function paperCost(s: number, h: number, epsilon: number, b: number): number {
  return ((b - 1) * (h - s) ** 3 * 2) / epsilon ** 2 + b ** (2 * s) / 36;
}

/** How far a block's mean strays from its prediction, as a part of θ: what real streams showed. */
const DRIFT = 1 / 64;

/** Exact mean variance of a random range, and a prediction off by τθ for a block; in units of θ². */
function exactCost(s: number, h: number, epsilon: number, r: number, b: number): number {
  return meanVariance(r, b, h - s, s) / epsilon ** 2 + (b ** s * DRIFT) ** 2;
}

const fewestErrors = lastMade((h: number, epsilon: number, r: number, b: number) =>
  cheapest(Math.max(0, h - 2), (s) => exactCost(s, h, epsilon, r, b)),
);

function cheapest(most: number, cost: (s: number) => number): number {
  let best = 0;
  for (let s = 1; s <= most; s++) if (cost(s) < cost(best)) best = s;
  return best;
}
