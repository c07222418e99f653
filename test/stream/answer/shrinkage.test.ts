import { describe, expect, test } from "vitest";
import { History } from "../../../src/stream/release/history.js";
import { RangeIndex } from "../../../src/stream/answer/rangeIndex.js";
import { Growable } from "../../../src/stream/release/growable.js";
import { deviationVariances, Shrinkage } from "../../../src/stream/answer/shrinkage.js";
import { sameNoise } from "../../../src/stream/release/epochs.js";
import { forestSpread, laplaceVariance, NO_SPREAD } from "../../../src/stream/answer/variance.js";

const prefixOf = (leaves: readonly number[]) => {
  const prefix = new Float64Array(leaves.length + 1);
  leaves.forEach((leaf, i) => (prefix[i + 1] = prefix[i]! + leaf));
  return Growable.of(prefix, prefix.length);
};
const total = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

/** The rule as it is written down: every node moved towards its family, from the trees down to the leaves. */
function shrunkLeaves(leaves: readonly number[], b: number, levels: number, nodeVariance: number): number[] {
  const sigma = deviationVariances(b, levels, nodeVariance);
  const level = [[...leaves]];
  for (let l = 1; l < levels; l++)
    level.push(
      Array.from({ length: leaves.length / b ** l }, (_, i) => total(level[l - 1]!.slice(i * b, i * b + b))),
    );
  /** Families of level l: deviations from their mean, and c. */
  const families = (l: number) => {
    const nodes = level[l]!;
    const size = l === levels - 1 ? nodes.length : b;
    const groups = Array.from({ length: nodes.length / size }, (_, i) =>
      nodes.slice(i * size, i * size + size),
    );
    const deviations = groups.map((group) => group.map((node) => node - total(group) / size));
    const squares = total(
      deviations.map((group) => total(group.map((_, k) => total(group.slice(0, k + 1)) ** 2))),
    );
    const noise = (groups.length * sigma[l]! * (size ** 2 - 1)) / 6;
    return { size, deviations: deviations.flat(), c: squares === 0 ? 0 : Math.max(0, 1 - noise / squares) };
  };
  let means = [total(leaves) / level[levels - 1]!.length]; // what each family gives its members
  let nodes: number[] = [];
  for (let l = levels - 1; l >= 0; l--) {
    const family = families(l);
    if (l < levels - 1) means = nodes.map((node) => node / b);
    nodes = family.deviations.map(
      (deviation, i) => means[Math.floor(i / family.size)]! + family.c * deviation,
    );
  }
  return nodes;
}

/** Numbers that look random, and large swings or none. */
const example = (count: number, swing: number) =>
  Array.from({ length: count }, (_, i) => ((i * 7919) % 101) - 50 + swing * Math.sin(i / 5));

test("four leaves under two trees, worked by hand", () => {
  // b = 2, v = 3: σ_1² = 3, σ_2² = 1/(1/3 + 1/6) = 2. Trees 14 and 6: deviations ±4, S = 16, N = 2·(4−1)/6 = 1, c = 15/16.
  // Leaves 10, 4 | 3, 3: running sums 3 and 0, S = 9, N = 2·3·3/6 = 3, c = 2/3.
  const prefix = prefixOf([10, 4, 3, 3]);
  const shrinkage = new Shrinkage({ fanout: 2, levels: 2 }, 3);
  shrinkage.update(prefix, 4);
  expect(shrinkage.end).toBe(4);
  const sums = [0, 1, 2, 2.5, 3, 4].map((leaves) => shrinkage.sumBefore(leaves, prefix));
  // Trees 13.75 and 6.25; leaves 6.875 ± 2 and 3.125 twice.
  const want = [0, 8.875, 13.75, 15.3125, 16.875, 20];
  sums.forEach((sum, i) => expect(sum).toBeCloseTo(want[i]!, 12));
});

test("equals the rule written out node by node", () => {
  for (const [b, levels, trees] of [
    [2, 1, 2],
    [4, 1, 3],
    [2, 3, 2],
    [3, 3, 3],
    [4, 2, 1],
    [16, 2, 5],
  ] as const)
    for (const swing of [0, 30, 1000]) {
      const leaves = example(trees * b ** (levels - 1), swing);
      const prefix = prefixOf(leaves);
      const shrinkage = new Shrinkage({ fanout: b, levels }, 200);
      shrinkage.update(prefix, leaves.length);
      const want = prefixOf(shrunkLeaves(leaves, b, levels, 200));
      for (let i = 0; i <= leaves.length; i++)
        expect(shrinkage.sumBefore(i, prefix)).toBeCloseTo(want.at(i), 8);
      expect(shrinkage.sumBefore(leaves.length, prefix)).toBeCloseTo(total(leaves), 8);
    }
});

test("tree by tree or all at once: the same bits, so a restored stream answers alike", () => {
  const leaves = example(8 * 64, 20);
  const prefix = prefixOf(leaves);
  const [one, all] = [0, 0].map(() => new Shrinkage({ fanout: 8, levels: 3 }, 90)) as [Shrinkage, Shrinkage];
  for (let count = 1; count <= leaves.length; count++) one.update(prefix, count);
  all.update(prefix, leaves.length);
  for (let at = 0; at <= leaves.length; at += 0.25)
    expect(one.sumBefore(at, prefix)).toBe(all.sumBefore(at, prefix));
});

describe("deviations", () => {
  test("have the variance that least squares leaves them", () => {
    // Two siblings: û_1 − û_2 is unbiased by all above, so its variance is 2σ²; forestSpread knows it for any weights.
    for (const [b, levels] of [
      [2, 4],
      [4, 3],
    ] as const)
      deviationVariances(b, levels, 5).forEach((sigma, l) => {
        const size = b ** l;
        const difference = [
          { from: 0, to: size, weight: 1 },
          { from: size, to: 2 * size, weight: -1 },
        ];
        expect(forestSpread(difference, b, levels, 5).variance / (2 * sigma)).toBeCloseTo(1, 12);
      });
  });

  test("that are all noise vanish, and those far above it stay", () => {
    const prefix = prefixOf(example(256, 0));
    const noise = new Shrinkage({ fanout: 16, levels: 2 }, 1e4);
    noise.update(prefix, 256);
    for (let i = 0; i <= 256; i += 7)
      expect(noise.sumBefore(i, prefix)).toBeCloseTo((prefix.at(256) * i) / 256, 8);
    const signal = new Shrinkage({ fanout: 16, levels: 2 }, 1e-6);
    signal.update(prefix, 256);
    for (let i = 0; i <= 256; i += 7) expect(signal.sumBefore(i, prefix)).toBeCloseTo(prefix.at(i), 4);
  });
});

describe("an index", () => {
  const shape = { fanout: 4, levels: 2, blockLength: 4, blocksPerForest: 16, history: 2 };
  const filled = (count: number) => {
    const blocks = new History(shape);
    for (const estimate of example(count, 300)) blocks.add(estimate, 0);
    blocks.prediction = 2;
    return new RangeIndex(blocks, shape, sameNoise(laplaceVariance(3)), {
      first: NO_SPREAD,
      weights: () => [{ blocks: 1, weight: 1 }],
    });
  };

  test("shrinks finished trees, and leaves the running tree and the running block as they are", () => {
    const index = filled(10); // two trees and two blocks
    const moved = (from: number, to: number) => {
      const { sum, shrunk } = index.answer(from, to, "best");
      expect(sum).toBe(index.answer(from, to, "blocks").sum);
      return shrunk! - sum;
    };
    expect(moved(0, 32)).toBeCloseTo(0, 9);
    expect(moved(0, 7)).not.toBeCloseTo(0, 1);
    expect(moved(32, 43)).toBeCloseTo(0, 9);
  });

  test("shrunk sums stay additive, across forests too", () => {
    const index = filled(16 + 9);
    const shrunk = (from: number, to: number) => index.answer(from, to, "best").shrunk!;
    for (let cut = 1; cut < 100; cut++)
      expect(shrunk(0, cut) + shrunk(cut, 100)).toBeCloseTo(shrunk(0, 100), 8);
  });
});
