import { expect, test } from "vitest";
import { SmallArrays } from "../../src/core/smallArrays.js";

test("small arrays share a buffer, and nothing in it: each is zeros, and writes to no other", () => {
  const small = new SmallArrays();
  const types = [Int8Array, Uint32Array, Int16Array, Float64Array, Uint8Array] as const;
  const made = Array.from({ length: 2000 }, (_, i) => {
    const array = small.zeros<Int8Array | Uint32Array | Int16Array | Float64Array | Uint8Array>(
      types[i % types.length]!,
      i % 9,
    );
    expect(array.every((x) => x === 0)).toBe(true);
    return array.fill(i % 100);
  });
  made.forEach((array, i) => {
    expect(array.length).toBe(i % 9);
    expect(array.every((x) => x === i % 100)).toBe(true);
  });
  expect(new Set(made.map(({ buffer }) => buffer)).size).toBeLessThan(20);
});

test("a large one has a buffer of its own", () => {
  const small = new SmallArrays();
  const [first, large, second] = [10, 1000, 10].map((length) => small.zeros(Float64Array, length));
  expect(large!.buffer.byteLength).toBe(8000);
  expect(first!.buffer).toBe(second!.buffer);
});
