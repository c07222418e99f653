import { expect, test, vi } from "vitest";
import { Growable } from "../../../src/stream/release/growable.js";

const numbers = Float64Array.from({ length: 20_000 }, (_, i) => Math.sin(i));

test("holds what was set, one by one or in batches across pieces", () => {
  const [one, many] = [new Growable(Infinity), new Growable(Infinity)];
  numbers.forEach((number, i) => {
    one.reserve(i + 1);
    one.set(i, number);
  });
  for (let from = 0, size = 1; from < numbers.length; from += size, size = (size * 7) % 9001)
    many.setMany(numbers.subarray(from, from + size), from);
  for (const growable of [one, many, Growable.of(numbers, numbers.length)]) {
    expect(growable.toArray(numbers.length)).toEqual(numbers);
    expect(growable.toArray(4096)).toEqual(numbers.subarray(0, 4096));
    expect(growable.at(12_345)).toBe(numbers[12_345]);
  }
});

test("takes no more room than it will ever need", () => {
  for (const most of [5, 257, 4096, 4097, 10_000]) {
    const growable = new Growable(most);
    for (let count = 1; count <= most; count++) {
      growable.reserve(count);
      expect(growable.room).toBeGreaterThanOrEqual(count);
    }
    expect(growable.room).toBe(most);
  }
});

test("growing copies no more than one piece", () => {
  const growable = new Growable(Infinity);
  let copied = 0;
  const set = vi.spyOn(Float64Array.prototype, "set").mockImplementation((source) => {
    copied += source.length;
  });
  try {
    for (let count = 1; count <= 2 ** 17; count++) growable.reserve(count);
  } finally {
    set.mockRestore();
  }
  expect(copied).toBeLessThanOrEqual(4096);
});
