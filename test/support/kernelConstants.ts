/**
 * After every test, what lies below the kernels' heap is as it was compiled: the constants there are read by all later calls
 * of the process, so that a kernel that writes in front of its arguments spoils other tests, or nothing that is tested.
 */
import { afterEach, expect } from "vitest";
import { loadDataKernels, loadNoiseKernels } from "../../src/core/wasm/instance.js";

const constants = (): number[] =>
  [loadNoiseKernels(), loadDataKernels()].flatMap((kernels) => [
    ...new Uint8Array(kernels.memory.buffer, 0, kernels.heapBase()),
  ]);

// Files that share a process share the kernels, too.
const shared = globalThis as { compiledConstants?: number[] };
const compiled = (shared.compiledConstants ??= constants());

afterEach(() => {
  expect(constants()).toEqual(compiled);
});
