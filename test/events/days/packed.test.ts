import { describe, expect, test } from "vitest";
import { Packed } from "../../../src/events/days/packed.js";

describe("integers in the narrowest array", () => {
  test("a place that was never set has none", () => {
    expect(Array.from({ length: 3 }, (_, i) => new Packed().at(i))).toEqual([NaN, NaN, NaN]);
  });

  // The lowest number of each type marks a place without an integer, so it is never one itself.
  test.each([0, -1, 127, -127, 128, -128, 2 ** 15 - 1, 2 ** 15, -(2 ** 15), 2 ** 31, -(2 ** 31), -(2 ** 41)])(
    "%d beside small ones, at any place and in any order",
    (large) => {
      for (const at of [0, 1, 2]) {
        const packed = new Packed();
        packed.reserve([], 4);
        const expected = [5, -7, 11, NaN];
        expected.forEach((value, i) => !Number.isNaN(value) && packed.set(i, value));
        packed.reserve([large], 0);
        packed.set(at, large);
        expected[at] = large;
        expect(Array.from({ length: 4 }, (_, i) => packed.at(i))).toEqual(expected);
      }
    },
  );

  test("grows, wider or not, and keeps what it has; a place is cleared", () => {
    for (const large of [3, 300, 2 ** 40]) {
      const packed = new Packed();
      packed.reserve([7], 2);
      packed.set(0, 7);
      packed.reserve([large], 5);
      packed.set(4, large);
      expect([0, 1, 2, 3, 4, 5].map((place) => packed.at(place))).toEqual([7, NaN, NaN, NaN, large, NaN]);
      packed.clear(0);
      expect([0, 4].map((place) => packed.at(place))).toEqual([NaN, large]);
    }
  });
});
