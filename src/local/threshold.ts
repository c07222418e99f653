/**
 * θ from an estimated distribution (Section 4.1): noise grows with θ, what clamping hides shrinks with it.
 * Everything here is post-processing of ε-LDP reports and public.
 */
import type { Mechanism } from "../core/tables/sectors.js";
import { bandAround } from "./band.js";
import { nearestThreshold, thresholdShares } from "./channel.js";
import { worstVariance } from "./moments.js";
import { averageTails, type Evidence } from "./tails.js";

export type Objective = "exact" | "paper";
/** "models" averages over models of the tail (tails.ts), "paper" cuts it, "whole" leaves it as EM has it. */
export type Tail = "models" | "paper" | "whole";

/** θ as a share of `max`, the distribution it was chosen for, and E (v − θ)₊ in bins. */
export interface ThresholdChoice {
  readonly share: number;
  readonly shares: Float64Array;
  readonly excess: number;
}

/**
 * The best θ that the reports can tell.
 * @param release the mechanism of the release-reports
 * @param pause lets other work run
 */
export async function chooseThreshold(
  evidence: Evidence,
  { tail, objective, maxRange }: { tail: Tail; objective: Objective; maxRange: number },
  release: Mechanism,
  pause: () => Promise<void>,
): Promise<ThresholdChoice> {
  const bins = evidence.shares.length;
  if (tail === "models") {
    const paper = paperThreshold(evidence.shares, release, maxRange);
    const { least, most } = bandAround(paper * bins, evidence.shares, evidence.resolution);
    const candidates = thresholdShares().filter((share) => share * bins >= least && share * bins <= most);
    const inBins = candidates.map((share) => share * bins);
    const cost = costOf(release, maxRange, objective);
    const { best, ...average } = await averageTails(evidence, inBins, cost, pause);
    return { share: candidates[best]!, ...average };
  }
  const shares = tail === "paper" ? prunedTail(evidence.shares, PAPER_PRUNING) : evidence.shares;
  const share = nearestThreshold(bestThreshold(shares, release, maxRange, objective) / bins, 1);
  return { share, shares, excess: excessAt(shares, share * bins) };
}

/** The θ of SW-W, as a share of `max`: one of the public thresholds. */
const paperThreshold = (shares: Float64Array, release: Mechanism, maxRange: number): number =>
  nearestThreshold(
    bestThreshold(prunedTail(shares, PAPER_PRUNING), release, maxRange, "paper") / shares.length,
    1,
  );

/** Where a tail has died out: at a bin above which at most `most` lies, followed by `run` shares below `small`. */
export interface Pruning {
  readonly most: number;
  readonly run: number;
  readonly small: number;
}

/** The paper's: 5 shares below 0.01 %, whatever ε and the number of reports; from the median on, so never half the values. */
export const PAPER_PRUNING: Pruning = { most: 0.5, run: 5, small: 1e-4 };

/**
 * The tail cut off where `pruning` says, and the rest brought to a sum of 1 again. Searching in the tail alone, not from
 * bin 0, keeps data that do not begin near 0.
 */
export function prunedTail(shares: Float64Array, pruning: Pruning): Float64Array {
  const kept = shares.slice();
  kept.fill(0, tailStart(shares, pruning));
  const sum = kept.reduce((a, b) => a + b, 0);
  return kept.map((share) => share / sum);
}

function tailStart(shares: Float64Array, { most, run, small }: Pruning): number {
  let bin = 0;
  for (let below = shares[0]!; below <= 1 - most; below += shares[bin]!) bin++;
  let length = 0;
  for (bin++; bin < shares.length; bin++) {
    length = shares[bin]! < small ? length + 1 : 0;
    if (length === run) return bin + 1 - run;
  }
  return shares.length;
}

/**
 * E (v − θ)₊, what clamping to θ = i·max/n is expected to hide of one value, for every i = 0 … n; in units of a bin.
 * Values are spread evenly over their bin.
 */
export function expectedExcess(shares: Float64Array): Float64Array {
  const excess = new Float64Array(shares.length + 1);
  let above = 0;
  for (let i = shares.length - 1; i >= 0; i--) {
    excess[i] = excess[i + 1]! + above + shares[i]! / 2;
    above += shares[i]!;
  }
  return excess;
}

/** The expected excess over a θ between two bins, in bins. */
export function excessAt(shares: Float64Array, theta: number): number {
  const excess = expectedExcess(shares);
  const bin = Math.min(Math.floor(theta), shares.length - 1);
  const part = theta - bin;
  // Within a bin the share above θ falls in proportion, so the excess is a parabola through both ends.
  const slope = excess[bin + 1]! - excess[bin]! - shares[bin]! / 2;
  return excess[bin]! + part * slope + (part * part * shares[bin]!) / 2;
}

/** Cost of θ in squared bins: its mean squared error over random ranges, from its average clipping of a value. */
export type Cost = (theta: number, excess: number) => number;

/**
 *     exact:  (r/3)·(θ²/4)·V + (r²/6)·excess²      V: worst variance of the release mechanism on [−1, 1]
 *     paper:  (r/3)·θ²·V + (r²/24)·excess²         Eq. 8
 *
 * The mean of j² over random ranges is r²/6, and a value on [0, θ] has θ²/4 times the variance on [−1, 1].
 */
export function costOf(mechanism: Mechanism, r: number, objective: Objective): Cost {
  const variance = worstVariance(mechanism) * (objective === "exact" ? 1 : 4); // of a value on [0, 1]
  const k = objective === "exact" ? 6 : 24;
  return (theta, excess) => (r / 3) * theta * theta * variance + ((r * r) / k) * excess * excess;
}

/**
 * The bin edge i that costs least, as θ. With the paper's objective the excess is a sum over grid points t = i·n/(n − 1), as its
 * evaluation takes them.
 */
export function bestThreshold(
  shares: Float64Array,
  mechanism: Mechanism,
  maxRange: number,
  objective: Objective,
): number {
  const costs = thresholdCosts(shares, costOf(mechanism, maxRange, objective), objective);
  let best = 1; // θ = 0 would publish nothing
  for (let i = best; i < costs.length; i++) if (costs[i]! < costs[best]!) best = i;
  return best;
}

/** Cost of every θ: i bins, i = 0 … n, or the paper's n grid points. */
export function thresholdCosts(shares: Float64Array, cost: Cost, objective: Objective): Float64Array {
  if (objective === "exact") return expectedExcess(shares).map((excess, i) => cost(i, excess));
  const n = shares.length;
  const step = n / (n - 1);
  const costs = new Float64Array(n);
  let above = 0;
  let excess = 0;
  for (let i = n - 1; i >= 0; i--) {
    excess += above * step;
    above += shares[i]!;
    costs[i] = cost(i * step, excess);
  }
  return costs;
}
