import { describe, expect, test } from "vitest";
import { chooseCore } from "../../src/core/choose.js";
import { makeDayShape } from "../../src/core/dayShape.js";
import { DAY_RUN, MAX_DAY_LEAVES } from "../../src/core/layout.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { makeScale } from "../../src/core/tables/scale.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { jsConsistency } from "../support/consistencyKernels.js";
import {
  denseCoefficients,
  familyOf,
  jsDay,
  leavesOf,
  randomShape,
  wasmDay,
  withSums,
} from "../support/dayShapes.js";
import { bits, integers } from "../support/numbers.js";

const key = unsafeKey("day");
const streams = (start: number, column = 0) =>
  [
    subStream(key, Purpose.dayLeaves, column * 2 ** 16, start),
    subStream(key, Purpose.dayNodes, column, start),
  ] as const;

describe.each([wasmDay, jsDay])("$name core", (core) => {
  test("three leaves under one node, worked by hand", () => {
    // S = 3, c = 1/4, residual 1 + 2 + 3 − 10 = −4: every leaf moves by 1.
    expect(core.makeDayConsistent(Float64Array.of(1, 2, 3, 10), makeDayShape(3, [[3]]))).toEqual(
      Float64Array.of(1),
    );
  });

  test("families of 1 and 2 leaves under one node, worked by hand", () => {
    // u = 1/2 and 2/3, so S = 7/6 and c = 6/13 above. E = (1 − 3)/2 = −1 and (2 + 4 − 6)/3 = 0.
    // E(top) = 6/13·(−1 + (3 + 6 − 12)) = −24/13, W(top) = 24/13.
    // W = 1/2·24/13 + 1 = 25/13 and 1/3·24/13 − 0 = 8/13.
    const shape = makeDayShape(3, [[1, 2], [2]]);
    const [single, pair] = core.makeDayConsistent(Float64Array.of(1, 2, 4, 3, 6, 12), shape);
    expect(single).toBeCloseTo(25 / 13, 14);
    expect(pair).toBeCloseTo(8 / 13, 14);
  });

  test("one level needs no correction", () => {
    expect(core.makeDayConsistent(Float64Array.of(5, 6), makeDayShape(2, []))).toEqual(new Float64Array(0));
  });

  test("least squares on 300 random forests, within 1e-11", () => {
    for (let seed = 0; seed < 300; seed++) {
      const shape = randomShape(seed);
      const nodes = integers(seed, leavesOf(shape).length, 1000);
      const corrections = core.makeDayConsistent(nodes, shape);
      const families = familyOf(shape);
      denseCoefficients(shape).forEach((row, leaf) => {
        const want = row.reduce((sum, c, node) => sum + c * nodes[node]!, 0);
        const got = nodes[leaf]! + (corrections[families[leaf]!] ?? 0);
        expect(Math.abs(got - want)).toBeLessThan(1e-11 * 1000);
      });
    }
  });

  test("noise alone and noisy counts give the same corrections, all bits", () => {
    for (let seed = 0; seed < 500; seed++) {
      const shape = randomShape(seed, 1 + (seed % 40));
      const noise = integers(seed, leavesOf(shape).length, 10 ** (1 + (seed % 9)));
      const counts = integers(-seed, shape.sizes[0]!, 10 ** (9 - (seed % 9))).map(Math.abs);
      const noisy = withSums(counts, shape).map((count, node) => count + noise[node]!);
      expect(bits(core.makeDayConsistent(noisy, shape))).toBe(bits(core.makeDayConsistent(noise, shape)));
    }
  });

  test("a planted fault is noticed: a level that is left out moves the leaves off least squares", () => {
    const shape = makeDayShape(6, [[3, 3], [2]]);
    const nodes = integers(3, 9, 1000);
    const without = core.makeDayConsistent(nodes.slice(0, 8), makeDayShape(6, [[3, 3]]));
    expect(Array.from(without)).not.toEqual(Array.from(core.makeDayConsistent(nodes, shape)));
  });
});

test("regular trees agree with the kernel of value streams", () => {
  for (const [b, levels] of [
    [2, 4],
    [16, 3],
    [24, 2],
  ] as const) {
    const fanouts = Array.from({ length: levels - 1 }, (_, l) =>
      new Array<number>(b ** (levels - 2 - l)).fill(b),
    );
    const shape = makeDayShape(b ** (levels - 1), fanouts);
    const nodes = integers(
      7,
      shape.sizes.reduce((total, n) => total + n, 0),
      10_000,
    );
    const want = jsConsistency.makeConsistent(nodes, b, levels);
    wasmDay.makeDayConsistent(nodes, shape).forEach((f, i) => expect(f).toBeCloseTo(want[i]!, 9));
  }
});

describe("a day that is drawn", () => {
  const cores = [chooseCore("wasm"), chooseCore("js")] as const;
  const berlin = makeDayShape(25 * 60, [new Array<number>(25).fill(60), [25]]);
  const scales = [makeScale(3n, 1n), makeScale(1n, 7n), makeScale(5000n, 3n), makeScale(1n << 39n, 1n)];

  test("is the same on both cores, in every bit, for irregular shapes and extreme scales", () => {
    for (const scale of scales)
      for (const shape of [berlin, ...Array.from({ length: 40 }, (_, seed) => randomShape(seed, 60))]) {
        const [wasm, js] = cores.map((core) => core.growDay(...streams(1_770_000_000_000), scale, shape));
        expect(bits(wasm!)).toBe(bits(js!));
      }
  });

  test("is consistent with the noise that a run of leaves draws by itself", () => {
    for (const core of cores) {
      const [scale, start] = [scales[0]!, 2 ** 47 + 5];
      const [leafRandom, nodeRandom] = streams(start, 3);
      const nodes = new Float64Array(leavesOf(berlin).length);
      for (let leaf = 0, run = 0; leaf < 1500; leaf += DAY_RUN, run++)
        core.laplace(
          subStream(key, Purpose.dayLeaves, 3 * 2 ** 16 + run, start),
          scale,
          nodes.subarray(leaf, Math.min(1500, leaf + DAY_RUN)),
        );
      core.laplace(nodeRandom, scale, nodes.subarray(1500));
      const [, fresh] = streams(start, 3);
      expect(bits(core.growDay(leafRandom, fresh, scale, berlin))).toBe(
        bits(jsDay.makeDayConsistent(nodes, berlin)),
      );
    }
  });

  test("differs by day and by column", () => {
    const grown = (start: number, column: number) =>
      bits(cores[0].growDay(...streams(start, column), scales[0]!, berlin));
    expect(new Set([grown(1, 0), grown(2, 0), grown(1, 1)]).size).toBe(3);
  });

  test("leaves its sub-streams where they were", () => {
    for (const core of cores) {
      const [leafRandom, nodeRandom] = streams(9);
      core.growDay(leafRandom, nodeRandom, scales[0]!, berlin);
      expect([leafRandom.position, nodeRandom.position, leafRandom.nonce[0]]).toEqual([0, 0, 0]);
    }
  });
});

test.each([
  [0, []],
  [1.5, []],
  [MAX_DAY_LEAVES + 1, []],
  [3, [[2]]],
  [3, [[4]]],
  [3, [[3, 0]]],
  [3, [[1, 2], [1]]],
])("a shape of %s leaves and fan-outs %j is refused", (leaves, fanouts) => {
  expect(() => makeDayShape(leaves, fanouts)).toThrow(RangeError);
});
