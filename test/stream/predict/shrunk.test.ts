import { describe, expect, test } from "vitest";
import { privateStream, restore, type StreamOptions } from "../../../src/index.js";
import { familyVariances, shrunk } from "../../../src/stream/predict/smoothers/shrunk.js";
import { forestSpread } from "../../../src/stream/answer/variance.js";
import { saved } from "../../support/saved.js";
import { driftingStream } from "../../support/streams.js";

/** b = 2, L = 2, node variance 3: σ_0² = 3, σ_1² = W_1 = 2, V_1 = 3·1·1/2 + 2/4 = 2. */
const tiny = {
  unit: 1,
  least: 0,
  fanout: 2,
  levels: 2,
  blocksPerForest: 4,
  blockLength: 4,
  first: 10,
  largest: Infinity,
};

test("two families of two blocks, worked by hand", () => {
  const smoother = shrunk(tiny, 0);
  smoother.next(13, 3); // no family has ended: nothing is deferred
  expect(smoother.deferred).toBe(0);
  smoother.next(11, 3); // the family ends: μ = 12; S_1 = (13 − 10)² = 9
  expect(smoother.deferred).toBe(0);
  // The second family begins with 16: S_1 = 9 + ½·(16 − 9) = 12.5, d = (12.5 − 2)/1, c = 10.5/12.5 = 0.84.
  smoother.next(16, 3);
  expect(smoother.deferred).toBeCloseTo(0.16 * (16 - 12), 12);
  smoother.next(16, 3);
  expect(smoother.deferred).toBe(0);
});

test("no move is larger than two standard deviations of the noise", () => {
  const smoother = shrunk({ ...tiny, first: 0 }, 0);
  for (let block = 0; block < 32; block++) smoother.next(0, 3);
  // x = 3√V after families of zeros: S_1 = x²/8, d = V/8, c = 1/9, and (1 − c)·x = 2.67 √V.
  smoother.next(3 * Math.sqrt(2), 3);
  expect(smoother.deferred).toBeCloseTo(2 * Math.sqrt(2), 12);
});

test("a forest that ends inside a family: nothing is deferred, and the family says what the one before it did", () => {
  const smoother = shrunk({ ...tiny, blocksPerForest: 5 }, 0);
  const families = tiny.levels + 1; // the place of this expert
  const predictions = 3 + tiny.levels + (tiny.levels + 2);
  for (const estimate of [13, 11, 16, 20]) smoother.next(estimate, 3);
  smoother.next(30, 3); // the last block of the forest is the first one of its family
  expect(smoother.deferred).toBe(0);
  expect(saved(smoother)[predictions + families]).toBe((16 + 20) / 2);
  // The next forest begins a family: it knows nothing of that block.
  smoother.next(40, 3);
  smoother.next(44, 3);
  expect(saved(smoother)[predictions + families]).toBe((40 + 44) / 2);
});

test("V_k is the variance of the first k children of a family, as least squares has it", () => {
  const [b, levels, nodeVariance] = [4, 4, 5];
  const variances = familyVariances(b, levels);
  for (let g = 0; g < levels - 1; g++)
    for (let k = 1; k < b; k++) {
      const children = [{ from: 0, to: k * b ** g, weight: 1 }];
      const want = forestSpread(children, b, levels, nodeVariance).variance;
      expect(nodeVariance * variances[g]![k]!).toBeCloseTo(want, 10);
    }
});

describe("a period", () => {
  const wave = (length: number) => (block: number) => 100 + 80 * Math.sin((2 * Math.PI * block) / length);
  const after = (period: number, data: (block: number) => number) => {
    const smoother = shrunk(tiny, period);
    let prediction = NaN;
    for (let block = 0; block < 60; block++) prediction = smoother.next(data(block), 1e4);
    return prediction;
  };

  test("gives the block one period ago, which is the best expert on data that repeat", () => {
    expect(after(24, wave(6))).toBeCloseTo(wave(6)(60), 9); // six blocks of four values
    expect(after(0, wave(6))).not.toBeCloseTo(wave(6)(60), 0);
  });

  test("shorter than two blocks looks at the last one too", () => {
    const smoother = shrunk(tiny, 6); // 1.5 blocks
    for (let block = 0; block < 10; block++) smoother.next(block ** 2, 3);
    const experts = tiny.levels + 3; // the period is the last of them
    const predictions = saved(smoother).slice(3 + tiny.levels + experts, 3 + tiny.levels + 2 * experts);
    expect(predictions.at(-1)).toBe((8 ** 2 + 9 ** 2) / 2); // block 10 began 1.5 blocks after the middle of block 8
  });

  test("that is no whole number of blocks lies between two of them", () => {
    expect(after(26, wave(6.5))).toBeCloseTo((wave(6.5)(53) + wave(6.5)(54)) / 2, 9);
  });
});

describe("a stream", () => {
  const options: StreamOptions = {
    ...{ epsilon: 0.5, max: 100, threshold: 60, maxRange: 60 * 4, history: Infinity, unsafeSeed: "shrunk" },
    ...{ smoother: "shrunk", tuning: { fanout: 4, skipLevels: 1 } },
  };
  const values = driftingStream(1000, 100, "shrunk");

  test("finished trees and forests sum exactly to their estimates, blocks need not", () => {
    const stream = privateStream(options);
    const published = stream.pushMany(values);
    const sum = (from: number, to: number) => published.slice(from, to).reduce((a, b) => a + b, 0);
    // Trees of 16 blocks of 4; the forest of 60 blocks ends inside its fourth tree.
    for (const [from, to] of [
      [0, 64],
      [64, 192],
      [128, 192],
      [0, 240],
      [240, 304],
      [0, 480],
      [192, 240],
    ] as const)
      // prettier-ignore
      expect(stream.range(from, to, { answer: "blocks" }).sum).toBe(sum(from, to));
    let different = 0;
    for (let from = 0; from < 960; from += 4)
      if (stream.range(from, from + 4, { answer: "blocks" }).sum !== sum(from, from + 4)) different++;
    expect(different).toBeGreaterThan(100);
  });

  test("published sums are what was published, and published again in every bit", () => {
    const stream = privateStream(options);
    const published = stream.pushMany(values);
    expect(stream.published(0, 1000)).toEqual(published);
    for (let from = 0; from < 1000; from += 37)
      for (let to = from; to <= 1000; to += 41)
        expect(stream.range(from, to, { answer: "published" }).sum).toBe(
          published.slice(from, to).reduce((a, b) => a + b, 0),
        );
  });

  test("one by one, in batches, on both cores and after a restore: the same bits", async () => {
    const want = privateStream(options).pushMany(values);
    const one = privateStream({ ...options, core: "js" });
    expect(Float64Array.from(values, (value) => one.push(value)!)).toEqual(want);
    const key = new Uint8Array(32).fill(3);
    for (const smoother of ["shrunk", { period: 50 }] as const) {
      const other = { ...options, smoother, history: 480, name: "restored" };
      let stream = privateStream(other);
      const whole = privateStream(other).pushMany(values);
      for (let from = 0; from < 1000; from += 97) {
        expect(stream.pushMany(values.slice(from, from + 97))).toEqual(whole.slice(from, from + 97));
        stream = await restore(await stream.snapshot(key), key, other);
        const oldest = Math.max(0, stream.length - 240);
        expect(stream.published(oldest, stream.length)).toEqual(whole.slice(oldest, stream.length));
      }
    }
  });

  test("predictions are made again and not written: a snapshot is little longer than with recent", async () => {
    const key = new Uint8Array(32).fill(3);
    const size = async (smoother: "recent" | "shrunk") => {
      const stream = privateStream({ ...options, smoother, maxRange: 4096 });
      stream.pushMany(driftingStream(4096, 100, "size"));
      return (await stream.snapshot(key)).length;
    };
    expect(await size("shrunk")).toBeLessThan((await size("recent")) + 1500); // 1024 blocks
  });
});
