/** Which noise contributes to an answer if noise changes from epoch to epoch: added up group by group. */
import { describe, expect, test } from "vitest";
import type { NodeNoise } from "../../../src/stream/release/epochs.js";
import {
  addSpreads,
  boundSpreads,
  forestSpread,
  NO_SPREAD,
  scaleSpread,
} from "../../../src/stream/answer/variance.js";
import { AnswerWeights, firstSpread } from "../../../src/stream/answer/answerWeights.js";

/** Trees of 4 blocks in forests of 10: the third tree of a forest is cut short. */
const shape = { fanout: 4, levels: 2, blockLength: 16, blocksPerForest: 10 };
const STARTS = [0, 4, 10, 18, 24];
const startOf = (block: number) => STARTS.findLast((start) => start <= block)!;
const noise: NodeNoise = {
  startOf,
  endOf: (block) => STARTS.find((start) => start > block) ?? Infinity,
  varianceAt: (block) => 100 + 7 * startOf(block),
};
const first = { variance: 3, fourth: 2 };

/** One piece after the other, each cut where a forest or an epoch ends, and grouped by both. */
function byGroups(pieces: readonly { from: number; to: number; weight: number }[]) {
  const groups = new Map<string, { from: number; to: number; weight: number }[]>();
  for (const { from, to, weight } of pieces)
    for (let block = Math.floor(from); block < to; block++) {
      const forest = Math.floor(block / 10);
      const key = `${forest} ${startOf(block)}`;
      const piece = {
        from: Math.max(from, block) - 10 * forest,
        to: Math.min(to, block + 1) - 10 * forest,
        weight,
      };
      groups.set(key, [...(groups.get(key) ?? []), piece]);
    }
  return [...groups].reduce(
    (sum, [key, list]) =>
      addSpreads(sum, forestSpread(list, 4, 2, noise.varianceAt(Number(key.split(" ")[1])))),
    NO_SPREAD,
  );
}

const close = (have: { variance: number; fourth: number }, want: { variance: number; fourth: number }) => {
  expect(have.variance / want.variance).toBeCloseTo(1, 12);
  expect(have.fourth / want.fourth).toBeCloseTo(1, 12);
};

describe("blocks that count at their own estimates", () => {
  test.each([
    [0, 3],
    [0, 4],
    [3, 5],
    [2.5, 17.25],
    [0, 10],
    [10, 40],
    [24, 70],
    [0, 70],
    [30, 60],
    [29.5, 60.5],
    [26, 27],
  ])("from %d to %d", (from, to) => {
    const weights = new AnswerWeights(shape, { first, weights: undefined });
    weights.addBlocks(from, to, 1.5);
    weights.addBlocks(from, from, 9); // nothing
    close(weights.spread(noise), byGroups([{ from, to, weight: 1.5 }]));
  });

  test("pieces of several weights, also in one forest", () => {
    const weights = new AnswerWeights(shape, { first, weights: undefined });
    weights.addBlocks(1, 8, 1);
    weights.addBlocks(5, 33, -0.5);
    weights.addBlocks(8, 9, 1);
    close(
      weights.spread(noise),
      byGroups([
        { from: 1, to: 5, weight: 1 },
        { from: 5, to: 9, weight: 0.5 },
        { from: 9, to: 33, weight: -0.5 },
      ]),
    );
  });
});

describe("predictions", () => {
  test("of the first block: the first prediction, for each of its values", () => {
    const weights = new AnswerWeights(shape, { first, weights: undefined });
    weights.addPrediction(0, 0.25);
    weights.addPrediction(7, 0);
    close(weights.spread(noise), scaleSpread(first, 4));
  });

  test("that are weighted sums: the blocks that they came from, newest first", () => {
    const past = [
      { blocks: 2, weight: 0.375 },
      { blocks: 1, weight: 0.25 },
    ];
    const weights = new AnswerWeights(shape, { first, weights: (block) => (block === 6 ? past : []) });
    weights.addPrediction(6, -2);
    close(
      weights.spread(noise),
      byGroups([
        { from: 3, to: 4, weight: -0.5 },
        { from: 4, to: 6, weight: -0.75 },
      ]),
    );
  });

  test.each([1, 3, 4, 5, 10, 11, 18, 24, 25])(
    "of block %d that are no weighted sums: at most the noise of one block like the one before, whatever it has in common",
    (block) => {
      const weights = new AnswerWeights(shape, { first, weights: undefined });
      weights.addBlocks(0, 2, 1);
      weights.addPrediction(block, -0.5);
      const one = forestSpread([{ from: 0, to: 1, weight: 1 }], 4, 2, noise.varianceAt(block - 1));
      close(
        weights.spread(noise),
        boundSpreads(byGroups([{ from: 0, to: 2, weight: 1 }]), scaleSpread(one, 0.5)),
      );
    },
  );
});

test("noise in the first prediction: of a mean of so many values, or half of Θ without any", () => {
  const q = Math.exp(-0.5 / 40);
  const variance = (2 * q) / (1 - q) ** 2 / 25;
  close(firstSpread(5, 40, 0.5), { variance, fourth: variance ** 2 });
  expect(firstSpread(0, 40, 0.5)).toEqual({ variance: 400, fourth: 0 });
});
