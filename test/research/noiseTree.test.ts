import { expect, test } from "vitest";
import { noiseTree } from "../../research/noiseTree.js";

const shape = { epsilon: 0.5, theta: 100, fanout: 2, unsafeSeed: "tree" } as const;

test("two leaves and a top, worked by hand", () => {
  const { drawn, consistent } = noiseTree({ ...shape, levels: 2 });
  // Least squares shares a third of what the top has over its leaves.
  const share = (drawn[2]! - drawn[0]! - drawn[1]!) / 3;
  expect(consistent[0]).toBeCloseTo(drawn[0]! + share, 9);
  expect(consistent[1]).toBeCloseTo(drawn[1]! + share, 9);
  expect(consistent[2]).toBeCloseTo(drawn[2]! - share, 9);
});

test.each([
  [2, 4],
  [4, 3],
  [16, 2],
])("fan-out %i, %i levels: every node is the sum of its children, on both cores alike", (fanout, levels) => {
  const { drawn, consistent } = noiseTree({ ...shape, fanout, levels, core: "js" });
  expect(noiseTree({ ...shape, fanout, levels, core: "wasm" })).toEqual({ drawn, consistent });
  const leaves = fanout ** (levels - 1);
  for (let node = leaves, child = 0; node < consistent.length; node++, child += fanout)
    expect(consistent.subarray(child, child + fanout).reduce((a, b) => a + b)).toBeCloseTo(
      consistent[node]!,
      6,
    );
  expect(Array.from(drawn).every(Number.isInteger)).toBe(true);
});
