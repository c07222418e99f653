import { describe, expect, test } from "vitest";
import { makeConsistent } from "../../src/core/js/consistency.js";
import { jsCore } from "../../src/core/js/index.js";
import { drawLaplace, tablesOf } from "../../src/core/js/laplace.js";
import { WordReader } from "../../src/core/js/reader.js";
import { groupCount, leafCount, nodeCount } from "../../src/core/tree.js";
import { type Random, Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { makeScale } from "../../src/core/tables/scale.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { loadNoiseKernels } from "../../src/core/wasm/instance.js";
import type { Tree } from "../../src/core/core.js";
import { printedLeaves, toLevels } from "../support/consistency.js";
import { bits } from "../support/numbers.js";

const wasm = makeWasmCore();
const key = unsafeKey("forest");
const scale = makeScale(12345n, 2n);
const sub = (stream = 0, forest = 0, tree = 0) => subStream(key, Purpose.forest, stream, forest, tree);
const treeBits = (tree: Tree) => `${bits(tree.noise)} ${bits(tree.corrections)}`;

/** Every node's noise, drawn from the keystream one node after the other. */
function drawNodes(random: Random, count: number, t = scale): Float64Array {
  const reader = new WordReader(random);
  const tables = tablesOf(t);
  const nodes = Float64Array.from({ length: count }, () => drawLaplace(reader, tables));
  reader.finish();
  return nodes;
}

/** Whether a tree has this noise at its nodes and the corrections of Eq. 10–11 as printed, up to rounding. */
function isTreeOf(tree: Tree, nodes: Float64Array, b: number, levels: number): boolean {
  const want = printedLeaves(toLevels(nodes, b, levels), b);
  const slack = 2 ** -40 * Math.max(...nodes.map(Math.abs)); // ≫ 16 L²(b + 4)·2⁻⁵³ for the small trees here
  return want.every((leaf, i) => {
    const correction = levels === 1 ? 0 : tree.corrections[Math.floor(i / b)]!;
    return tree.noise[i] === nodes[i] && Math.abs(tree.noise[i]! + correction - leaf) < slack;
  });
}

describe.each([wasm, jsCore])("$name core", (core) => {
  test.each([
    [16, 1],
    [2, 2],
    [3, 4],
    [16, 3],
    [64, 2],
  ])(
    "fan-out %i, %i levels: the keystream's noise, leaves first and top last, made consistent",
    (b, levels) => {
      const [random, again] = [sub(), sub()];
      const tree = core.growTree(random, scale, b, levels);
      const nodes = drawNodes(again, nodeCount(b, levels));
      expect(isTreeOf(tree, nodes, b, levels)).toBe(true);
      expect(random.position).toBe(again.position);
      expect(tree.noise.length).toBe(leafCount(b, levels));
      expect(tree.corrections.length).toBe(groupCount(b, levels));
      expect(bits(tree.corrections)).toBe(bits(makeConsistent(nodes, b, levels)));
    },
  );

  test("zeroing the noise of any single node is seen", () => {
    for (const [b, levels] of [
      [16, 1],
      [2, 4],
      [3, 3],
      [16, 2],
    ] as const) {
      const tree = core.growTree(sub(), scale, b, levels);
      const nodes = drawNodes(sub(), nodeCount(b, levels));
      expect(nodes.every((n) => n !== 0)).toBe(true);
      nodes.forEach((_, node) => {
        const mutant = nodes.slice();
        mutant[node] = 0;
        expect(isTreeOf(tree, mutant, b, levels)).toBe(false);
      });
    }
  });

  test("noise depends on key, stream, forest and tree, and on nothing else", () => {
    const grown = new Set<string>();
    const coordinates = [0, 1, 63].flatMap((tree) =>
      [0, 1, 2 ** 32, 2 ** 48 - 1].flatMap((forest) =>
        [0, 1, 2 ** 32 - 1].map((stream) => [stream, forest, tree]),
      ),
    );
    for (const [stream, forest, tree] of coordinates) {
      const first = treeBits(core.growTree(sub(stream, forest, tree), scale, 4, 3));
      core.growTree(sub(7, 7, 7), scale, 5, 4); // work for another stream in between
      expect(treeBits(core.growTree(sub(stream, forest, tree), scale, 4, 3))).toBe(first);
      grown.add(first);
    }
    const other = subStream(unsafeKey("another forest"), Purpose.forest, 0, 0);
    grown.add(treeBits(core.growTree(other, scale, 4, 3)));
    expect(grown.size).toBe(coordinates.length + 1);
  });

  test("a call that fails changes nothing", () => {
    const random = { ...sub(), position: 2 ** 36 - 8 };
    expect(() => core.growTree(random, scale, 16, 2)).toThrow(RangeError);
    expect(random.position).toBe(2 ** 36 - 8);
    expect(() => core.growTree(sub(), scale, 65, 2)).toThrow(/fanout/);
    expect(() => core.growTree(sub(), scale, 16, 0)).toThrow(/levels/);
  });
});

test("both cores grow the same trees, all bits", () => {
  const scales = [makeScale(1n, 3n), makeScale(2n, 1n), scale, makeScale(1n << 40n, 1n)];
  for (const t of scales)
    for (const [b, levels] of [
      [2, 1],
      [2, 9],
      [5, 4],
      [16, 4],
      [33, 3],
      [64, 3],
    ] as const) {
      const [one, two] = [sub(1, b, levels), sub(1, b, levels)];
      expect(treeBits(wasm.growTree(one, t, b, levels))).toBe(treeBits(jsCore.growTree(two, t, b, levels)));
      expect(one.position).toBe(two.position);
    }
});

test("both cores grow the same tree of 2²⁰ leaves", () => {
  const [one, two] = [wasm, jsCore].map((core) => treeBits(core.growTree(sub(), scale, 16, 6)));
  expect(one === two).toBe(true);
});

test("what stood in WASM memory before has no effect", () => {
  const kernels = loadNoiseKernels();
  const clean = treeBits(jsCore.growTree(sub(), scale, 7, 4));
  for (const poison of [0x00, 0x7f, 0xff]) {
    new Uint8Array(kernels.memory.buffer, kernels.heapBase()).fill(poison);
    expect(treeBits(wasm.growTree(sub(), scale, 7, 4))).toBe(clean);
  }
});

test("no noise stays in WASM memory", () => {
  const kernels = loadNoiseKernels();
  const { noise, corrections } = wasm.growTree(sub(), makeScale(1n << 40n, 1n), 16, 3);
  const secrets = new Set([...noise, ...corrections]);
  const memory = new Float64Array(kernels.memory.buffer.slice(0));
  expect(memory.some((number) => secrets.has(number))).toBe(false);
});
