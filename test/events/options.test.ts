import { describe, expect, test } from "vitest";
import { privateCounter } from "../../src/events/open.js";
import { exact, summed, TEN } from "../support/eventStreams.js";

describe("options", () => {
  test.each<[object, string]>([
    [{ every: "1x" }, "every: expected a duration"],
    [{ epsilon: 0 }, "epsilon: expected a finite number above 0, got 0"],
    [{ origin: TEN + 1 }, "origin: expected a whole number of ticks"],
    [{ perTick: -1 }, "perTick: expected a finite number above 0"],
    [{ finest: "10ms" }, "finest: expected at least one tick of 1s, got 10ms"],
    [{ maxRange: "1500ms" }, "maxRange: expected a whole number of ticks of 1s, got 1500ms"],
    [
      { perPerson: { events: 0, every: "1d" } },
      "perPerson.events: expected a whole number from 1 to 65535, got 0",
    ],
    [{ perPerson: { events: 1, every: "1500ms" } }, "perPerson.every: expected a whole number of ticks"],
    [{ perPerson: { event: 1 } }, 'perPerson: unknown option "event"'],
    [{ colour: "red" }, 'options: unknown option "colour"'],
    [{ clock: 5 }, "clock: expected a function"],
    [{ tuning: { depth: 3 } }, 'tuning: unknown option "depth"'],
  ])("%j is refused", (change, message) => {
    const { tuning: _t, maxRange: _m, ...usual } = exact;
    expect(() => privateCounter({ ...usual, ...change })).toThrow(message);
  });

  test.each<[object, string]>([
    [{ of: "median" }, 'of: expected "sum", "count", "mean", got "median"'],
    [{ max: undefined }, "max: expected a number above 0"],
    [{ threshold: "best" }, 'threshold: expected "noisy-max", got "best"'],
    [{ holdout: "1500ms" }, "holdout: expected a whole number of ticks"],
    [{ threshold: "noisy-max", holdout: 0 }, "holdout: expected at least one tick"],
    [{ of: "count" }, "max: expected none where events are only counted"],
    [{ max: 2 ** 40, threshold: 2 ** 40 }, "max: "],
  ])("a stream of values with %j is refused", (change, message) => {
    expect(() => summed(change)).toThrow(message);
  });

  test.each([NaN, Infinity, "5", undefined])(
    "the value %s is refused, and the message does not quote it",
    (value) => {
      const stream = summed();
      expect(() => stream.add(value as number, { at: TEN })).toThrow(
        new TypeError("value: expected a finite number"),
      );
      expect(() => stream.add(5, { at: NaN })).toThrow("at: expected a Date");
    },
  );
});

test("the finest answer is a tick or longer", () => {
  const { tuning: _, ...usual } = exact;
  expect(privateCounter({ ...usual, finest: "1s" }).statement().block).toBe("1s");
  expect(() => privateCounter({ ...usual, finest: "999ms" })).toThrow("finest: expected at least one tick");
});
