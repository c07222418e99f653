/** Bounds on the distribution against the same bounds written another way: one weight per output bin, no prefix sums. */
import { expect, test } from "vitest";
import type { Mechanism } from "../../src/core/tables/sectors.js";
import { BinomialBounds } from "../../src/local/binomialBounds.js";
import { squareWave } from "../../src/local/mechanisms.js";
import { cellProbabilities } from "../../src/local/moments.js";
import { type ReportHistogram, SharesBelow } from "../../src/local/sharesBelow.js";
import { quantileOf, shareOf } from "../../src/local/percentiles.js";
import { integers } from "../support/numbers.js";

const BINS = 16;
const CONFIDENCE = 0.8;

interface Bound {
  readonly bound: number;
  readonly promise: number;
}

/** The reference: every bound that the theory allows, and the one that promises most. */
class Reference {
  readonly #n: number;
  readonly #c: number;
  readonly #reports: number;

  constructor(readonly histogram: ReportHistogram) {
    const { mechanism, counts } = histogram;
    this.#n = counts.length;
    this.#c = (mechanism.top + 1 + mechanism.width) / this.#n;
    this.#reports = counts.reduce((sum, count) => sum + count, 0);
  }

  /** Σ weights·G from how many reports the bins of equal weights hold, and the bound on that. */
  #combine(weights: readonly number[], sign: number): Bound {
    const { mechanism, counts, predicted } = this.histogram;
    const { inside, outside } = cellProbabilities(mechanism);
    const c = this.#c;
    const unit = c * (inside - outside);
    const weight = Math.max(...weights);
    const sum = (of: (i: number) => number) =>
      weights.reduce((total, w, i) => total + (w > 0 ? of(i) : 0), 0);
    const uniform = sum((i) => outside * (i < this.#n - 1 ? c : c - 1));
    const bounds = new BinomialBounds(this.#reports, CONFIDENCE);
    const bound = (count: number) =>
      (weight * ((sign === 1 ? bounds.upper(count) : bounds.lower(count)) - uniform)) / unit;
    return {
      bound: bound(sum((i) => counts[i]!)),
      promise: bound(this.#reports * sum((i) => predicted[i]!)),
    };
  }

  /** Means of windows of 1, 2, 4, … bins that begin (or end) at `edge`, each bin with all that lie `step` further and further. */
  #windows(edge: number, side: 1 | -1, step: number, sign: 1 | -1): Bound[] {
    const found: Bound[] = [];
    for (let width = 1; width <= Math.abs(step); width *= 2) {
      const from = side === 1 ? edge : edge - width;
      if (from < 0 || from + width > this.#n) break;
      const weights = Array<number>(this.#n).fill(0);
      for (let i = from; i < from + width; i++)
        for (let k = i; k >= 0 && k < this.#n; k -= step) weights[k]! += 1 / width;
      found.push(this.#combine(weights, sign));
    }
    return found;
  }

  #steps(): [near: number, far: number] {
    const steps = this.histogram.mechanism.width / this.#c;
    return [Math.floor(steps), Math.ceil(steps)];
  }

  upper(z: number): number {
    const { top, width } = this.histogram.mechanism;
    if (z <= 0 || z > top) return z <= 0 ? 0 : 1;
    const [near, far] = this.#steps();
    const byA = this.#windows(Math.ceil((z - 1) / this.#c), 1, near, 1);
    const byH = this.#windows(Math.ceil((z + width - 1) / this.#c), 1, -far, -1);
    return choose([...byA, ...byH.map(complement)], 1);
  }

  lower(z: number): number {
    const { top, width } = this.histogram.mechanism;
    if (z <= 0 || z > top) return z <= 0 ? 0 : 1;
    const [near, far] = this.#steps();
    const byA = this.#windows(Math.floor(z / this.#c), -1, far, -1);
    const byH = this.#windows(Math.floor((z + width) / this.#c), -1, -near, 1);
    return choose([...byA, ...byH.map(complement)], -1);
  }
}

const complement = ({ bound, promise }: Bound): Bound => ({ bound: 1 - bound, promise: 1 - promise });

/** Chooses the upper bound with the lowest promise, or the lower bound with the highest, cut to [0, 1]. */
function choose(bounds: readonly Bound[], sign: 1 | -1): number {
  const [best] = [...bounds].sort((a, b) => sign * (a.promise - b.promise));
  return Math.min(1, Math.max(0, best?.bound ?? (sign === 1 ? 1 : 0)));
}

/** Shares of reports per output bin, cell by cell, when all inputs of a bin are as likely. */
function reportShares(mechanism: Mechanism, weights: readonly number[]): Float64Array {
  const { top, width } = mechanism;
  const { inside, outside } = cellProbabilities(mechanism);
  const total = weights.reduce((sum, x) => sum + x, 0);
  const shares = new Float64Array(BINS);
  for (let y = 0; y < top + width; y++) {
    let favoured = 0; // inputs from y − width + 1 to y
    for (let x = Math.max(0, y - width + 1); x <= Math.min(top, y); x++)
      favoured += weights[Math.floor((x * BINS) / (top + 1))]! / total / BINS;
    shares[Math.floor((y * BINS) / (top + 1 + width))]! += outside + (inside - outside) * favoured;
  }
  return shares;
}

/** Reports of uneven distributions, and an estimate that is not the truth. */
function histograms(): ReportHistogram[] {
  return [0.1, 0.7, 1.5, 3, 6, 24].flatMap((epsilon, k) =>
    [1000, 1e8].map((reports, size) => {
      const dice = integers(10 * k + size, 2 * BINS, 100);
      const mechanism = squareWave(epsilon, BINS, BINS);
      const predicted = reportShares(
        mechanism,
        [...dice.slice(0, BINS)].map((x) => Math.max(0, x + 20)),
      );
      const counts = predicted.map((share, i) => Math.round(reports * share * (1 + dice[BINS + i]! / 4000)));
      return { mechanism, counts, predicted };
    }),
  );
}

test("bounds at every cell", () => {
  const seen = new Set<number>();
  for (const histogram of histograms()) {
    const below = new SharesBelow(histogram, CONFIDENCE);
    const reference = new Reference(histogram);
    const cells = Array.from({ length: BINS * BINS + 3 }, (_, z) => z - 1);
    const wrong = cells.filter(
      (z) =>
        !(Math.abs(below.upper(z) - reference.upper(z)) < 1e-9) ||
        !(Math.abs(below.lower(z) - reference.lower(z)) < 1e-9),
    );
    expect(wrong).toEqual([]);
    for (const z of cells) seen.add(below.upper(z)).add(below.lower(z));
  }
  expect(seen.size).toBeGreaterThan(250); // neither 0 nor 1 alone
});

const SHARES = Float64Array.of(0, 0, 0.1, 0.2, 0.05, 0, 0.25, 0.4);
const MAX = 50;

test("percentiles: the first and the last bin that a bound allows", () => {
  for (const histogram of histograms()) {
    const reference = new Reference(histogram);
    const bin = (BINS * BINS) / SHARES.length;
    for (const p of [0.02, 0.1, 0.35, 0.5, 0.9]) {
      const low = SHARES.findIndex((_, j) => reference.upper(bin * (j + 1)) >= p);
      let high = SHARES.length;
      while (high - 1 > low && reference.lower(bin * (high - 1)) > p) high--;
      // Where the shares below reach p: bins before, and a part of this one.
      const starts = [...SHARES].map((_, j) => SHARES.slice(0, j).reduce((sum, share) => sum + share, 0));
      const j = starts.findLastIndex((start, i) => start < p && SHARES[i]! > 0);
      const value = ((j + (p - starts[j]!) / SHARES[j]!) * MAX) / SHARES.length;
      const [from, to] = [(low * MAX) / SHARES.length, (high * MAX) / SHARES.length];
      const got = quantileOf(histogram, SHARES, MAX, p, CONFIDENCE);
      expect(got).toMatchObject({ p, low: from, high: to, confidence: CONFIDENCE });
      expect(got.value).toBeCloseTo(Math.min(to, Math.max(from, value)), 9);
    }
  }
});

test("shares: bounds at the cells beside x, and the estimate between them", () => {
  for (const histogram of histograms()) {
    const reference = new Reference(histogram);
    for (const x of [-3, 0, 0.01, 7, 12.5, 31.3, 49.99, 50, 51]) {
      const place = Math.min(MAX, Math.max(0, x)) / MAX;
      const cells = place * BINS * BINS;
      const low = reference.lower(Math.floor(cells));
      const high = x > MAX ? 1 : reference.upper(Math.ceil(cells));
      let value = 0;
      for (let j = 0; j < SHARES.length; j++) {
        const [from, to] = [j / SHARES.length, (j + 1) / SHARES.length];
        if (place >= to) value += SHARES[j]!;
        else if (place > from) value += (SHARES[j]! * (place - from)) / (to - from);
      }
      const got = shareOf(histogram, SHARES, MAX, x, CONFIDENCE);
      expect(got).toMatchObject({ x, confidence: CONFIDENCE });
      expect(got.low).toBeCloseTo(low, 9);
      expect(got.high).toBeCloseTo(high, 9);
      expect(got.value).toBeCloseTo(Math.min(high, Math.max(low, value)), 9);
    }
  }
});
