import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { MAX_LEAVES } from "../../src/core/layout.js";
import { leafCount, nodeCount } from "../../src/core/tree.js";
import { loadNoiseKernels } from "../../src/core/wasm/instance.js";
import { leastSquaresLeaves, printedLeaves, toLevels, type Levels } from "../support/consistency.js";
import { jsConsistency, wasmConsistency } from "../support/consistencyKernels.js";
import { bits, integers } from "../support/numbers.js";

const [wasm, js] = [wasmConsistency, jsConsistency];
const cores = [wasm, js];

/** The consistent leaves: (noisy count) + (its group's correction). */
const consistentLeaves = (nodes: Float64Array, corrections: Float64Array, b: number, levels: number) =>
  nodes
    .slice(0, leafCount(b, levels))
    .map((h, i) => (levels === 1 ? h : h + corrections[Math.floor(i / b)]!));

/** True counts of one tree: leaves in [0, size], every other node the sum of its children. */
function trueCounts(seed: number, b: number, levels: number, size: number): Float64Array {
  const leaves = leafCount(b, levels);
  const counts = integers(seed, nodeCount(b, levels), size).map(Math.abs);
  for (let node = leaves, child = 0; node < counts.length; node++, child += b)
    counts[node] = counts.subarray(child, child + b).reduce((total, n) => total + n, 0);
  return counts;
}

/** Every fan-out from 2 to 64 with every number of levels from 1 to 5 that keeps a tree below 70 000 nodes. */
const shapes = Array.from({ length: 63 }, (_, i) => i + 2).flatMap((b) =>
  [1, 2, 3, 4, 5].filter((levels) => nodeCount(b, levels) < 70_000).map((levels) => ({ b, levels })),
);

describe.each(cores)("$name core", (core) => {
  test("two leaves under one node, worked by hand", () => {
    // D = 1 + 3 − 10 = −6, a/b = (2/3)/2 = 1/3: each leaf moves by 2, and 3 + 5 = 8 = 2/3·10 + 1/3·4.
    expect(core.makeConsistent(Float64Array.of(1, 3, 10), 2, 2)).toEqual(Float64Array.of(2));
  });

  test("three levels, worked by hand", () => {
    // Leaves 1 2 | 3 4, parents 6 and 7, top 14; b = 2. a/b is 1/3 at level 2 and (4/7)/2 at level 3.
    // D: 3 − 6 = −3, 7 − 7 = 0, top: 1/3·(−3 + 0) + (6 + 7 − 14) = −2.
    // w(top) = 2·2/7 = 4/7; w = 2/7 + 3/3 = 9/7 and 2/7 + 0 = 2/7.
    const [left, right] = core.makeConsistent(Float64Array.of(1, 2, 3, 4, 6, 7, 14), 2, 3);
    expect(left).toBeCloseTo(9 / 7, 15);
    expect(right).toBeCloseTo(2 / 7, 15);
  });

  test("one level needs no correction", () => {
    expect(core.makeConsistent(Float64Array.of(5), 16, 1)).toEqual(new Float64Array(0));
  });

  test.each([
    ["consistency_fanout4.json", 3],
    ["consistency_fanout16_2level.json", 2],
    ["consistency_fanout16_3level.json", 3],
    ["consistency_fanout2_4level.json", 4],
  ])("recorded forest %s", (file, levels) => {
    const { fanout, before, after } = JSON.parse(
      readFileSync(new URL(`../vectors/${file}`, import.meta.url), "utf8"),
    ) as { fanout: number; before: number[][]; after: number[][] };
    for (let tree = 0; tree < fanout; tree++) {
      const part = (level: number[]) =>
        level.slice(...[tree, tree + 1].map((i) => (i * level.length) / fanout));
      const nodes = Float64Array.from(before.flatMap(part));
      const leaves = consistentLeaves(nodes, core.makeConsistent(nodes, fanout, levels), fanout, levels);
      const slack = 1e-12 * Math.max(...nodes.map(Math.abs));
      part(after[0]!).forEach((want, i) => expect(Math.abs(leaves[i]! - want)).toBeLessThan(slack));
    }
  });

  test("noise alone and noisy counts give the same leaves, all bits, over thousands of forests", () => {
    let trees = 0;
    for (let round = 0; trees < 2000; round++)
      for (const { b, levels } of shapes.filter(
        (shape) => round % 8 === 0 || nodeCount(shape.b, shape.levels) < 5000,
      )) {
        const seed = (round * 64 + b) * 8 + levels;
        const size = 10 ** ((round % 9) + 1);
        const noise = integers(seed, nodeCount(b, levels), size);
        const counts = trueCounts(-seed, b, levels, 10 ** (9 - (round % 9)));
        const noisy = noise.map((n, i) => counts[i]! + n);
        const offline = core.makeConsistent(noisy, b, levels);
        const online = core.makeConsistent(noise, b, levels);
        const released = consistentLeaves(noisy, offline, b, levels);
        const streamed = noise
          .slice(0, leafCount(b, levels))
          .map((n, i) => (levels === 1 ? counts[i]! + n : counts[i]! + n + online[Math.floor(i / b)]!));
        if (bits(offline) !== bits(online) || bits(released) !== bits(streamed))
          expect.fail(`differs: round ${round}, b ${b}, L ${levels}`);
        trees++;
      }
    expect(trees).toBeGreaterThanOrEqual(2000);
  });

  test.each([
    [2, 21],
    [16, 6],
  ])("the same for 2²⁰ leaves, fan-out %i and %i levels", (b, levels) => {
    expect(leafCount(b, levels)).toBe(2 ** 20);
    const noise = integers(1, nodeCount(b, levels), 1e6);
    const counts = trueCounts(2, b, levels, 1e6);
    const noisy = noise.map((n, i) => counts[i]! + n);
    expect(bits(core.makeConsistent(noisy, b, levels))).toBe(bits(core.makeConsistent(noise, b, levels)));
  });

  test("equals least squares, solved densely", () => {
    for (const { b, levels } of shapes.filter((shape) => leafCount(shape.b, shape.levels) <= 64)) {
      const nodes = integers(b * levels, nodeCount(b, levels), 1000);
      const leaves = consistentLeaves(nodes, core.makeConsistent(nodes, b, levels), b, levels);
      const want = leastSquaresLeaves(toLevels(nodes, b, levels), b);
      // Condition of the normal equations: largest eigenvalue Σ bˡ⁻¹ < 2·64, smallest 1; elimination over 64 rows.
      want.forEach((leaf, i) => expect(Math.abs(leaves[i]! - leaf)).toBeLessThan(128 * 64 * 1000 * 2 ** -52));
    }
  });

  test("equals Eq. 10–11 as printed, up to rounding", () => {
    for (const { b, levels } of shapes) {
      const size = 1e6;
      const nodes = integers(b * levels, nodeCount(b, levels), size);
      const leaves = consistentLeaves(nodes, core.makeConsistent(nodes, b, levels), b, levels);
      const want = printedLeaves(toLevels(nodes, b, levels), b);
      const slack = printedSlack(b, levels, size);
      if (want.some((leaf, i) => !(Math.abs(leaves[i]! - leaf) <= slack)))
        expect.fail(`differs: b ${b}, L ${levels}`);
    }
  });

  test("a weight off by 10⁻⁹ would be seen by the slack of that comparison", () => {
    const [b, levels, size] = [64, 3, 1e6];
    const nodes = integers(b * levels, nodeCount(b, levels), size);
    const want = printedLeaves(toLevels(nodes, b, levels), b);
    const wrong = consistentLeaves(
      nodes,
      core.makeConsistent(nodes, b, levels).map((f) => f * (1 + 1e-9)),
      b,
      levels,
    );
    expect(want.some((leaf, i) => Math.abs(wrong[i]! - leaf) > printedSlack(b, levels, size))).toBe(true);
  });

  test("brings the leaves' variance down to the least-squares value", () => {
    // The pass is linear, so unit vectors give its whole matrix: nothing to sample. Two leaves, one parent:
    // leaf 1 weighs the nodes 2/3, −1/3, 1/3.
    const weights = [0, 1, 2].map((node) => {
      const unit = new Float64Array(3);
      unit[node] = 1;
      return consistentLeaves(unit, core.makeConsistent(unit, 2, 2), 2, 2)[0]!;
    });
    expect(weights.reduce((variance, w) => variance + w * w, 0)).toBeCloseTo(2 / 3, 15);
  });

  test("every node takes part: changing any one changes the leaves", () => {
    const [b, levels] = [3, 4];
    const nodes = integers(3, nodeCount(b, levels), 1000);
    const before = bits(consistentLeaves(nodes, core.makeConsistent(nodes, b, levels), b, levels));
    nodes.forEach((n, i) => {
      const other = nodes.slice();
      other[i] = n + 1;
      expect(bits(consistentLeaves(other, core.makeConsistent(other, b, levels), b, levels))).not.toBe(
        before,
      );
    });
  });

  test("leaves its argument alone", () => {
    const nodes = integers(3, nodeCount(5, 3), 1000);
    const before = bits(nodes);
    core.makeConsistent(nodes, 5, 3);
    expect(bits(nodes)).toBe(before);
  });

  test("says which shape is wrong", () => {
    const make = (length: number, b: number, levels: number) => () =>
      core.makeConsistent(new Float64Array(length), b, levels);
    expect(make(3, 1, 2)).toThrow(new RangeError("fanout: expected an integer from 2 to 64, got 1"));
    expect(make(3, 65, 2)).toThrow(/fanout/);
    expect(make(3, 2.5, 2)).toThrow(/fanout/);
    expect(make(3, 2, 0)).toThrow(new RangeError("levels: expected an integer ≥ 1, got 0"));
    expect(make(3, 2, NaN)).toThrow(/levels/);
    expect(make(4, 2, 2)).toThrow(new RangeError("nodes: expected 3 for fan-out 2 and 2 levels, got 4"));
    expect(() => leafCount(2, 26)).toThrow(
      `levels: expected a tree of at most ${MAX_LEAVES} leaves, got 2^25; use fewer levels`,
    );
  });
});

/**
 * Rounding of Eq. 10–11 with u = 2⁻⁵³ and |H| ≤ M. Upwards |z| ≤ M + |z below| ≤ L·M, since the weight of the
 * children's sum is below 1/b; each level adds at most (b + 3)·u·L·M, so z is off by E ≤ L²(b + 3)·u·M.
 * Downwards a level's error is at most F/b + 2E + 2(b + 4)·u·L·M with F the parent's, a geometric series of
 * ratio ≤ 1/2: 4E + 4(b + 4)·u·L·M ≤ 8 L²(b + 4)·u·M. The residual form has the same sums with smaller terms,
 * so both together stay below twice that.
 */
function printedSlack(b: number, levels: number, size: number): number {
  return 16 * levels ** 2 * (b + 4) * 2 ** -53 * size;
}

test("float noise made consistent beforehand would not do: leaves differ from the offline answer", () => {
  const [b, levels] = [16, 3];
  const noise = integers(1, nodeCount(b, levels), 1e4);
  const counts = trueCounts(2, b, levels, 1e4);
  const noisy = noise.map((n, i) => counts[i]! + n);
  const offline = printedLeaves(toLevels(noisy, b, levels), b);
  const online = printedLeaves(toLevels(noise, b, levels), b).map((leaf, i) => counts[i]! + leaf);
  expect(offline.some((leaf, i) => leaf !== online[i])).toBe(true);
});

test("both cores agree in all bits", () => {
  for (const { b, levels } of shapes) {
    const nodes = integers(b * levels, nodeCount(b, levels), 1e9);
    if (bits(wasm.makeConsistent(nodes, b, levels)) !== bits(js.makeConsistent(nodes, b, levels)))
      expect.fail(`cores differ: b ${b}, L ${levels}`);
  }
  const large = integers(3, nodeCount(2, 21), 1e9);
  expect(bits(wasm.makeConsistent(large, 2, 21))).toBe(bits(js.makeConsistent(large, 2, 21)));
});

test("what stood in WASM memory before has no effect", () => {
  const nodes = integers(3, nodeCount(7, 4), 1000);
  const clean = bits(js.makeConsistent(nodes, 7, 4));
  const kernels = loadNoiseKernels();
  for (const poison of [0x00, 0x7f, 0xff]) {
    wasm.makeConsistent(new Float64Array(nodeCount(16, 5)), 16, 5);
    new Uint8Array(kernels.memory.buffer, kernels.heapBase()).fill(poison);
    expect(bits(wasm.makeConsistent(nodes, 7, 4))).toBe(clean);
  }
});

test("the reference itself is consistent: parents equal the sums of their children", () => {
  const tree: Levels = toLevels(integers(3, nodeCount(4, 3), 1000), 4, 3);
  const [printed, dense] = [printedLeaves(tree, 4), leastSquaresLeaves(tree, 4)];
  printed.forEach((leaf, i) => expect(leaf).toBeCloseTo(dense[i]!, 9));
});
