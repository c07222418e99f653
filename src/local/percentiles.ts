/**
 * Bounds on the distribution of the values, from the histogram of Square Wave reports and nothing else: no model, no
 * regularised estimate, so they cover.
 *
 * F(z) is the share of inputs below cell z. An output cell y sees the inputs in (y − W, y], so output bin i, c cells wide, has
 *
 *     G_i = (share_i/c − outside)/(inside − outside) = A_i − (mean of F(z − W) over the bin),   A_i = mean of F(z) over the bin
 *
 * and A_i = 0 below the first bin. F rises, so with s = ⌊W/c⌋ and s′ = ⌈W/c⌉ this telescopes into bounds on every A_i, and from
 * the other end into bounds on H_i = mean of 1 − F(z − W):
 *
 *     Σ_k G_(i−ks′) ≤ A_i ≤ Σ_k G_(i−ks)        Σ_k G_(i+ks′) ≤ H_i ≤ Σ_k G_(i+ks)
 *
 * F at a point is at most the mean of A over any bins above it, and at least the mean over any bins below it. Such a mean is
 * linear in the counts of the reports, which are multinomial: its standard error is exact. Wide windows have less noise and
 * more slack; the width is the one that the estimate predicts to bind best.
 */
import { checkConfidence, ownOptions } from "../core/checks.js";
import { normalQuantile } from "../core/normal.js";
import type { Mechanism } from "../core/tables/sectors.js";
import type { RunOptions } from "./em.js";
import { cellProbabilities } from "./moments.js";

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

/** What the reports say about F: their histogram, and what the estimate expects of it. */
export interface ReportHistogram {
  readonly mechanism: Mechanism;
  /** Reports per output bin. */
  readonly counts: Float64Array;
  /** Shares of reports per output bin by the estimate: they choose windows and give variances. */
  readonly predicted: Float64Array;
}

/** Σ_k values[i ∓ k·step] for all i, as prefix sums: sums over windows of chains in O(1). */
class Chains {
  readonly #prefix: Float64Array;

  constructor(values: Float64Array, step: number) {
    const n = values.length;
    const chained = values.slice();
    if (step > 0) for (let i = step; i < n; i++) chained[i]! += chained[i - step]!;
    else for (let i = n - 1 + step; i >= 0; i--) chained[i]! += chained[i - step]!;
    this.#prefix = new Float64Array(n + 1);
    chained.forEach((value, i) => (this.#prefix[i + 1] = this.#prefix[i]! + value));
  }

  mean(from: number, to: number): number {
    return (this.#prefix[to]! - this.#prefix[from]!) / (to - from);
  }
}

/** One way to bound F: chains of one step, of what came, of what was expected, and of its variance. */
class Bound {
  readonly #came: Chains;
  readonly #expected: Chains;
  readonly #predicted: Chains;
  readonly #reports: number;
  /** c·(inside − outside). */
  readonly #unit: number;
  /** Windows of a chain do not overlap up to this width. */
  readonly #widest: number;

  constructor({ mechanism, counts, predicted }: ReportHistogram, step: number) {
    const n = counts.length;
    const { inside, outside } = cellProbabilities(mechanism);
    const c = (mechanism.top + mechanism.width + 1) / n;
    this.#unit = c * (inside - outside);
    this.#reports = counts.reduce((a, b) => a + b, 0);
    this.#widest = Math.abs(step);
    const centred = (share: number, i: number) => (share - outside * (i === n - 1 ? c - 1 : c)) / this.#unit;
    this.#came = new Chains(
      counts.map((count, i) => centred(count / this.#reports, i)),
      step,
    );
    this.#expected = new Chains(predicted.map(centred), step);
    this.#predicted = new Chains(predicted, step);
  }

  /**
   * The mean over a window of bins beside `edge`, and z standard errors more (or less): of all widths the one that promises
   * most by the estimate. What came has no say in that, so the bound is wrong as seldom as one alone.
   * @param room bins that there are on that side of the edge
   * @param side 1: bins from `edge` on; −1: bins before it
   * @param sign 1: an upper bound; −1: a lower bound
   */
  best(edge: number, room: number, z: number, side: 1 | -1, sign: 1 | -1): Promised {
    let best: Promised = { bound: sign * Infinity, promise: sign * Infinity };
    for (let width = 1; width <= Math.min(room, this.#widest); width *= 2) {
      const [from, to] = side === 1 ? [edge, edge + width] : [edge - width, edge];
      // Weights of 1/(width·unit) on all bins of the window's chains: Σ weights²·g − (Σ weights·g)².
      const covered = this.#predicted.mean(from, to);
      const variance = (covered / width - covered * covered) / (this.#unit * this.#unit * this.#reports);
      const reach = sign * z * Math.sqrt(Math.max(0, variance));
      const promise = this.#expected.mean(from, to) + reach;
      if (sign * (promise - best.promise) < 0) best = { bound: this.#came.mean(from, to) + reach, promise };
    }
    return best;
  }
}

/** A bound, and what the estimate says that it would be. */
interface Promised {
  readonly bound: number;
  readonly promise: number;
}

/** A bound on F from one on 1 − F. */
const complement = ({ bound, promise }: Promised): Promised => ({ bound: 1 - bound, promise: 1 - promise });

const NO_BOUND = { bound: Infinity, promise: Infinity };

/** Bounds on F at any cell, each one wrong with probability (1 − confidence)/2. */
export class SharesBelow {
  readonly #n: number;
  readonly #c: number;
  readonly #width: number;
  readonly #z: number;
  /** Chains of A and of H, by s′ bins; by s bins where that is any. */
  readonly #far: { readonly a: Bound; readonly h: Bound };
  readonly #near: { readonly a: Bound; readonly h: Bound } | undefined;
  /** Where the inputs end. */
  readonly #end: number;

  constructor(histogram: ReportHistogram, confidence: number) {
    const { mechanism, counts } = histogram;
    this.#n = counts.length;
    this.#end = mechanism.top + 1;
    this.#width = mechanism.width;
    this.#c = (this.#end + this.#width) / this.#n;
    this.#z = normalQuantile(confidence);
    const chains = (step: number) => ({ a: new Bound(histogram, step), h: new Bound(histogram, -step) });
    const [near, far] = [Math.floor(this.#width / this.#c), Math.ceil(this.#width / this.#c)];
    this.#far = chains(far);
    this.#near = near === far ? this.#far : near > 0 ? chains(near) : undefined;
  }

  /** F(z) is at most this. */
  upper(z: number): number {
    if (z <= 0) return 0;
    if (z >= this.#end) return 1;
    const [above, beyond] = [Math.ceil((z - 1) / this.#c), Math.ceil((z + this.#width - 1) / this.#c)];
    const byA = this.#near?.a.best(above, this.#n - above, this.#z, 1, 1) ?? NO_BOUND;
    const byH = complement(this.#far.h.best(beyond, this.#n - beyond, this.#z, 1, -1));
    return Math.min(1, Math.max(0, byA.promise < byH.promise ? byA.bound : byH.bound));
  }

  /** F(z) is at least this. */
  lower(z: number): number {
    if (z <= 0) return 0;
    if (z >= this.#end) return 1;
    const [below, before] = [Math.floor(z / this.#c), Math.floor((z + this.#width) / this.#c)];
    const byA = this.#far.a.best(below, below, this.#z, -1, -1);
    const byH = complement(this.#near?.h.best(before, before, this.#z, -1, 1) ?? NO_BOUND);
    return Math.min(1, Math.max(0, byA.promise > byH.promise ? byA.bound : byH.bound));
  }
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
function quantileIn(shares: Float64Array, p: number): number {
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
