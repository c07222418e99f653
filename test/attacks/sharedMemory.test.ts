/**
 * All streams of a process share the memories of the WASM modules. An attacker who reads one later, through a bug elsewhere or a dump, must
 * find nothing of the values, the noise or the keys that passed through it, also when a call fails halfway.
 */
import { expect, test } from "vitest";
import { Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { makeScale } from "../../src/core/tables/scale.js";
import { makeSelection } from "../../src/core/tables/selection.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { loadDataKernels, loadNoiseKernels } from "../../src/core/wasm/instance.js";

const core = makeWasmCore();
const modules = [loadNoiseKernels(), loadDataKernels()];
const random = () => subStream(unsafeKey("memory"), Purpose.forest, 0, 0);

const heaps = () => modules.map((kernels) => new Uint8Array(kernels.memory.buffer, kernels.heapBase()));

/** Bytes that are not 0 from the start of the arenas on. */
const residue = (): number =>
  heaps().reduce((sum, heap) => sum + heap.reduce((n, byte) => n + (byte ? 1 : 0), 0), 0);

function clear(): void {
  for (const heap of heaps()) heap.fill(0);
}

const HOLDOUT = 4096;
const selection = makeSelection({
  ...{ candidates: 5000, step: 1, holdout: HOLDOUT, maxRange: 2 ** 20, fanout: 16 },
  ...{ epsilon: 1, releaseEpsilon: 1, noise: "exponential" },
});
const bins = Uint16Array.from({ length: HOLDOUT }, (_, i) => 1 + (i % 4999));
const scale = makeScale(1000n, 1n);

const calls: Record<string, () => unknown> = {
  noisyMax: () => core.noisyMax(random(), bins, selection),
  blockSums: () =>
    core.blockSums(new Float64Array(20_000).fill(41), 100, 1, 16, 3, 5, new Float64Array(2000), 40),
  "blockSums of a bad value": () => {
    const values = new Float64Array(20_000).fill(41);
    values[15_000] = NaN;
    expect(() => core.blockSums(values, 100, 1, 16, 3, 5, new Float64Array(2000), 40)).toThrow(TypeError);
  },
  growTree: () => core.growTree(random(), scale, 16, 3),
  laplace: () => core.laplace(random(), scale, new Float64Array(10_000)),
  geometric: () => core.geometric(random(), scale, new Float64Array(10_000)),
  keystream: () => core.keystream(random(), new Uint32Array(50_000)),
  estimateLeaves: () => {
    const tree = core.growTree(random(), scale, 16, 4);
    core.estimateLeaves(new Float64Array(4096).fill(9), tree, 16, 0, new Float64Array(4096));
  },
};

test.each(Object.keys(calls))("%s leaves nothing behind", (name) => {
  clear();
  calls[name]!();
  expect(residue()).toBe(0);
});

test("a kernel that traps leaves nothing behind", () => {
  clear();
  const outOfReach = { ...selection, chunkBits: 40 }; // a shift that makes the kernel read beyond its memory
  try {
    core.noisyMax(random(), bins, outOfReach);
  } catch {
    // the trap itself is not the point
  }
  expect(residue()).toBe(0);
});

test.each(["noise", "data"])("the search does find what is left behind in the memory of %s", (name) => {
  clear();
  heaps()[name === "noise" ? 0 : 1]![100] = 1;
  expect(residue()).toBe(1);
  clear();
});
