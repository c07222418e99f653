import { describe, expect, test } from "vitest";
import { makeDayShape } from "../../../src/core/dayShape.js";
import { Calendar, DAY, HOUR, MINUTE } from "../../../src/events/days/calendar.js";
import { DayPeriods } from "../../../src/events/days/dayPeriods.js";
import { DaySpread } from "../../../src/events/answer/daySpread.js";
import { privateCounter } from "../../../src/index.js";
import { forestSpread, laplaceVariance } from "../../../src/stream/answer/variance.js";
import { denseCoefficients, randomShape } from "../../support/dayShapes.js";

test("300 random forests, every range: variance and fourth powers of a dense solve, within 1e-11", () => {
  let worst = 0;
  for (let seed = 0; seed < 300; seed++) {
    const shape = randomShape(seed, 4);
    const rows = denseCoefficients(shape);
    const spread = new DaySpread(shape);
    for (let from = 0; from < rows.length; from++) {
      const sums = new Float64Array(rows[0]!.length);
      for (let to = from + 1; to <= rows.length; to++) {
        rows[to - 1]!.forEach((c, node) => (sums[node]! += c));
        const { variance, fourth } = spread.of(from, to);
        let [squares, fourths] = [0, 0];
        for (const c of sums) {
          squares += c ** 2;
          fourths += c ** 4;
        }
        worst = Math.max(worst, Math.abs(variance - squares), Math.abs(fourth - fourths));
      }
    }
  }
  expect(worst).toBeLessThan(1e-11);
});

test("an empty range has no noise", () => {
  expect(new DaySpread(randomShape(1)).of(0, 0)).toEqual({ variance: 0, fourth: 0 });
});

test.each([
  [2, 4],
  [16, 3],
  [24, 2],
])(
  "regular trees of fan-out %i and %i levels agree with the spread of value streams to 1e-14",
  (b, levels) => {
    const fanouts = Array.from({ length: levels - 1 }, (_, l) =>
      new Array<number>(b ** (levels - 2 - l)).fill(b),
    );
    const leaves = b ** (levels - 1);
    const spread = new DaySpread(makeDayShape(leaves, fanouts));
    for (let from = 0; from < leaves; from += 1 + Math.floor(leaves / 7))
      for (let to = from + 1; to <= leaves; to += 1 + Math.floor(leaves / 11)) {
        const want = forestSpread([{ from, to, weight: 1 }], b, levels, 1);
        const { variance, fourth } = spread.of(from, to);
        expect(Math.abs(variance / want.variance - 1)).toBeLessThan(2e-14);
        expect(Math.abs(fourth / want.fourth - 1)).toBeLessThan(4e-14);
      }
  },
);

describe("standard errors at ε = 1, as the documents state them", () => {
  const utc = new Calendar("UTC").dayAt(0);
  const errorOf = (levels: number[], from: number, to: number, day = utc, start?: number): number => {
    const periods = new DayPeriods(day, levels, start);
    const { variance } = new DaySpread(periods.shape).of(from, to);
    return Math.sqrt(variance * laplaceVariance(levels.length));
  };

  test.each([
    ["an hour of 1h", [HOUR], 1, 1.357],
    ["an hour of 1h·1d", [HOUR, DAY], 1, 2.743],
    ["a day of 1h·1d", [HOUR, DAY], 24, 2.743],
    ["15 minutes of 15m·1h·1d", [15 * MINUTE, HOUR, DAY], 1, 3.77],
    ["an hour of 15m·1h·1d", [15 * MINUTE, HOUR, DAY], 4, 3.7],
    ["a day of 15m·1h·1d", [15 * MINUTE, HOUR, DAY], 96, 4.12],
    ["a minute of 1m·1h·1d", [MINUTE, HOUR, DAY], 1, 4.19],
    ["an hour of 1m·1h·1d", [MINUTE, HOUR, DAY], 60, 4.1],
    ["a day of 1m·1h·1d", [MINUTE, HOUR, DAY], 1440, 4.14],
    ["ten seconds of 10s·1m·1h·1d", [10_000, MINUTE, HOUR, DAY], 1, 5.22],
    ["a minute of 10s·1m·1h·1d", [10_000, MINUTE, HOUR, DAY], 6, 5.18],
    ["an hour of 10s·1m·1h·1d", [10_000, MINUTE, HOUR, DAY], 360, 5.48],
    ["a day of 10s·1m·1h·1d", [10_000, MINUTE, HOUR, DAY], 8640, 5.53],
  ])("%s", (_, levels, leaves, want) => {
    expect(Math.abs(errorOf(levels, 0, leaves) - want)).toBeLessThan(0.006);
  });

  test("any 15 minutes of 1m·1h·1d: 14.4 on average", () => {
    const spread = new DaySpread(new DayPeriods(utc, [MINUTE, HOUR, DAY]).shape);
    let sum = 0;
    for (let from = 0; from <= 1440 - 15; from++) sum += spread.of(from, from + 15).variance;
    expect(Math.abs(Math.sqrt((sum / 1426) * laplaceVariance(3)) - 14.4)).toBeLessThan(0.05);
  });

  test.each([
    ["a week", 7, 7.26],
    ["a month of 30 days", 30, 15.0],
    ["a year", 365, 52],
  ])("%s of 1h·1d is √n days, in the answers of a stream too", (_, days, want) => {
    let now = 0;
    const stream = privateCounter({ epsilon: 1, every: "1h", clock: () => now, unsafeSeed: "errors" });
    now = days * DAY;
    stream.advance();
    const { standardError, low, high, complete } = stream.between(0, now);
    expect(complete).toBe(true);
    expect(Math.abs(standardError! / want - 1)).toBeLessThan(0.01);
    expect(standardError).toBeCloseTo(Math.sqrt(days) * errorOf([HOUR, DAY], 0, 24), 9);
    // The reach of 95 %: 1.96 standard errors or a little more, and half a unit.
    const reach = (high! - low!) / 2;
    expect(reach).toBeGreaterThan(1.95 * standardError! + 0.49);
    expect(reach).toBeLessThan(2.05 * standardError! + 0.51);
  });

  test("Berlin's days of 23 and 25 hours, and a day that begins at 15:00", () => {
    const berlin = new Calendar("Europe/Berlin");
    const [short, long] = ["2026-03-29T12:00Z", "2026-10-25T12:00Z"].map((at) =>
      berlin.dayAt(Date.parse(at)),
    );
    expect([short, long].map((day) => (day!.end - day!.start) / HOUR)).toEqual([23, 25]);
    const whole = (day: typeof short, hours: number) => errorOf([HOUR, DAY], 0, hours, day);
    expect(whole(short, 23)).toBeCloseTo(2.7405, 3);
    expect(whole(long, 25)).toBeCloseTo(2.7449, 3);
    const partial = new DayPeriods(utc, [HOUR, DAY], 15 * HOUR);
    expect(partial.leaves).toBe(9);
    expect(errorOf([HOUR, DAY], 0, 9, utc, 15 * HOUR)).toBeLessThan(errorOf([HOUR, DAY], 0, 24));
  });
});
