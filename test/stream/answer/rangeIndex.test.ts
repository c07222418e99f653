import { describe, expect, test } from "vitest";
import { makeAnswer, noiseQuantile } from "../../../src/stream/answer/answer.js";
import type { PredictionNoise } from "../../../src/stream/answer/answerWeights.js";
import { History } from "../../../src/stream/release/history.js";
import { RangeIndex } from "../../../src/stream/answer/rangeIndex.js";
import { sameNoise } from "../../../src/stream/release/epochs.js";
import {
  addSpreads,
  forestSpread,
  laplaceVariance,
  scaleSpread,
} from "../../../src/stream/answer/variance.js";
import { normalQuantile } from "../../../src/core/normal.js";
import { arrayBytes } from "../../support/memory.js";

const shape = { fanout: 2, levels: 2, blockLength: 4, blocksPerForest: 4, history: 2 };
const scale = 7;
/** The running block, and how block k ≥ 1 was predicted: as the mean of the last two blocks, or of one. */
const running = 2.5;
const predictions: PredictionNoise = {
  first: { variance: 11, fourth: 121 },
  weights: (block) => [{ blocks: Math.min(2, block), weight: 1 / Math.min(2, block) }],
};

/** Blocks with integer estimates and dyadic predictions, so that every sum is exact and can be compared bit by bit. */
function example(count: number, history = 100) {
  const blocks = new History({ ...shape, history });
  blocks.prediction = running;
  const index = new RangeIndex(blocks, shape, sameNoise(laplaceVariance(scale)), predictions);
  const published: number[] = [];
  const estimates: number[] = [];
  for (let t = 0; t < count; t++) {
    const estimate = ((t * 7919) % 101) - 40;
    const perValue = (((t * 31) % 17) - 8) / 4;
    blocks.add(estimate, perValue);
    estimates.push(estimate);
    published.push(perValue, perValue, perValue, estimate - 3 * perValue);
  }
  return { blocks, index, published, estimates };
}

describe("sums", () => {
  test("published: what was published at those positions, across forests and in the running block", () => {
    const { index, published } = example(11);
    const all = [...published, running, running, running]; // three values of an unfinished block
    for (let from = 0; from <= all.length; from++)
      for (let to = from; to <= all.length; to++)
        expect(index.answer(from, to, "published").sum).toBe(all.slice(from, to).reduce((a, b) => a + b, 0));
  });

  test("blocks: finished blocks at their own estimate, in proportion; the prediction in the running block", () => {
    const { index, estimates } = example(11);
    const all = [...estimates.flatMap((u) => [u / 4, u / 4, u / 4, u / 4]), running, running];
    for (let from = 0; from <= all.length; from++)
      for (let to = from; to <= all.length; to++)
        expect(index.answer(from, to, "blocks").sum).toBe(all.slice(from, to).reduce((a, b) => a + b, 0));
  });

  test("both agree on whole blocks", () => {
    const { index } = example(11);
    for (let from = 0; from <= 44; from += 4)
      for (let to = from; to <= 44; to += 4)
        expect(index.answer(from, to, "blocks").sum).toBe(index.answer(from, to, "published").sum);
  });

  test("old forests are dropped, the rest stays right, and memory stays bounded", () => {
    const before = arrayBytes();
    const kept = Array.from({ length: 200 }, () => example(4 * 1000 + 2, 2).blocks);
    expect((arrayBytes() - before) / kept.length).toBeLessThan(1024);
    const { blocks, index, published } = example(4 * 1000 + 2, 2);
    expect(blocks.oldest).toBe(999 * 16);
    const from = 999 * 16 + 3;
    expect(index.answer(from, 1000 * 16 + 8, "published").sum).toBe(
      published.slice(from, 1000 * 16 + 8).reduce((a, b) => a + b, 0),
    );
  });
});

describe("spread", () => {
  const node = laplaceVariance(scale);
  const { fanout, levels } = shape;
  /** Spread of pieces [from, to, weight] in one forest. */
  const spreadOf = (...pieces: (readonly [number, number, number])[]) =>
    forestSpread(
      pieces.map(([from, to, weight]) => ({ from, to, weight })),
      fanout,
      levels,
      node,
    );

  test("finished blocks: the closed form", () => {
    const { index } = example(4);
    expect(index.answer(1, 14, "blocks").spread).toEqual(spreadOf([0.25, 3.5, 1]));
  });

  test("forests are independent: variances add, whole ones in between count once each", () => {
    const { index } = example(16);
    const parts = [spreadOf([1.5, 4, 1]), spreadOf([0, 4, 1]), spreadOf([0, 2.25, 1])];
    const want = parts[0]!.variance + 2 * parts[1]!.variance + parts[2]!.variance;
    expect(index.answer(6, 48 + 9, "blocks").spread.variance).toBeCloseTo(want, 10);
  });

  test("the running block holds the noise of the blocks that it was predicted from", () => {
    const { index } = example(3); // block 3 is predicted as half of block 1 and half of block 2
    expect(index.answer(0, 14, "blocks").spread).toEqual(spreadOf([0, 1, 1], [1, 3, 1.25]));
    expect(index.answer(12, 13, "blocks").spread).toEqual(spreadOf([1, 3, 0.125]));
    expect(index.answer(12, 13, "published").spread).toEqual(spreadOf([1, 3, 0.125]));
  });

  test("so does the first block of a forest, from the forest before it", () => {
    const { index } = example(4);
    expect(index.answer(16, 18, "blocks").spread).toEqual(spreadOf([2, 4, 0.25]));
  });

  test("published: part of a block counts at its prediction, on both ends", () => {
    const { index } = example(4);
    // [5, 14): block 1 less a quarter of its prediction û_0, block 2, and half of (û_1 + û_2)/2.
    expect(index.answer(5, 14, "published").spread).toEqual(spreadOf([0, 1, -0.25], [1, 3, 1.25]));
    // [9, 11): half of (û_0 + û_1)/2, and block 2 itself is not in it.
    expect(index.answer(9, 11, "published").spread).toEqual(spreadOf([0, 2, 0.25]));
  });

  test("the first block was predicted by the first prediction", () => {
    const empty = example(0).index;
    for (const kind of ["blocks", "published"] as const)
      expect(empty.answer(0, 3, kind)).toEqual({
        cut: true,
        sum: 3 * running,
        spread: { variance: 9 * 11, fourth: 81 * 121 },
      });
    const { index } = example(2);
    expect(index.answer(1, 8, "published").spread).toEqual(
      addSpreads(spreadOf([0, 2, 1]), scaleSpread(predictions.first, 1)),
    );
    expect(index.answer(1, 4, "blocks").spread).toEqual(spreadOf([0.25, 1, 1]));
  });

  test("where a prediction is no weighted sum: at most one block's noise, wholly dependent on the rest", () => {
    const { blocks } = example(2);
    const index = new RangeIndex(blocks, shape, sameNoise(laplaceVariance(scale)), {
      ...predictions,
      weights: undefined,
    });
    const [two, one] = [spreadOf([0, 2, 1]), spreadOf([0, 1, 1])];
    const { variance, fourth } = index.answer(0, 10, "blocks").spread;
    expect(Math.sqrt(variance)).toBeCloseTo(Math.sqrt(two.variance) + Math.sqrt(one.variance) / 2, 12);
    expect(fourth ** 0.25).toBeCloseTo(two.fourth ** 0.25 + one.fourth ** 0.25 / 2, 12);
  });
});

describe("answers", () => {
  test("scale to units of the stream", () => {
    const answer = makeAnswer({ sum: 12, spread: { variance: 9, fourth: 0 } }, 4, 0.5, 0.95);
    expect(answer).toMatchObject({ sum: 6, mean: 1.5, standardError: 1.5, confidence: 0.95 });
    expect(answer.low).toBeCloseTo(6 - 1.959963984540054 * 1.5, 12);
    expect(answer.high).toBeCloseTo(6 + 1.959963984540054 * 1.5, 12);
  });

  const gauss = (sum: number, sd: number) => ({ sum, spread: { variance: sd ** 2, fourth: 0 } });
  const z = 1.959963984540054;
  const bounds = { inside: gauss(40, 2), touched: gauss(90, 3), least: 0, most: 1000 };

  test("reach from the blocks inside to the blocks touched, and half a grid unit a value further", () => {
    const { low, high, sum, standardError } = makeAnswer({ ...gauss(60, 4), bounds }, 10, 0.5, 0.95);
    expect(low).toBeCloseTo((40 - 2 * z - 5) / 2, 12);
    expect(high).toBeCloseTo((90 + 3 * z + 5) / 2, 12);
    expect([sum, standardError]).toEqual([30, 2]);
  });

  test("stay within what values between 0 and θ can sum to", () => {
    const answer = (sum: number) =>
      makeAnswer(
        { ...gauss(sum, 4), bounds: { inside: gauss(sum, 4), touched: gauss(sum, 4), least: 0, most: 100 } },
        ...([10, 1, 0.95] as const),
      );
    expect(answer(1)).toMatchObject({ sum: 1, low: 0 });
    expect(answer(99)).toMatchObject({ sum: 99, high: 100 });
    expect(answer(-50)).toMatchObject({ low: 0, high: 0 });
    expect(answer(500)).toMatchObject({ low: 100, high: 100 });
  });

  test("are never empty, though noise puts what is touched far below what is inside", () => {
    const crossed = { ...bounds, inside: gauss(90, 1), touched: gauss(40, 1) };
    const { low, high, sum } = makeAnswer({ ...gauss(60, 1), shrunk: 60, bounds: crossed }, 0, 1, 0.95);
    expect([low, high]).toEqual([40 + z, 90 - z]);
    expect(sum).toBe(60);
  });

  test("a shrunk sum moves by at most 1.5 standard errors, and not out of the interval", () => {
    const value = (shrunk: number, confidence = 0.95) =>
      makeAnswer(
        { ...gauss(60, 4), shrunk, bounds: { ...bounds, inside: gauss(60, 4), touched: gauss(60, 4) } },
        ...([0, 1, confidence] as const),
      );
    expect(value(61).sum).toBe(61);
    expect(value(70).sum).toBe(66);
    expect(value(0).sum).toBe(54);
    const narrow = value(70, 0.1);
    expect(narrow.high).toBeLessThan(61);
    expect(narrow.sum).toBe(narrow.high);
  });

  test("without bounds lie around what was measured", () => {
    const { sum, low, high } = makeAnswer({ ...gauss(60, 4), shrunk: 64 }, 10, 1, 0.95);
    expect([sum, low, high]).toEqual([64, 60 - 4 * z, 60 + 4 * z]);
  });

  test("normal quantiles", () => {
    // R: qnorm((1 + c)/2)
    const known = [
      [0.5, 0.674489750196082],
      [0.8, 1.2815515655446],
      [0.95, 1.95996398454005],
      [0.99, 2.5758293035489],
      [0.999999, 4.89163847569878],
    ] as const;
    for (const [confidence, z] of known) expect(normalQuantile(confidence)).toBeCloseTo(z, 9);
  });

  test("a single Laplace variable has Laplace quantiles", () => {
    // P(|X| ≤ x) = 1 − exp(−x/t), standard deviation √2·t.
    expect(noiseQuantile(0.95, { variance: 2, fourth: 4 })).toBeCloseTo(Math.log(20) / Math.SQRT2, 12);
  });

  test("sums of n equal Laplace variables: within 0.03 standard deviations of the exact quantile", () => {
    // With t = 1, P(|X| > x) = e^(−x)·p(x), for n = 2: p = 1 + x/2; for n = 4: 1 + 11x/16 + 3x²/16 + x³/48.
    const tails: [number, (x: number) => number][] = [
      [2, (x) => 1 + x / 2],
      [4, (x) => 1 + (11 / 16) * x + (3 / 16) * x ** 2 + x ** 3 / 48],
    ];
    for (const [n, polynomial] of tails)
      for (const confidence of [0.9, 0.95, 0.99]) {
        let x = 1;
        for (let i = 0; i < 200; i++) x = Math.log(polynomial(x) / (1 - confidence));
        const exact = x / Math.sqrt(2 * n);
        expect(Math.abs(noiseQuantile(confidence, { variance: 2 * n, fourth: 4 * n }) - exact)).toBeLessThan(
          0.03,
        );
      }
  });
});
