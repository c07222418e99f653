/**
 * θ from an estimated distribution (Section 4.1): noise grows with θ, what clamping hides shrinks with it.
 * Everything here is post-processing of ε-LDP reports and public.
 */
import type { Mechanism } from "../core/tables/sectors.js";
import { worstVariance } from "./moments.js";

export type Objective = "exact" | "paper";

/** Where a tail has died out: at a bin above which at most `most` lies, followed by `run` shares below `small`. */
export interface Pruning {
  readonly most: number;
  readonly run: number;
  readonly small: number;
}

/** The paper's: 5 shares below 0.01 %, whatever ε and the number of reports; from the median on, so never half the values. */
export const PAPER_PRUNING: Pruning = { most: 0.5, run: 5, small: 1e-4 };

/**
 * Ours: 3 bins that together hold less than one standard error, with less than ten above them. m reports of randomised response
 * with ε tell a share from 0 by e^(ε/2)/((e^ε − 1)·√m); EM scatters crumbs of that size over the whole domain.
 */
export function noisePruning(epsilon: number, reports: number): Pruning {
  const run = 3;
  const standardError = Math.exp(epsilon / 2) / (Math.expm1(epsilon) * Math.sqrt(reports));
  return { most: Math.min(0.5, 10 * standardError), run, small: standardError / run };
}

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
  for (let below = shares[0]!; below <= 1 - most && bin < shares.length - 1; below += shares[bin]!) bin++;
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

/** The same for a θ between two of these, in bins. */
export function excessAt(shares: Float64Array, theta: number): number {
  const excess = expectedExcess(shares);
  const bin = Math.min(Math.floor(theta), shares.length - 1);
  const part = theta - bin;
  // Within a bin the share above θ falls in proportion, so the excess is a parabola through both ends.
  const slope = excess[bin + 1]! - excess[bin]! - shares[bin]! / 2;
  return excess[bin]! + part * slope + (part * part * shares[bin]!) / 2;
}

/**
 * The exact objective's θ is raised by half of what it has over the smallest values. A cut estimate knows nothing of the rarest
 * ones, and the two errors are not alike: noise shows in every error bar, what clamping hides shows in none. From the smallest
 * values on, not from 0: where all values lie far from 0, their tail is no longer for it.
 */
const MARGIN = 1 / 2;
/** The share of values that counts as the smallest. */
const LEAST = 0.01;

function raised(theta: number, shares: Float64Array): number {
  let low = 0;
  for (let below = shares[0]!; below < LEAST; below += shares[low]!) low++;
  return Math.min(shares.length, Math.ceil(theta + MARGIN * Math.max(0, theta - low)));
}

/**
 * The index i of θ = i·max/n that minimises the mean squared error over random ranges within r values:
 *
 *     exact:  (r/3)·(θ²/4)·V + (r²/6)·E(v − θ)₊²     V: worst variance of the release mechanism on [−1, 1]
 *     paper:  (r/3)·θ²·V + (r²/24)·(Σ_{t>θ} f(t)(t − θ))²   over t = i·max/(n − 1)   (Eq. 8, as measured)
 *
 * The mean of j² over random ranges is r²/6, and a value on [0, θ] has θ²/4 times the variance on [−1, 1].
 */
export function bestThreshold(
  shares: Float64Array,
  mechanism: Mechanism,
  maxRange: number,
  objective: Objective,
): number {
  const costs = objective === "exact" ? exactCosts : paperCosts;
  const cost = costs(shares, 4 * worstVariance(mechanism), maxRange);
  let best = 1; // θ = 0 would publish nothing
  for (let i = best; i < cost.length; i++) if (cost[i]! < cost[best]!) best = i;
  return objective === "exact" ? raised(best, shares) : best;
}

/** Cost of θ = i bins, i = 0 … n, in squared bins. */
export function exactCosts(shares: Float64Array, variance: number, r: number): Float64Array {
  return expectedExcess(shares).map(
    (excess, i) => (r / 3) * (i * i * (variance / 4)) + ((r * r) / 6) * excess * excess,
  );
}

/** Cost of the n grid points t_i = i·n/(n − 1) bins, as the paper's evaluation takes them. */
export function paperCosts(shares: Float64Array, variance: number, r: number): Float64Array {
  const n = shares.length;
  const step = n / (n - 1);
  const cost = new Float64Array(n);
  let above = 0;
  let excess = 0;
  for (let i = n - 1; i >= 0; i--) {
    excess += above * step;
    above += shares[i]!;
    cost[i] = (r / 3) * variance * (i * step) ** 2 + ((r * r) / 24) * excess * excess;
  }
  return cost;
}
