/**
 * Bounds on the distribution of the values, from the histogram of window reports and nothing else: no model, no regularised
 * estimate, so they cover.
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
 * F at a point is at most the mean of A over any bins above it, and at least the mean over any bins below it. The chains of a
 * window of bins do not meet, so such a mean follows from one number, how many of n reports fell into all of its bins: a
 * binomial count, with exact bounds (binomialBounds.ts). Wide windows have less noise and more slack; the width is the one that the estimate
 * predicts to bind best.
 */
import type { Mechanism } from "../core/tables/sectors.js";
import { BinomialBounds } from "./binomialBounds.js";
import { cellProbabilities } from "./moments.js";

/** Evidence of the reports about F: their histogram, and the one that the estimate predicts. */
export interface ReportHistogram {
  readonly mechanism: Mechanism;
  /** Reports per output bin. */
  readonly counts: Float64Array;
  /** Shares of reports per output bin by the estimate: they choose windows. */
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

/** One way to bound F: chains of one step, of what came, of what the estimate expects, and of what is noise alone. */
class Bound {
  readonly #came: Chains;
  readonly #predicted: Chains;
  readonly #outside: Chains;
  readonly #reports: number;
  readonly #bounds: BinomialBounds;
  /** c·(inside − outside). */
  readonly #unit: number;
  /** Windows of a chain do not overlap up to this width. */
  readonly #widest: number;

  constructor({ mechanism, counts, predicted }: ReportHistogram, step: number, bounds: BinomialBounds) {
    const n = counts.length;
    const { inside, outside } = cellProbabilities(mechanism);
    const c = (mechanism.top + mechanism.width + 1) / n;
    this.#unit = c * (inside - outside);
    this.#reports = bounds.reports;
    this.#bounds = bounds;
    this.#widest = Math.abs(step);
    this.#came = new Chains(counts, step);
    this.#predicted = new Chains(predicted, step);
    this.#outside = new Chains(
      counts.map((_, i) => outside * (i === n - 1 ? c - 1 : c)),
      step,
    );
  }

  /**
   * The mean over a window of bins beside `edge`, and the bound above it (or below): of all widths the one that promises
   * most by the estimate. What came has no say in that, so the bound is wrong as seldom as one alone.
   * @param room bins that there are on that side of the edge
   * @param side 1: bins from `edge` on; −1: bins before it
   * @param sign 1: an upper bound; −1: a lower bound
   */
  best(edge: number, room: number, side: 1 | -1, sign: 1 | -1): Promised {
    const reports = this.#reports;
    const bounded = (count: number): number =>
      sign === 1 ? this.#bounds.upper(count) : this.#bounds.lower(count);
    let best: Promised = { ...NO_BOUND, bound: sign * Infinity, promise: sign * Infinity };
    for (let width = 1; width <= Math.min(room, this.#widest); width *= 2) {
      const [from, to] = side === 1 ? [edge, edge + width] : [edge - width, edge];
      const noise = this.#outside.mean(from, to);
      const share = (covered: number): number => (covered / width - noise) / this.#unit;
      const promise = share(bounded(width * reports * this.#predicted.mean(from, to)));
      if (sign * (promise - best.promise) >= 0) continue;
      const came = width * this.#came.mean(from, to);
      best = { estimate: share(came / reports), bound: share(bounded(came)), promise };
    }
    return best;
  }
}

/** A bound, the estimate that it is a bound of, and what EM says that the bound would be. */
interface Promised {
  readonly estimate: number;
  readonly bound: number;
  readonly promise: number;
}

/**
 * A bound on a share, and the estimate of which the share strays so far. Both may lie outside of [0, 1]: cut to it, an average of
 * several would be biased, and its distances too short.
 */
export interface ShareBound {
  readonly estimate: number;
  readonly bound: number;
}

export const inUnit = (x: number): number => Math.min(1, Math.max(0, x));
const certain = (share: number): ShareBound => ({ estimate: share, bound: share });

/** A bound on F from one on 1 − F. */
const complement = ({ estimate, bound, promise }: Promised): Promised => ({
  estimate: 1 - estimate,
  bound: 1 - bound,
  promise: 1 - promise,
});

const NO_BOUND: Promised = { estimate: Infinity, bound: Infinity, promise: Infinity };

/** Bounds on F at any cell, each one wrong with probability (1 − confidence)/2. */
export class SharesBelow {
  readonly #n: number;
  readonly #c: number;
  readonly #width: number;
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
    const reports = counts.reduce((a, b) => a + b, 0);
    const bounds = new BinomialBounds(reports, confidence);
    const chains = (step: number) => ({
      a: new Bound(histogram, step, bounds),
      h: new Bound(histogram, -step, bounds),
    });
    const [near, far] = [Math.floor(this.#width / this.#c), Math.ceil(this.#width / this.#c)];
    this.#far = chains(far);
    this.#near = near === far ? this.#far : near > 0 ? chains(near) : undefined;
  }

  /** F(z) is at most this. */
  upper(z: number): number {
    return inUnit(this.above(z).bound);
  }

  /** F(z) is at least this. */
  lower(z: number): number {
    return inUnit(this.below(z).bound);
  }

  /** The upper bound on F(z), with its estimate. */
  above(z: number): ShareBound {
    if (z <= 0) return certain(0);
    if (z >= this.#end) return certain(1);
    const [above, beyond] = [Math.ceil((z - 1) / this.#c), Math.ceil((z + this.#width - 1) / this.#c)];
    const byA = this.#near?.a.best(above, this.#n - above, 1, 1) ?? NO_BOUND;
    const byH = complement(this.#far.h.best(beyond, this.#n - beyond, 1, -1));
    return shareBound(byA.promise < byH.promise ? byA : byH);
  }

  /** The lower bound on F(z), with its estimate. */
  below(z: number): ShareBound {
    if (z <= 0) return certain(0);
    if (z >= this.#end) return certain(1);
    const [below, before] = [Math.floor(z / this.#c), Math.floor((z + this.#width) / this.#c)];
    const byA = this.#far.a.best(below, below, -1, -1);
    const byH = complement(this.#near?.h.best(before, before, -1, 1) ?? NO_BOUND);
    return shareBound(byA.promise > byH.promise ? byA : byH);
  }
}

const shareBound = ({ estimate, bound }: Promised): ShareBound =>
  Number.isFinite(bound) ? { estimate, bound } : certain(inUnit(bound));
