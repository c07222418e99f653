import { expect, test } from "vitest";
import type { Core } from "../../src/core/core.js";
import { jsCore } from "../../src/core/js/index.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { BucketForests } from "../../src/events/bucketForests.js";
import { resolveSettings } from "../../src/stream/options.js";

const key = unsafeKey("buckets");
const COLUMNS = 7;

/** Forests of trees with 2^(levels − 1) leaves; the last tree of a forest covers hardly a block if `blocks` says so. */
const settingsOf = (blocks: number) =>
  resolveSettings({
    ...{ epsilon: 1, max: 10, maxRange: blocks, threshold: 10 },
    tuning: { fanout: 2, skipLevels: 0 },
  });

const forests = (core: Core, blocks: number, block: number) =>
  new BucketForests(core, key, settingsOf(blocks), COLUMNS, 1, 256, block);

test.each([2 ** 5, 2 ** 4 + 1, 2 ** 4 + 9, 2 ** 15 + 1])(
  "forests of %i blocks: the same noise ahead as when it is due",
  (blocks) => {
    const walking = forests(jsCore, blocks, 0);
    const sums = new Float64Array(COLUMNS).fill(5);
    const checked = blocks < 100 ? 1 : 9973;
    for (let block = 0; block < Math.min(5 * blocks, 70_000); block++) {
      const estimates = walking.estimate(block, sums);
      if (block % checked === 0)
        expect(forests(jsCore, blocks, block).estimate(block, sums)).toEqual(estimates);
    }
  },
);

test("no block draws more than its share", () => {
  let nodes = 0;
  const core: Core = {
    ...jsCore,
    laplace(random, scale, out) {
      nodes += out.length;
      jsCore.laplace(random, scale, out);
    },
    growTree(random, scale, fanout, levels) {
      const tree = jsCore.growTree(random, scale, fanout, levels);
      nodes += 2 * tree.noise.length - 1;
      return tree;
    },
  };
  const sums = new Float64Array(COLUMNS);
  // [blocks of a forest, most nodes that a block draws]: a slice, or trees of 31 nodes, twice where a short tree comes next
  for (const [blocks, most] of [
    [2 ** 15 + 1, 2 * 8192],
    [2 ** 15, 8192],
    [2 ** 4 + 1, 2 * 31],
    [2 ** 5, 31],
  ] as const) {
    const walking = forests(core, blocks, 0);
    for (let block = 0; block < Math.min(4 * blocks, 40_000); block++) {
      nodes = 0;
      walking.estimate(block, sums);
      expect(nodes).toBeLessThanOrEqual(most);
    }
  }
});

test("a column whose drawing failed is drawn anew, never left without noise", () => {
  const sums = new Float64Array(COLUMNS);
  const want = Array.from({ length: 70 }, (_, block) => forests(jsCore, 17, block).estimate(block, sums));
  for (let failing = 1; failing < 40; failing++) {
    let calls = 0;
    const core: Core = {
      ...jsCore,
      growTree(...tree) {
        if (++calls === COLUMNS + failing) throw new RangeError("no memory");
        return jsCore.growTree(...tree);
      },
    };
    const walking = forests(core, 17, 0);
    for (let block = 0; block < 70; block++) {
      let estimates: Float64Array | undefined;
      while (estimates === undefined)
        try {
          estimates = walking.estimate(block, sums);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      expect(estimates).toEqual(want[block]);
    }
  }
});
