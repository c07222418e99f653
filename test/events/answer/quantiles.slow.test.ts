import { describe, expect, test } from "vitest";
import { integers } from "../../support/numbers.js";
import {
  bucketCounts,
  bucketOf,
  groupSize,
  meanRankNoise,
  rankSpread,
  resolveEdges,
} from "../../../src/events/answer/buckets.js";
import { monotone, type NoisyCounts, quantileOf, shareBelow } from "../../../src/events/answer/quantiles.js";

describe("edges", () => {
  test("between a smallest and a largest value every bucket is wider by the same factor", () => {
    expect(Array.from(resolveEdges({ min: 1, max: 16, buckets: 4 }), (edge) => edge.toFixed(9))).toEqual(
      [1, 2, 4, 8, 16].map((edge) => edge.toFixed(9)),
    );
    expect(resolveEdges({ min: 1, max: 10_000 })).toHaveLength(65);
    expect(resolveEdges({ min: 1, max: 10_000, buckets: 4096 })).toHaveLength(4097);
  });

  test.each<[unknown, string]>([
    [[1], "edges: expected 2 to 4097 numbers, got 1"],
    [[1, 3, 2], "edges[2]: expected finite numbers in ascending order, got 3 before 2"],
    [[1, 1], "edges[1]: expected finite numbers in ascending order, got 1 before 1"],
    [[NaN, 1], "edges[0]: expected finite numbers in ascending order, got NaN"],
    [[0, Infinity], "edges[1]: expected finite numbers in ascending order"],
    [Array.from({ length: 4098 }, (_, i) => i), "got 4098"],
    [{ min: 0, max: 5 }, "edges.min: expected a finite number above 0, got 0"],
    [{ min: 5, max: 5 }, "edges.max: expected more than edges.min = 5, got 5"],
    [{ min: 1, max: 2, buckets: 0 }, "edges.buckets: expected a whole number from 1 to 4096, got 0"],
    [{ min: 1, max: 1 + 1e-15, buckets: 64 }, "ascending"],
    [{ from: 1 }, 'edges: unknown option "from"'],
    [undefined, "edges: expected an object of options"],
  ])("%j are refused", (edges, message) => {
    expect(() => resolveEdges(edges)).toThrow(message);
  });

  test("a value on an edge is in the bucket that begins there", () => {
    const edges = Float64Array.of(-1, 0, 10);
    expect([-5, -1, -0.5, -0, 0, 9.99, 10, 1e300].map((x) => bucketOf(edges, x))).toEqual([
      0, 1, 1, 2, 2, 2, 3, 3,
    ]);
  });

  test("any number of edges, every value counted against all of them", () => {
    for (let count = 2; count <= 70; count++) {
      const edges = Float64Array.from({ length: count }, (_, i) => 2 * i);
      const values = Array.from({ length: 2 * count + 2 }, (_, i) => i - 1);
      expect(values.map((x) => bucketOf(edges, x))).toEqual(
        values.map((x) => edges.filter((edge) => edge <= x).length),
      );
    }
  });
});

describe("groups", () => {
  /** (XᵀX)⁻¹ of buckets and their groups by Gaussian elimination: the covariance that least squares has. */
  function covariance(n: number, g: number): number[][] {
    const a = Array.from({ length: n }, (_, i) =>
      Array.from({ length: 2 * n }, (_, j) =>
        j < n
          ? (i === j ? 1 : 0) + (g > 1 && Math.floor(i / g) === Math.floor(j / g) ? 1 : 0)
          : j - n === i
            ? 1
            : 0,
      ),
    );
    for (let i = 0; i < n; i++) {
      const pivot = a[i]![i]!;
      a[i] = a[i]!.map((x) => x / pivot);
      for (let r = 0; r < n; r++) {
        if (r === i) continue;
        const factor = a[r]![i]!;
        a[r] = a[r]!.map((x, k) => x - factor * a[i]![k]!);
      }
    }
    return a.map((row) => row.slice(n));
  }

  test.each([
    [7, 1],
    [7, 3],
    [12, 4],
    [9, 2],
  ])("the variance of a rank among %d buckets in groups of %d is that of least squares", (n, g) => {
    const matrix = covariance(n, g);
    for (const [j, p] of [
      [0, 0.3],
      [2, 0.5],
      [5, 0.95],
      [n, 0],
    ] as const) {
      const weights = Array.from({ length: n }, (_, i) => (i < j ? 1 - p : -p));
      const exact = weights.reduce(
        (sum, a, i) => sum + weights.reduce((part, b, k) => part + a * b * matrix[i]![k]!, 0),
        0,
      );
      expect(rankSpread(n, g, j, p).variance).toBeCloseTo(exact, 10);
    }
  });

  test("counts with groups solve the normal equations", () => {
    const [n, g] = [7, 3];
    const columns = Float64Array.of(4, -1, 2, 9, 3, 3, 5, /* groups */ 8, 12, 4);
    const counts = bucketCounts(columns, n, g);
    for (let i = 0; i < n; i++) {
      const group = Math.floor(i / g);
      const inGroup = Array.from(counts.slice(group * g, (group + 1) * g)).reduce((sum, c) => sum + c, 0);
      // ∂/∂c_i of Σ(x − c)² + Σ(d − Σc)² = 0
      expect(columns[i]! - counts[i]! + (columns[n + group]! - inGroup)).toBeCloseTo(0, 12);
    }
    expect(bucketCounts(columns, n, 1)).toEqual(columns.slice(0, n));
  });

  test("are taken where they save a third of the noise of a rank", () => {
    expect([10, 66, 130, 258, 1026].map(groupSize)).toEqual([1, 1, 10, 13, 27]);
    expect(meanRankNoise(66, 6) / meanRankNoise(66, 1)).toBeCloseTo(0.87, 2);
    expect(meanRankNoise(1026, 27) / meanRankNoise(1026, 1)).toBeCloseTo(0.24, 2);
  });
});

test("pool adjacent violators, worked by hand", () => {
  // 3, 1 → 2, 2;  5, 4, 3 → 4, 4, 4
  expect([...monotone(Float64Array.of(0, 3, 1, 5, 4, 3, 9))]).toEqual([0, 2, 2, 4, 4, 4, 9]);
  expect([...monotone(Float64Array.of(0, -4, 2))].map((x) => x || 0)).toEqual([0, 0, 2]);
});

const noisy = (counts: number[], edges: number[], variance = 0): NoisyCounts => ({
  counts: Float64Array.from(counts),
  edges: Float64Array.from(edges),
  group: 1,
  spread: { variance, fourth: 0 },
});

describe("percentiles", () => {
  test("of evenly spread values are where they should be, within whole buckets", () => {
    const even = noisy([0, 1000, 1000, 1000, 1000, 0], [-2, -1, 0, 1, 2]);
    expect(quantileOf(even, 0.9, 0.95).value).toBeCloseTo(1.6, 9);
    expect(quantileOf(even, 0.9, 0.95)).toMatchObject({ low: 1, high: 2 });
    expect(quantileOf(even, 0.4, 0.95)).toMatchObject({ low: -1, high: 0 });
  });

  test("where exactly the share p is below an edge, both buckets beside it are possible", () => {
    const halves = noisy([0, 1000, 1000, 0], [1, 2, 3]);
    expect(quantileOf(halves, 0.5, 0.95)).toMatchObject({ low: 1, high: 3 });
    expect(quantileOf(halves, 0.5, 0.95).value).toBeCloseTo(2, 9);
  });

  test("outside all edges there is no bound, and so no value", () => {
    const outside = noisy([500, 0, 500], [1, 2]);
    expect(quantileOf(outside, 0.2, 0.95)).toEqual({ p: 0.2, value: null, low: null, high: 1 });
    expect(quantileOf(outside, 0.8, 0.95)).toEqual({ p: 0.8, value: null, low: 2, high: null });
  });

  test("of too few events say so", () => {
    const few = noisy([1, -3, 2, 1, -2], [1, 2, 4, 8], 100);
    expect(quantileOf(few, 0.5, 0.95)).toEqual({ p: 0.5, value: null, low: null, high: null });
    expect(shareBelow(noisy([-1, 0, 0], [1, 2], 1), 1.5, 0.95)).toEqual({
      x: 1.5,
      value: null,
      low: 0,
      high: 1,
    });
  });

  test("more noise makes intervals wider", () => {
    const counts = [100, 300, 800, 300, 100];
    const width = (variance: number) => {
      const { low, high } = shareBelow(noisy(counts, [1, 2, 4, 8], variance), 2, 0.95);
      return high - low;
    };
    expect(width(400)).toBeGreaterThan(1.9 * width(100));
  });

  test("a curve through neighbouring buckets comes nearer than a line", () => {
    // Exponential values with mean 1: the median is ln 2, in the middle of a wide bucket.
    const edges = [0, 0.5, 1, 1.5, 2, 2.5, 3, 4, 6, 9];
    const below = (x: number) => 1 - Math.exp(-x);
    const counts = edges.map((edge, i) => 1e6 * (below(edge) - (i === 0 ? 0 : below(edges[i - 1]!))));
    const value = quantileOf(noisy([...counts, 1e6 * Math.exp(-9)], edges), 0.5, 0.95).value!;
    const line = 0.5 + (0.5 * (0.5 - below(0.5))) / (below(1) - below(0.5));
    expect(Math.abs(value - Math.LN2)).toBeLessThan(0.4 * Math.abs(line - Math.LN2));
  });

  test("shares below a value: on an edge by its buckets alone, inside a bucket allowing for all of it", () => {
    const even = noisy([0, 1000, 1000, 1000, 1000, 0], [-2, -1, 0, 1, 2], 1);
    expect(shareBelow(even, 1, 0.95).value).toBeCloseTo(0.75, 9);
    expect(shareBelow(even, 1, 0.95).high).toBeLessThan(0.76);
    expect(shareBelow(even, 1.5, 0.95)).toMatchObject({ value: 0.875 });
    expect(
      [shareBelow(even, 1.5, 0.95).low, shareBelow(even, 1.5, 0.95).high].map((x) => Math.round(100 * x)),
    ).toEqual([75, 100]);
    expect(shareBelow(even, -7, 0.95).low).toBe(0);
    expect(shareBelow(even, 5, 0.95).high).toBe(1);
  });
});

/** Discrete Laplace noise from a counter mixed well enough for shares of thousands. */
function laplaceNoise(seed: number, length: number, t: number): number[] {
  return Array.from(integers(seed, 2 * length, 2 ** 30), (x) => (Math.abs(x) + 0.5) / (2 ** 30 + 1)).reduce<
    number[]
  >(
    (out, u, i, all) =>
      i % 2 === 0 ? [...out, Math.floor(-t * Math.log(u)) - Math.floor(-t * Math.log(all[i + 1]!))] : out,
    [],
  );
}

describe("intervals hold for any data, ties included", () => {
  const edges = [1, 2, 4, 8, 16];
  const shapes: Record<string, number[]> = {
    "all in one bucket": [0, 0, 400, 0, 0, 0],
    "at both ends": [200, 0, 0, 0, 0, 200],
    even: [60, 60, 60, 60, 60, 60],
    few: [1, 0, 3, 1, 0, 2],
    tail: [300, 80, 15, 4, 1, 0],
  };
  const RUNS = 2000;
  // 95 % less five standard errors: one false alarm in 10⁶ fresh seeds.
  const LEAST = 0.95 - 5 * Math.sqrt((0.95 * 0.05) / RUNS);

  test.each(Object.keys(shapes))("%s", (name) => {
    const counts = shapes[name]!;
    const total = counts.reduce((sum, n) => sum + n, 0);
    for (const p of [0.1, 0.5, 0.95]) {
      let [held, share] = [0, 0];
      // The quantile lies in the first bucket whose events reach the share p.
      let bucket = 0;
      for (let sum = counts[0]!; sum < p * total; sum += counts[++bucket]!);
      const [bottom, top] = [edges[bucket - 1] ?? -Infinity, edges[bucket] ?? Infinity];
      const below = counts.slice(0, 3).reduce((sum, n) => sum + n, 0) / total;
      for (let run = 0; run < RUNS; run++) {
        const noise = laplaceNoise(run * 7 + 1, counts.length, 4);
        const released = noisy(
          counts.map((n, i) => n + noise[i]!),
          edges,
          2 * 16 - 1 / 6,
        );
        const spread = { ...released, spread: { variance: 31.83, fourth: 31.83 ** 2 + 31.83 / 3 } };
        const { low, high } = quantileOf(spread, p, 0.95);
        if ((low ?? -Infinity) <= bottom && (high ?? Infinity) >= top) held++;
        const found = shareBelow(spread, 4, 0.95);
        if (found.low <= below && below <= found.high) share++;
      }
      expect(held / RUNS).toBeGreaterThan(LEAST);
      expect(share / RUNS).toBeGreaterThan(LEAST);
    }
  });
});
