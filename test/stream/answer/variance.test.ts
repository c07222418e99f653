import { describe, expect, test } from "vitest";
import { levelCount, skippedLevels } from "../../../src/stream/levels.js";
import optG from "../../vectors/opt_g.json" with { type: "json" };
import {
  boundSpreads,
  forestSpread,
  laplaceVariance,
  meanVariance,
  scaleSpread,
} from "../../../src/stream/answer/variance.js";

/** Var and Σc⁴ of a query by solving the least-squares problem densely: c = W X (XᵀWX)⁻¹ q. */
function dense(q: readonly number[], fanout: number, levels: number, nodeVariance: number) {
  const n = q.length;
  const rows: number[][] = [];
  for (let l = 0; l < levels; l++)
    for (let start = 0; start < n; start += fanout ** l)
      rows.push(q.map((_, i) => (i >= start && i < start + fanout ** l ? 1 : 0)));
  const normal = q.map((_, i) => q.map((__, j) => rows.reduce((sum, row) => sum + row[i]! * row[j]!, 0)));
  const x = solve(normal, [...q]);
  const c = rows.map((row) => row.reduce((sum, value, i) => sum + value * x[i]!, 0));
  return {
    variance: c.reduce((sum, value) => sum + value ** 2, 0) * nodeVariance,
    fourth: c.reduce((sum, value) => sum + value ** 4, 0) * nodeVariance ** 2,
  };
}

function solve(matrix: number[][], right: number[]): number[] {
  const n = right.length;
  const a = matrix.map((row, i) => [...row, right[i]!]);
  for (let i = 0; i < n; i++) {
    for (let r = i + 1; r < n; r++) {
      const factor = a[r]![i]! / a[i]![i]!;
      for (let k = i; k <= n; k++) a[r]![k]! -= factor * a[i]![k]!;
    }
  }
  const x = new Array<number>(n).fill(0);
  for (let i = n - 1; i >= 0; i--) {
    let sum = a[i]![n]!;
    for (let k = i + 1; k < n; k++) sum -= a[i]![k]! * x[k]!;
    x[i] = sum / a[i]![i]!;
  }
  return x;
}

const indicator = (n: number, from: number, to: number) =>
  Array.from({ length: n }, (_, i) => Math.max(0, Math.min(to, i + 1) - Math.max(from, i)));

/** One range that counts 1 a leaf. */
const rangeSpread = (from: number, to: number, fanout: number, levels: number, nodeVariance: number) =>
  forestSpread([{ from, to, weight: 1 }], fanout, levels, nodeVariance);

describe("forestSpread", () => {
  test("one level, worked by hand: three leaves of variance 8", () => {
    expect(rangeSpread(1, 4, 4, 1, 8)).toEqual({ variance: 24, fourth: 192 });
  });

  test("two leaves under a top node, worked by hand", () => {
    // Leaf: (XᵀX)⁻¹ = [[2, −1], [−1, 2]]/3, so variance 2/3 of a node's; both leaves: 2/3·2 − 2/3 = 2/3.
    expect(rangeSpread(0, 1, 2, 2, 1).variance).toBeCloseTo(2 / 3, 14);
    expect(rangeSpread(0, 2, 2, 2, 1).variance).toBeCloseTo(2 / 3, 14);
  });

  test("equals the dense least-squares solution for every kind of range", () => {
    for (const [fanout, levels] of [
      [2, 3],
      [3, 2],
      [4, 2],
      [2, 4],
      [4, 3],
    ] as const) {
      const n = fanout ** levels;
      const cuts = [0, 0.25, 1, 1.5, fanout - 1, fanout, fanout + 0.75, n / 2, n - 1.125, n - 1, n];
      for (const from of cuts)
        for (const to of cuts)
          if (from < to) {
            const got = rangeSpread(from, to, fanout, levels, 3);
            const want = dense(indicator(n, from, to), fanout, levels, 3);
            // Elimination loses at most a few digits of sixteen on these sizes.
            expect(got.variance / want.variance).toBeCloseTo(1, 10);
            expect(got.fourth / want.fourth).toBeCloseTo(1, 10);
          }
    }
  });
});

describe("pieces", () => {
  const pieces = [
    { from: 0.5, to: 3, weight: 1 },
    { from: 3, to: 3.25, weight: -2 },
    { from: 7, to: 12.5, weight: 0.125 },
    { from: 14, to: 16, weight: 3 },
  ];

  test("equal the dense solution for weights of any size and sign", () => {
    for (const [fanout, levels] of [
      [2, 4],
      [4, 2],
      [16, 1],
    ] as const) {
      const query = new Array<number>(16).fill(0);
      for (const { from, to, weight } of pieces)
        indicator(16, from, to).forEach((share, i) => (query[i]! += weight * share));
      const got = forestSpread(pieces, fanout, levels, 3);
      const want = dense(query, fanout, levels, 3);
      expect(got.variance / want.variance).toBeCloseTo(1, 10);
      expect(got.fourth / want.fourth).toBeCloseTo(1, 10);
    }
  });

  test("a bound holds whatever two errors have in common", () => {
    const [a, b] = [
      { variance: 4, fourth: 16 },
      { variance: 9, fourth: 81 },
    ];
    expect(boundSpreads(a, b)).toEqual({ variance: 25, fourth: 625 }); // the same noise, 2 and 3 times
    expect(scaleSpread(a, 3)).toEqual({ variance: 36, fourth: 1296 });
  });
});

describe("meanVariance", () => {
  test("equals the average of forestSpread over all ranges of values", () => {
    for (const [fanout, levels, skipped, values] of [
      [2, 3, 0, 8],
      [2, 2, 1, 8],
      [4, 2, 1, 64],
      [3, 2, 1, 27],
    ] as const) {
      const leaf = fanout ** skipped;
      let sum = 0;
      let count = 0;
      for (let from = 0; from < values; from++)
        for (let to = from + 1; to <= values; to++, count++)
          sum += rangeSpread(from / leaf, to / leaf, fanout, levels, 2 * levels ** 2).variance;
      expect(meanVariance(values, fanout, levels, skipped)).toBeCloseTo(sum / count, 9);
    }
  });

  test("at 2^20 values and fan-out 16 it is a third of what Eq. 4 says", () => {
    const constants = [0, 1, 2, 3].map((s) => Math.round(meanVariance(2 ** 20, 16, 5 - s, s)));
    expect(constants).toEqual([1196, 606, 256, 76]);
  });
});

test("the variance of discrete Laplace noise", () => {
  for (const t of [0.1, 1, 7]) {
    let sum = 0;
    let mass = 0;
    for (let k = -2000; k <= 2000; k++) {
      sum += k * k * Math.exp(-Math.abs(k) / t);
      mass += Math.exp(-Math.abs(k) / t);
    }
    expect(laplaceVariance(t) / (sum / mass)).toBeCloseTo(1, 12);
  }
  expect(laplaceVariance(1e6) / 2e12).toBeCloseTo(1, 9);
});

describe("levels", () => {
  test("are counted with integers", () => {
    expect([16, 17, 256, 257, 4096, 2 ** 20, 2 ** 20 + 1].map((r) => levelCount(r, 16))).toEqual([
      1, 2, 2, 3, 3, 5, 6,
    ]);
    expect([2, 3, 4, 5, 2 ** 20].map((r) => levelCount(r, 2))).toEqual([1, 2, 2, 3, 20]);
  });

  test("skipped by Eq. 7 and by the exact cost", () => {
    const epsilons = [0.01, 0.05, 0.1, 0.5, 1];
    expect(epsilons.map((epsilon) => skippedLevels("paper", epsilon, 2 ** 20, 16))).toEqual([3, 2, 2, 2, 1]);
    expect([0.01, 0.05, 0.1, 0.2].map((epsilon) => skippedLevels("auto", epsilon, 2 ** 20, 16))).toEqual([
      3, 3, 3, 3,
    ]);
  });

  test("Eq. 7 against its minimum over whole s, for fifteen ε", () => {
    for (const { epsilon, best_integer_s_0_to_4: best } of optG.cases)
      expect(skippedLevels("paper", epsilon, 2 ** 20, 16)).toBe(best);
  });

  test("a number is taken as it is, if the hierarchy has it", () => {
    expect(skippedLevels(2, 1, 2 ** 20, 16)).toBe(2);
    expect(() => skippedLevels(5, 1, 2 ** 20, 16)).toThrow("from 0 to 4 (maxRange has 5 levels), got 5");
  });
});
