/** Which counts speak for a range, by hand. */
import { describe, expect, test } from "vitest";
import { Decoder, Encoder } from "../../../src/snapshot/codec.js";
import { partLikeHeldOut, partOfTree } from "../../../src/stream/answer/clipping.js";
import { type CountedTree, TreeCounts } from "../../../src/stream/release/treeCounts.js";

const shape = { blockLength: 10, scale: 4, epsilon: 0.5, largest: 100 };
const heldOut = { count: 7, values: 300 };
/** Trees of 4 blocks, the third one cut short by the end of its forest; the second has the largest θ. */
const TREES: readonly CountedTree[] = [
  { first: 0, end: 4, theta: 20, count: 3 },
  { first: 4, end: 8, theta: 100, count: 2 },
  { first: 8, end: 10, theta: 50, count: -1 },
];
const [first, third] = [
  { count: 3, values: 40 },
  { count: -1, values: 20 },
];

function counts(list: readonly CountedTree[] = TREES, oldest = 0): TreeCounts {
  const made = new TreeCounts();
  made.replace(made.followedBy(list), oldest);
  return made;
}

describe("the parts of a range", () => {
  const parts = (from: number, to: number, running = 60) =>
    counts().partsOf(from, to, running, heldOut, shape);

  test("each tree counts for its values in the range, and nothing is above the largest θ", () => {
    expect(parts(0, 100)).toEqual([partOfTree(20, 40, first, 4), partOfTree(50, 20, third, 4)]);
    expect(parts(39, 81)).toEqual([partOfTree(20, 1, first, 4), partOfTree(50, 1, third, 4)]);
    expect(parts(40, 80)).toEqual([]);
    expect(parts(95, 99)).toEqual([partOfTree(50, 4, third, 4)]);
  });

  test("held-out values speak for what comes after the last tree, unless θ is the largest there", () => {
    expect(parts(99, 103)).toEqual([partOfTree(50, 1, third, 4), partLikeHeldOut(60, 3, heldOut, 0.5)]);
    expect(parts(100, 101)).toEqual([partLikeHeldOut(60, 1, heldOut, 0.5)]);
    expect(parts(110, 150)).toEqual([partLikeHeldOut(60, 40, heldOut, 0.5)]);
    expect(parts(110, 150, 100)).toEqual([]);
    expect(parts(110, 150, 99)).toHaveLength(1);
  });

  test("before any tree has ended they speak for all", () => {
    expect(counts([]).partsOf(0, 9, 60, heldOut, shape)).toEqual([partLikeHeldOut(60, 9, heldOut, 0.5)]);
  });
});

test("trees that end before the oldest block are forgotten", () => {
  const kept = (oldest: number) => counts(TREES, oldest).followedBy([]);
  expect([0, 3, 4, 7, 8, 9, 10].map((oldest) => kept(oldest).length)).toEqual([3, 3, 2, 2, 1, 1, 0]);
  expect(kept(4)).toEqual(TREES.slice(1));
});

test("they are saved and loaded", () => {
  const writer = new Encoder();
  counts().save(writer);
  const loaded = new TreeCounts();
  loaded.load(new Decoder(writer.bytes));
  expect(loaded.followedBy([])).toEqual(TREES);
});
