import { expect, test } from "vitest";
import { loadKernels } from "../../src/core/wasm/instance.js";
import { privateStream } from "../../src/index.js";

test("streams at the defaults do not grow the memory of the kernels: that makes all typed arrays of a process slower", () => {
  const size = () => loadKernels().memory.buffer.byteLength;
  const before = size();
  const values = new Float64Array(2 ** 20).map((_, i) => i % 100);
  const stream = privateStream({ epsilon: 0.1, max: 100, core: "wasm", unsafeSeed: "memory" });
  expect(stream.pushMany(values).length).toBeGreaterThan(0);
  const leaves = privateStream({
    ...{ epsilon: 0.1, max: 100, threshold: 50, core: "wasm", unsafeSeed: "memory" },
    tuning: { skipLevels: 0 },
  });
  leaves.push(1); // draws a tree of 65 536 leaves
  expect(size()).toBe(before);
});
