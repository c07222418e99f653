/** Trees are linear in their noise, so their variance is compared with their whole noise matrix: nothing is sampled. */
import { describe, expect, test } from "vitest";
import { BinaryTree, monotone } from "../../../research/systems/binary.js";
import type { Draws } from "../../../research/systems/draws.js";
import { KARY, karyLevels, KarySubtraction } from "../../../research/systems/karySubtraction.js";
import { leafAt, SmoothBinary, smoothHeight } from "../../../research/systems/smoothBinary.js";
import { noiseMatrix, spreadBy, spreadError } from "../../support/noiseMatrix.js";

const silent: Draws = { take: () => 0, spread: { variance: 1, fourth: 1 } };
const binary = (draws: Draws) => new BinaryTree(5, draws, false);
const honaker = (draws: Draws) => new BinaryTree(5, draws, true);
const kary = (draws: Draws) => new KarySubtraction(2, draws);
const smooth = (draws: Draws) => new SmoothBinary(6, draws);

describe.each([
  ["binary", binary, 32],
  ["Honaker", honaker, 32],
  ["k-ary", kary, 180],
  ["smooth binary", smooth, 19],
] as const)("%s", (_, make, horizon) => {
  test("without noise every prefix is the sum so far", () => {
    const mechanism = make(silent);
    let sum = 0;
    for (let t = 1; t <= horizon; t++) expect(mechanism.push((t * 7) % 11)).toBe((sum += (t * 7) % 11));
  });

  test("the variance it states is the variance it has, for every range", () => {
    expect(spreadError(make, horizon)).toBeLessThan(1e-9);
  });

  test("one noise 5 % smaller than stated is seen", () => {
    // The first noise is in some prefix with a weight of at least 1/4, so the variance falls by 0.0975/16 or more.
    let count = 0;
    const broken = (draws: Draws) =>
      make({ ...draws, take: () => draws.take() * (count++ === 0 ? 0.95 : 1) });
    const withCount = (draws: Draws) => ((count = 0), broken(draws));
    expect(spreadError(withCount, horizon)).toBeGreaterThan(0.005);
  });
});

/** Each value moves as many nodes as the sensitivity says: the least-squares shift of the noise that hides it is no longer. */
describe("sensitivity", () => {
  test.each([
    ["binary", (draws: Draws) => new BinaryTree(3, draws, false), 8, 3],
    ["Honaker", (draws: Draws) => new BinaryTree(3, draws, true), 8, 3],
    ["k-ary", (draws: Draws) => new KarySubtraction(2, draws), 24, 2],
    ["smooth binary", (draws: Draws) => new SmoothBinary(4, draws), 5, 2],
  ] as const)(
    "%s: a value hides behind noise whose squares sum to the number of its nodes",
    (_, make, T, nodes) => {
      const matrix = noiseMatrix(make, T);
      for (let j = 1; j <= T; j++) {
        const step = Array.from({ length: T }, (_, t) => (t + 1 >= j ? 1 : 0));
        expect(leastNorm(matrix, step)).toBeLessThanOrEqual(nodes + 1e-9);
      }
    },
  );

  /** min ‖s‖² with Σ_columns s_c·column = target, by conjugate gradients on the normal equations. */
  function leastNorm(matrix: readonly number[][], target: readonly number[]): number {
    const T = target.length;
    const gram = Array.from({ length: T }, (_, a) =>
      Array.from({ length: T }, (_, b) => matrix.reduce((sum, c) => sum + c[a + 1]! * c[b + 1]!, 0)),
    );
    let [x, r] = [new Array<number>(T).fill(0), [...target]];
    let p = [...r];
    const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, v, i) => sum + v * b[i]!, 0);
    for (let step = 0; step < 20 * T && dot(r, r) > 1e-24; step++) {
      const q = gram.map((row) => dot(row, p));
      const alpha = dot(r, r) / dot(p, q);
      const next = r.map((v, i) => v - alpha * q[i]!);
      const beta = dot(next, next) / dot(r, r);
      x = x.map((v, i) => v + alpha * p[i]!);
      p = next.map((v, i) => v + beta * p[i]!);
      r = next;
    }
    expect(dot(r, r)).toBeLessThan(1e-18);
    return dot(x, target); // ‖s‖² = xᵀ·G·x
  }
});

test("Honaker: a node of 2^j values has variance σ²/(2(1 − 2^−(j+1)))", () => {
  const matrix = noiseMatrix(honaker, 16);
  for (let j = 0; j <= 4; j++)
    expect(spreadBy(matrix, 0, 2 ** j).variance).toBeCloseTo(1 / (2 * (1 - 2 ** -(j + 1))), 12);
});

test("k-ary: the mean number of nodes is h(k − 1/k)/4", () => {
  const mechanism = new KarySubtraction(2, silent);
  let nodes = 0;
  for (let t = 1; t <= 180; t++) nodes += mechanism.spread(0, t).variance;
  expect((2 * nodes) / (2 * 180 + 1)).toBeCloseTo((2 * (KARY - 1 / KARY)) / 4, 12); // −180 … 180: all pairs of digits once
  expect([9, 10, 180, 181, 2 ** 20].map(karyLevels)).toEqual([1, 2, 2, 3, 5]);
});

test("smooth binary: every prefix has h/2 nodes, and leaves follow one another", () => {
  expect([1, 2, 5, 6, 19, 20, 2 ** 20].map(smoothHeight)).toEqual([2, 4, 4, 6, 6, 8, 24]);
  const matrix = noiseMatrix(smooth, 19);
  for (let t = 1; t <= 19; t++) expect(spreadBy(matrix, 0, t).variance).toBe(3);
  expect([0, 1, 2, 3, 4, 5].map((t) => leafAt(4, t).toString(2))).toEqual([
    "11",
    "101",
    "110",
    "1001",
    "1010",
    "1100",
  ]);
  expect(() => smoothHeight(2 ** 28)).toThrow("maxRange: the smooth binary mechanism takes at most");
});

describe("monotone", () => {
  test("with 0 and 1 every step is 0 or 1, and no error is larger than the largest so far", () => {
    let state = 1;
    const dice = () => (state = (state * 48271) % 2147483647);
    const noisy: Draws = { take: () => (dice() % 21) - 10, spread: silent.spread };
    const inner = new BinaryTree(10, noisy, false);
    let [raw, last, truth, worst] = [0, 0, 0, 0];
    const mechanism = monotone({ push: (x) => (raw = inner.push(x)), spread: () => silent.spread }, 1);
    for (let t = 0; t < 1024; t++) {
      const x = dice() % 3 === 0 ? 1 : 0;
      const published = mechanism.push(x);
      worst = Math.max(worst, Math.abs(raw - (truth += x)));
      expect([0, 1]).toContain(published - last);
      expect(Math.abs(published - truth)).toBeLessThanOrEqual(worst);
      last = published;
    }
    expect(worst).toBeGreaterThan(5); // the raw counts were far from monotone
  });
});
