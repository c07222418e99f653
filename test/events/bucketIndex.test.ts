/** Sums of columns over ranges of blocks, against the blocks themselves added up. */
import { expect, test } from "vitest";
import { BucketIndex } from "../../src/events/bucketIndex.js";
import { resolveSettings } from "../../src/stream/options.js";
import { Decoder, Encoder } from "../../src/stream/codec.js";
import { sameNoise } from "../../src/stream/stretches.js";
import { laplaceVariance, NO_SPREAD } from "../../src/stream/variance.js";
import { AnswerWeights } from "../../src/stream/weights.js";
import { integers } from "../support/numbers.js";

const COLUMNS = 3;
const SCALE = 2.5;
const shape = (history: number) => {
  const settings = resolveSettings({
    epsilon: 1,
    max: 1,
    threshold: 1,
    holdout: 0,
    maxRange: 16,
    tuning: { fanout: 4, skipLevels: 0 },
  });
  return { ...settings, blocksPerForest: 20, history };
};

const block = (k: number): Float64Array => integers(k, COLUMNS, 1000).map((x) => x / 256);
const filled = (blocks: number, history = 2) => {
  const index = new BucketIndex(shape(history), COLUMNS, SCALE);
  for (let k = 0; k < blocks; k++) index.add(block(k));
  return index;
};

/** Sums over [from, to) by adding parts of blocks; what is not finished counts like the last block. */
function wanted(from: number, to: number, finished: number): number[] {
  return Array.from({ length: COLUMNS }, (_, i) => {
    let sum = 0;
    for (let k = 0; k < to; k++) {
      const part = Math.max(0, Math.min(to, k + 1) - Math.max(from, k));
      sum += part * block(Math.min(k, finished - 1))[i]!;
    }
    return sum;
  });
}

function spread(from: number, to: number, finished: number) {
  const weights = new AnswerWeights(shape(2), { first: NO_SPREAD, weights: undefined });
  weights.addBlocks(Math.min(from, finished), Math.min(to, finished), 1);
  weights.addBlocks(finished - 1, finished, Math.max(0, to - finished) - Math.max(0, from - finished));
  return weights.spread(sameNoise(laplaceVariance(SCALE)));
}

const RANGES = [
  [0, 1],
  [0, 7],
  [2.25, 6.5],
  [3.5, 3.75],
  [19, 21],
  [19.5, 27.25],
  [20, 33],
  [24, 33.5],
  [33.25, 33.75],
] as const;

test.each([1, 7, 20, 21, 33, 40])("after %d blocks", (finished) => {
  const index = filled(finished);
  expect([index.finished, index.oldest]).toEqual([finished, 0]);
  for (const [from, to] of RANGES) {
    if (from > finished) continue;
    const { sums, spread: got } = index.sums(from, to);
    wanted(from, to, finished).forEach((sum, i) => expect(sums[i]).toBeCloseTo(sum, 9));
    expect(got.variance).toBeCloseTo(spread(from, to, finished).variance, 9);
    expect(got.fourth).toBeCloseTo(spread(from, to, finished).fourth, 9);
  }
});

test("nothing before the first block, and nothing in no range", () => {
  const index = new BucketIndex(shape(2), COLUMNS, SCALE);
  expect([index.finished, index.oldest]).toEqual([0, 0]);
  expect(index.sums(0, 3)).toEqual({ sums: new Float64Array(COLUMNS), spread: NO_SPREAD });
  index.add(block(0));
  expect(index.sums(0.5, 0.5)).toEqual({ sums: new Float64Array(COLUMNS), spread: NO_SPREAD });
});

test("old forests go, whole and in order; later ones answer as before", () => {
  for (const [blocks, oldest] of [
    [40, 0],
    [41, 20],
    [60, 20],
    [61, 40],
    [140, 100],
  ] as const) {
    const index = filled(blocks);
    expect([index.finished, index.oldest]).toEqual([blocks, oldest]);
    for (const [from, to] of [
      [oldest, blocks],
      [oldest + 3.5, blocks - 0.25],
      [blocks - 1, blocks + 2.5],
    ] as const)
      wanted(from, to, blocks).forEach((sum, i) => expect(index.sums(from, to).sums[i]).toBeCloseTo(sum, 9));
  }
});

test.each([1, 5, 17, 45, 100])("with room for %d blocks made before, all is the same", (step) => {
  const index = new BucketIndex(shape(2), COLUMNS, SCALE);
  for (let done = 0; done < 130; done += step) {
    index.reserve(step);
    for (let k = done; k < done + step; k++) index.add(block(k));
    const end = done + step;
    const from = index.oldest;
    wanted(from, end, end).forEach((sum, i) => expect(index.sums(from, end).sums[i]).toBeCloseTo(sum, 9));
  }
});

test.each([1, 4, 19, 20, 23, 70])("room for %d blocks is enough: adding them takes no memory", (count) => {
  for (const before of [0, 3, 20, 39, 40, 57]) {
    const index = filled(before, 8);
    index.reserve(count);
    const made = countArrays(() => {
      for (let k = before; k < before + count; k++) index.add(BLOCK);
    });
    expect(made).toBe(0);
  }
});

const BLOCK = block(5);

/** How many arrays of doubles a function makes. */
function countArrays(run: () => void): number {
  const usual = globalThis.Float64Array;
  let made = 0;
  globalThis.Float64Array = new Proxy(usual, {
    construct(target, args, self) {
      made++;
      return Reflect.construct(target, args, self) as object;
    },
  });
  try {
    run();
  } finally {
    globalThis.Float64Array = usual;
  }
  return made;
}

test("arrays double as they fill: 130 blocks of one forest take few", () => {
  const index = new BucketIndex({ ...shape(2), blocksPerForest: 1000 }, COLUMNS, SCALE);
  expect(
    countArrays(() => {
      for (let k = 0; k < 130; k++) index.add(BLOCK);
    }),
  ).toBe(1 + 4); // 16 rows, then 32, 64, 128 and 256
});

test.each([0, 1, 20, 33, 61])("after %d blocks it survives a snapshot", (blocks) => {
  const index = filled(blocks);
  const writer = new Encoder();
  index.save(writer, 256);
  const loaded = new BucketIndex(shape(2), COLUMNS, SCALE);
  const reader = new Decoder(writer.bytes);
  loaded.load(reader, 256);
  expect(reader.atEnd).toBe(true);
  expect([loaded.finished, loaded.oldest]).toEqual([index.finished, index.oldest]);
  for (let k = blocks; k < blocks + 30; k++) {
    expect(loaded.sums(loaded.oldest, k + 0.5)).toEqual(index.sums(index.oldest, k + 0.5));
    index.add(block(k));
    loaded.add(block(k));
  }
});
