/** Percentiles and shares against the same answers written another way: explicit weights, min-max averages, Hermite curves. */
import { describe, expect, test } from "vitest";
import { groupSize, meanRankNoise, rankSpread } from "../../src/events/buckets.js";
import { monotone, type NoisyCounts, quantileOf, shareOf } from "../../src/events/quantiles.js";
import { noiseQuantile } from "../../src/stream/answer.js";
import { integers } from "../support/numbers.js";

/** Variance and fourth cumulant of a rank: the weight of every observation, of buckets and of groups, one by one. */
function spreadOf(n: number, g: number, j: number, p: number): { variance: number; fourth: number } {
  const weights: number[] = [];
  for (let start = 0; start < n; start += g === 1 ? n : g) {
    const size = g === 1 ? n : Math.min(g, n - start);
    const wanted = Array.from({ length: size }, (_, i) => (start + i < j ? 1 - p : -p));
    const ofGroup = g === 1 ? 0 : wanted.reduce((sum, a) => sum + a, 0) / (size + 1);
    weights.push(...wanted.map((a) => a - ofGroup), ofGroup);
  }
  const power = (k: number) => weights.reduce((sum, w) => sum + w ** k, 0);
  return { variance: power(2), fourth: power(4) };
}

/** The closest rising sequence by its min-max formula; at least 0, and 0 at the start. */
function rising(values: readonly number[]): number[] {
  const mean = (from: number, to: number) =>
    values.slice(from, to + 1).reduce((sum, x) => sum + x, 0) / (to + 1 - from);
  return values.map((_, k) => {
    if (k === 0) return 0;
    const lowest = (from: number) =>
      Math.min(...values.slice(k).map((_, further) => mean(from, k + further)));
    return Math.max(0, ...values.slice(0, k + 1).map((_, from) => lowest(from)));
  });
}

/** The reference answers for one histogram. */
class Reference {
  readonly #n: number;
  readonly #below: number[];
  readonly #smooth: number[];
  readonly #log: boolean;

  constructor(
    readonly noisy: NoisyCounts,
    readonly confidence: number,
  ) {
    this.#n = noisy.counts.length;
    this.#below = [0];
    for (const count of noisy.counts) this.#below.push(this.#below.at(-1)! + count);
    this.#smooth = rising(this.#below);
    this.#log = noisy.edges[0]! > 0;
  }

  get total(): number {
    return this.#smooth.at(-1)!;
  }

  reach(j: number, p: number): number {
    const { variance, fourth } = spreadOf(this.#n, this.noisy.group, j, p);
    const { spread } = this.noisy;
    const all = { variance: variance * spread.variance, fourth: fourth * spread.fourth };
    return noiseQuantile(this.confidence, all) * all.variance ** 0.5;
  }

  #x(edge: number): number {
    return this.#log ? Math.log(this.noisy.edges[edge]!) : this.noisy.edges[edge]!;
  }

  /** The share of bucket j's events below part u of it: a cubic Hermite curve through the counts below the edges. */
  curve(j: number, u: number): number {
    const last = this.noisy.edges.length;
    const [y0, y1] = [this.#smooth[j]!, this.#smooth[j + 1]!];
    if (j === 0 || j === last || y1 <= y0) return u;
    const width = (k: number) => this.#x(k) - this.#x(k - 1);
    const slope = (k: number) => (this.#smooth[k + 1]! - this.#smooth[k]!) / width(k);
    const tangent = (k: number) => {
      if (k === 1 || k === last) return slope(j);
      if (slope(k - 1) <= 0 || slope(k) <= 0) return 0;
      const [before, after] = [width(k - 1), width(k)];
      return (3 * (before + after)) / ((2 * after + before) / slope(k - 1) + (after + 2 * before) / slope(k));
    };
    const w = width(j);
    const y =
      y0 * (2 * u ** 3 - 3 * u ** 2 + 1) +
      w * tangent(j) * (u ** 3 - 2 * u ** 2 + u) +
      y1 * (3 * u ** 2 - 2 * u ** 3) +
      w * tangent(j + 1) * (u ** 3 - u ** 2);
    return (y - y0) / (y1 - y0);
  }

  /** Where the curve from `from` to `to` over bucket j passes 0. */
  #pass(j: number, from: number, to: number): number {
    const { edges } = this.noisy;
    if (j === 0) return edges[0]!;
    if (j === edges.length) return edges.at(-1)!;
    let [low, high] = [0, 1];
    while (to > from && high - low > 1e-13) {
      const middle = low / 2 + high / 2;
      if (from * (1 - this.curve(j, middle)) + to * this.curve(j, middle) < 0) low = middle;
      else high = middle;
    }
    const u = to > from ? high : 0.5;
    const x = this.#x(j - 1) * (1 - u) + this.#x(j) * u;
    return this.#log ? Math.exp(x) : x;
  }

  quantile(p: number): Record<"value" | "low" | "high" | "from" | "to", number | null> {
    const n = this.#n;
    const deviation = this.#below.map((count) => count - p * this.#below[n]!);
    const upper = deviation.map((d, j) => d + this.reach(j, p));
    const lower = deviation.map((d, j) => d - this.reach(j, p));
    const bottom = upper.slice(0, n).findIndex((d) => d >= 0);
    const first = bottom === -1 ? n : bottom;
    const top =
      n -
      Math.max(
        0,
        lower
          .slice(1)
          .reverse()
          .findIndex((d) => d <= 0),
      );
    const last = lower.slice(1).some((d) => d <= 0) ? top : 0;
    const edge = (place: number) => (place >= 1 && place < n ? this.noisy.edges[place - 1]! : null);
    const inner = (j: number) => j >= 1 && j <= n - 2;
    const low = inner(first - 1) ? this.#pass(first - 1, upper[first - 1]!, upper[first]!) : edge(first - 1);
    const high = inner(last) ? this.#pass(last, lower[last]!, lower[last + 1]!) : edge(last + 1);
    let value: number | null = null;
    if (this.total > 0) {
      const target = p * this.total;
      const found = this.#smooth.slice(1, n).findIndex((count) => count >= target);
      const j = found === -1 ? n - 1 : found;
      value = this.#pass(j, this.#smooth[j]! - target, this.#smooth[j + 1]! - target);
      if (low !== null && value < low) value = low;
      if (high !== null && value > high) value = high;
    }
    return { value, low, high, from: edge(first - 1), to: edge(last + 1) };
  }

  share(x: number): Record<"value" | "low" | "high", number> {
    if (this.total <= 0) return { value: 0.5, low: 0, high: 1 };
    const { edges } = this.noisy;
    const bucket = [...edges].filter((edge) => edge <= x).length;
    let part = 0.5;
    if (bucket > 0 && bucket < edges.length) {
      const at = this.#log ? Math.log(x) : x;
      part = (at - this.#x(bucket - 1)) / (this.#x(bucket) - this.#x(bucket - 1));
    }
    const [a, b] = [this.#smooth[bucket]!, this.#smooth[bucket + 1]!];
    const value = (a + (b - a) * this.curve(bucket, part)) / this.total;
    const reach = Math.max(this.reach(bucket, value), this.reach(bucket + 1, value)) / this.total;
    return { value, low: Math.max(0, value - reach), high: Math.min(1, value + reach) };
  }
}

/** Histograms of many shapes: few and many events, edges above 0 and not, with groups and without. */
function histograms(): NoisyCounts[] {
  return Array.from({ length: 96 }, (_, seed): NoisyCounts => {
    const dice = integers(seed, 40, 1000);
    const n = 3 + Math.abs(dice[0]! % 9);
    const events = [3, 30, 300, 3000][seed % 4]!;
    let edge = seed % 3 === 0 ? -40 : 0.25 + Math.abs(dice[1]!) / 900;
    const edges = Float64Array.from({ length: n - 1 }, (_, i) => (edge += 0.5 + Math.abs(dice[2 + i]!) / 90));
    const counts = Float64Array.from({ length: n }, (_, i) =>
      Math.round((events * (dice[20 + i]! + 700)) / 1000),
    );
    const variance = [0, 2, 50, 800][(seed >> 2) % 4]!;
    const group = [1, 2, 3][(seed >> 4) % 3]!;
    return { counts, edges, group, spread: { variance, fourth: variance ** 2 * (seed % 5) * 0.6 } };
  });
}

/** How far two answers are from each other; infinitely, where one has none. */
function apart(got: number | null, wanted: number | null): number {
  if (got === null || wanted === null) return got === wanted ? 0 : Infinity;
  return Math.abs(got - wanted) / (1 + Math.abs(wanted));
}

describe("against the reference", () => {
  test("percentiles", () => {
    let [inner, worst] = [0, 0];
    for (const noisy of histograms())
      for (const confidence of [0.6, 0.95]) {
        const reference = new Reference(noisy, confidence);
        for (const p of [0.03, 0.3, 0.5, 0.97]) {
          const { value, low, high, edges } = quantileOf(noisy, p, confidence);
          const wanted = reference.quantile(p);
          const distances = [
            apart(value, wanted.value),
            apart(low, wanted.low),
            apart(high, wanted.high),
            apart(edges[0], wanted.from),
            apart(edges[1], wanted.to),
          ];
          worst = Math.max(worst, ...distances);
          if (low !== null && high !== null && low !== edges[0] && high !== edges[1]) inner++;
        }
      }
    expect(worst).toBeLessThan(1e-6); // where a curve is flat, its crossing is known to half the digits
    expect(inner).toBeGreaterThan(100); // bounds inside buckets, not edges alone
  });

  test("shares", () => {
    let worst = 0;
    for (const noisy of histograms()) {
      const reference = new Reference(noisy, 0.9);
      const { edges } = noisy;
      const middles = [...edges].slice(1).map((edge, i) => edges[i]! + 0.37 * (edge - edges[i]!));
      for (const x of [edges[0]! - 1, ...middles, edges[0]!, edges.at(-1)! + 5]) {
        const { value, low, high } = shareOf(noisy, x, 0.9);
        const wanted = reference.share(x);
        worst = Math.max(worst, apart(value, wanted.value), apart(low, wanted.low), apart(high, wanted.high));
      }
    }
    expect(worst).toBeLessThan(1e-12);
  });

  test("the spread of a rank, weight by weight", () => {
    let worst = 0;
    for (let n = 2; n <= 13; n++)
      for (let g = 1; g <= n; g++)
        for (let j = 0; j <= n; j++)
          for (const p of [0, 0.3, 1]) {
            const [got, wanted] = [rankSpread(n, g, j, p), spreadOf(n, g, j, p)];
            worst = Math.max(worst, apart(got.variance, wanted.variance), apart(got.fourth, wanted.fourth));
          }
    expect(worst).toBeLessThan(1e-12);
  });

  test("the size of a group, over all sizes", () => {
    for (const n of [5, 68, 80, 97, 120]) {
      const noise = Array.from({ length: Math.floor(2 * Math.sqrt(n)) }, (_, i) => {
        const places = Array.from(
          { length: n - 1 },
          (_, k) => spreadOf(n, i + 1, k + 1, (k + 1) / n).variance,
        );
        return ((i === 0 ? 1 : 4) * places.reduce((sum, v) => sum + v, 0)) / (n - 1);
      });
      noise.forEach((wanted, i) => expect(meanRankNoise(n, i + 1)).toBeCloseTo(wanted, 9));
      const weighed = noise.map((x, i) => (i === 0 ? (2 / 3) * x : x));
      expect(groupSize(n)).toBe(weighed.indexOf(Math.min(...weighed)) + 1);
    }
  });
});

test("a rising sequence by min-max", () => {
  for (let seed = 0; seed < 100; seed++) {
    const values = [0, ...integers(seed, 9, 50)];
    const got = monotone(Float64Array.from(values));
    expect(Math.max(...rising(values).map((wanted, i) => apart(got[i]!, wanted)))).toBeLessThan(1e-12);
  }
});
