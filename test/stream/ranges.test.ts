import { describe, expect, test } from "vitest";
import { makeAnswer, noiseQuantile } from "../../src/stream/answer.js";
import { RangeIndex } from "../../src/stream/ranges.js";
import { laplaceVariance, rangeSpread } from "../../src/stream/variance.js";
import { normalQuantile } from "../../src/core/normal.js";

const shape = { fanout: 2, levels: 2, blockLength: 4, blocksPerForest: 4, history: 2 };
const scale = 7;

/** Blocks with integer estimates and dyadic predictions, so that every sum is exact and can be compared bit by bit. */
function example(blocks: number, history = 100) {
  const index = new RangeIndex({ ...shape, history }, scale);
  const published: number[] = [];
  const estimates: number[] = [];
  for (let t = 0; t < blocks; t++) {
    const estimate = ((t * 7919) % 101) - 40;
    const perValue = (((t * 31) % 17) - 8) / 4;
    index.add(estimate, perValue);
    estimates.push(estimate);
    published.push(perValue, perValue, perValue, estimate - 3 * perValue);
  }
  return { index, published, estimates };
}

const running = 2.5;

describe("sums", () => {
  test("published: what was published at those positions, across forests and in the running block", () => {
    const { index, published } = example(11);
    const all = [...published, running, running, running]; // three values of an unfinished block
    for (let from = 0; from <= all.length; from++)
      for (let to = from; to <= all.length; to++)
        expect(index.answer(from, to, "published", running).sum).toBe(
          all.slice(from, to).reduce((a, b) => a + b, 0),
        );
  });

  test("best: finished blocks at their own estimate, in proportion; the prediction in the running block", () => {
    const { index, estimates } = example(11);
    const all = [...estimates.flatMap((u) => [u / 4, u / 4, u / 4, u / 4]), running, running];
    for (let from = 0; from <= all.length; from++)
      for (let to = from; to <= all.length; to++)
        expect(index.answer(from, to, "best", running).sum).toBe(
          all.slice(from, to).reduce((a, b) => a + b, 0),
        );
  });

  test("both agree on whole blocks", () => {
    const { index } = example(11);
    for (let from = 0; from <= 44; from += 4)
      for (let to = from; to <= 44; to += 4)
        expect(index.answer(from, to, "best", 0).sum).toBe(index.answer(from, to, "published", 0).sum);
  });

  test("old forests are dropped, the rest stays right, and memory stays bounded", () => {
    const { index, published } = example(4 * 1000 + 2, 2);
    expect(index.oldest).toBe(999 * 16);
    const from = 999 * 16 + 3;
    expect(index.answer(from, 1000 * 16 + 8, "published", 0).sum).toBe(
      published.slice(from, 1000 * 16 + 8).reduce((a, b) => a + b, 0),
    );
    expect(index.bytes).toBeLessThan(1024);
  });
});

describe("spread", () => {
  const node = laplaceVariance(scale);

  test("one forest: the closed form", () => {
    const { index } = example(4);
    expect(index.answer(1, 14, "best", 0).spread).toEqual(rangeSpread(0.25, 3.5, 2, 2, node));
    expect(index.answer(1, 14, "published", 0).spread).toEqual(rangeSpread(0, 3, 2, 2, node));
  });

  test("forests are independent: variances add, whole ones in between count once each", () => {
    const { index } = example(16);
    const parts = [
      rangeSpread(1.5, 4, 2, 2, node),
      rangeSpread(0, 4, 2, 2, node),
      rangeSpread(0, 2.25, 2, 2, node),
    ];
    const want = parts[0]!.variance + 2 * parts[1]!.variance + parts[2]!.variance;
    expect(index.answer(6, 48 + 9, "best", 0).spread.variance).toBeCloseTo(want, 10);
  });

  test("a running block adds none, and before the first block there is none", () => {
    const { index } = example(2);
    expect(index.answer(0, 10, "best", 1).spread).toEqual(index.answer(0, 8, "best", 1).spread);
    expect(new RangeIndex(shape, scale).answer(0, 3, "best", 1)).toEqual({
      sum: 3,
      spread: { variance: 0, fourth: 0 },
    });
  });
});

describe("answers", () => {
  test("scale to units of the stream", () => {
    const answer = makeAnswer(12, 4, { variance: 9, fourth: 0 }, 0.5, 0.95);
    expect(answer).toMatchObject({ sum: 6, mean: 1.5, standardError: 1.5, confidence: 0.95 });
    expect(answer.low).toBeCloseTo(6 - 1.959963984540054 * 1.5, 12);
    expect(answer.high).toBeCloseTo(6 + 1.959963984540054 * 1.5, 12);
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
