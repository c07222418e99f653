/** Measures what following θ costs or gains: the same streams, seeds and hold-outs with and without it, compared run by run. */
import { COUNT_SHARE } from "../../src/stream/release/follow.js";
import { WHOLE } from "../../src/stream/release/epochs.js";
import type { Measured } from "./measure.js";
import type { ZooResult } from "./run.js";

/** Variance of the noise of a tree whose count has a share of ε, over that of one with all of ε. */
const COST = (WHOLE / (WHOLE - COUNT_SHARE)) ** 2;

/**
 * The ratio of the two mean squared errors, with the standard error of a ratio of paired means. Where θ never changed,
 * the two runs differ in the scale of their noise alone, and whether θ changes does not depend on that noise. So such a
 * run counts at COST times its error without following, the most that can be expected of it, and adds no chance of its own.
 */
export function toStill(follow: ZooResult, still: ZooResult, which: "answers" | "published"): Measured {
  const theirs = still[which];
  const ours = follow[which].map((error, i) => (follow.changes[i] === 0 ? COST * theirs[i]! : error));
  return pairedRatio(ours, theirs);
}

export function pairedRatio(ours: readonly number[], theirs: readonly number[]): Measured {
  const n = ours.length;
  const total = theirs.reduce((sum, x) => sum + x, 0);
  const mean = ours.reduce((sum, x) => sum + x, 0) / total;
  const squares = ours.reduce((sum, x, i) => sum + (x - mean * theirs[i]!) ** 2, 0);
  return { mean, se: Math.sqrt((squares * n) / (n - 1)) / total };
}
