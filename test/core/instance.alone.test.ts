import { expect, test } from "vitest";
import { loadDataKernels, loadNoiseKernels, useArena } from "../../src/core/wasm/instance.js";
import { privateStream } from "../../src/index.js";

test("streams at the defaults do not grow the memory of the kernels: that makes all typed arrays of a process slower", () => {
  const size = () =>
    [loadNoiseKernels(), loadDataKernels()].map((kernels) => kernels.memory.buffer.byteLength);
  const before = size();
  const values = new Float64Array(2 ** 20).map((_, i) => i % 100);
  const stream = privateStream({ epsilon: 0.1, max: 100, core: "wasm", unsafeSeed: "memory" });
  expect(stream.pushMany(values).length).toBeGreaterThan(0);
  const leaves = privateStream({
    ...{ epsilon: 0.1, max: 100, threshold: 50, core: "wasm", unsafeSeed: "memory" },
    tuning: { skipLevels: 0 },
  });
  leaves.push(1); // draws a tree of 65 536 leaves
  expect(size()).toEqual(before);
});

test.each([
  ["noise", loadNoiseKernels()],
  ["data", loadDataKernels()],
])(
  "a kernel of either module inside the call of another of %s is refused, before it wipes anything; the next call finds the arena free",
  (_, kernels) => {
    useArena(kernels, (arena) => {
      const at = arena.put(Float64Array.of(7));
      for (const inner of [loadNoiseKernels(), loadDataKernels()])
        expect(() => useArena(inner, () => undefined)).toThrow(/^arena: a kernel was called inside/);
      expect(arena.readDouble(at)).toBe(7);
    });
    expect(() =>
      useArena(kernels, () => {
        throw new Error("failed");
      }),
    ).toThrow("failed");
    expect(useArena(kernels, () => 1)).toBe(1);
  },
);
