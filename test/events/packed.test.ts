import { describe, expect, test } from "vitest";
import { DAY, DayPeriods, HOUR } from "../../src/events/calendar.js";
import { Packed } from "../../src/events/packed.js";
import { RunningDay } from "../../src/events/runningDay.js";
import { Encoder } from "../../src/stream/codec.js";

describe("integers in the narrowest array", () => {
  test("a place that was never set has none", () => {
    expect(Array.from({ length: 3 }, (_, i) => new Packed(3).at(i))).toEqual([NaN, NaN, NaN]);
  });

  // The lowest number of each type marks a place without an integer, so it is never one itself.
  test.each([0, -1, 127, -127, 128, -128, 2 ** 15 - 1, 2 ** 15, -(2 ** 15), 2 ** 31, -(2 ** 31), -(2 ** 41)])(
    "%d beside small ones, at any place and in any order",
    (large) => {
      for (const at of [0, 1, 2]) {
        const packed = new Packed(4);
        const expected = [5, -7, 11, NaN];
        expected.forEach((value, i) => !Number.isNaN(value) && packed.set(i, value));
        packed.reserve([large]);
        packed.set(at, large);
        expected[at] = large;
        expect(Array.from({ length: 4 }, (_, i) => packed.at(i))).toEqual(expected);
      }
    },
  );
});

describe("what is published of the running day", () => {
  const periods = new DayPeriods({ start: 0, end: DAY }, [HOUR / 2, HOUR, DAY]);
  const corrections = Array.from({ length: 48 }, (_, i) => i / 8);
  const filled = (): RunningDay => {
    const day = new RunningDay(periods, 2);
    for (const leaf of [0, 1, 4]) {
      const noisy = Float64Array.of(leaf - 200, 70_000 * leaf);
      day.reserve(noisy);
      day.put(leaf, noisy, corrections);
    }
    return day;
  };
  const read = (day: RunningDay, leaf: number): number[] => {
    const out = new Float64Array(2);
    day.read(leaf, out);
    return Array.from(out);
  };

  test("an estimate is an integer and the correction of its family; a missed period has none", () => {
    const day = filled();
    expect(read(day, 1)).toEqual([-199 + 0 / 8, 70_000 + 1 / 8]);
    expect(read(day, 4)).toEqual([-196 + 4 / 8, 280_000 + 5 / 8]); // leaves 4 and 5 are the third hour
    for (const leaf of [2, 3, 5, 47]) expect(read(day, leaf)).toEqual([NaN, NaN]);
  });

  test("saved and loaded it is the same, and so it is when it is kept", () => {
    const writer = new Encoder();
    filled().save(writer);
    const loaded = RunningDay.load(writer.read(), [HOUR / 2, HOUR, DAY], 2);
    const kept = { periods, level: 0, values: new Float64Array(96) };
    loaded.copyTo(kept);
    for (let leaf = 0; leaf < 48; leaf++) {
      expect(read(loaded, leaf)).toEqual(read(filled(), leaf));
      expect(Array.from(kept.values.subarray(2 * leaf, 2 * leaf + 2))).toEqual(read(filled(), leaf));
    }
  });
});
