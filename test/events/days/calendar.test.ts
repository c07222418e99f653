import { describe, expect, test } from "vitest";
import { Calendar, DAY, HOUR, MINUTE, resolveLevels } from "../../../src/events/days/calendar.js";
import { DayPeriods } from "../../../src/events/days/dayPeriods.js";

const at = (text: string) => Date.parse(text);
const hours = ({ start, end }: { start: number; end: number }) => (end - start) / HOUR;
const iso = (time: number) => new Date(time).toISOString();

describe("days of a zone", () => {
  test.each([
    ["UTC", "2026-06-15T12:00Z", "2026-06-15T00:00:00.000Z", 24],
    ["Europe/Berlin", "2026-03-29T12:00Z", "2026-03-28T23:00:00.000Z", 23],
    ["Europe/Berlin", "2026-10-25T12:00Z", "2026-10-24T22:00:00.000Z", 25],
    ["America/New_York", "2026-03-08T12:00Z", "2026-03-08T05:00:00.000Z", 23],
    ["America/New_York", "2026-11-01T12:00Z", "2026-11-01T04:00:00.000Z", 25],
    ["Australia/Lord_Howe", "2026-04-05T03:00Z", "2026-04-04T13:00:00.000Z", 24.5],
    ["Australia/Lord_Howe", "2026-10-04T03:00Z", "2026-10-03T13:30:00.000Z", 23.5],
    ["Asia/Kolkata", "2026-06-15T12:00Z", "2026-06-14T18:30:00.000Z", 24],
    ["Asia/Kathmandu", "2026-06-15T12:00Z", "2026-06-14T18:15:00.000Z", 24],
    ["Pacific/Chatham", "2026-06-15T12:00Z", "2026-06-15T11:15:00.000Z", 24],
    // Clocks go forward at midnight: the day begins at one o'clock, and the hour before it is missing.
    ["America/Santiago", "2026-09-06T12:00Z", "2026-09-06T04:00:00.000Z", 23],
    ["Africa/Cairo", "2026-04-24T12:00Z", "2026-04-23T22:00:00.000Z", 23],
    ["Asia/Beirut", "2026-03-29T12:00Z", "2026-03-28T22:00:00.000Z", 23],
    // Clocks go back across midnight, a minute after it: the day is that of the later date.
    ["America/St_Johns", "2006-10-29T12:00Z", "2006-10-29T02:30:00.000Z", 25],
    ["Pacific/Kiritimati", "2026-01-01T00:00Z", "2025-12-31T10:00:00.000Z", 24],
    // An offset with seconds, before standard time.
    ["Africa/Monrovia", "1960-01-15T12:00Z", "1960-01-15T00:44:30.000Z", 24],
    ["UTC", "1969-06-15T12:00Z", "1969-06-15T00:00:00.000Z", 24],
  ])("%s at %s", (zone, time, start, length) => {
    const day = new Calendar(zone).dayAt(at(time));
    expect([iso(day.start), hours(day)]).toEqual([start, length]);
  });

  test("a date that a zone skipped has no day: Apia, 30 December 2011", () => {
    const apia = new Calendar("Pacific/Apia");
    const before = apia.dayAt(at("2011-12-30T09:00Z"));
    const after = apia.dayAt(before.end);
    expect(iso(after.start)).toBe("2011-12-30T10:00:00.000Z");
    expect(hours(after)).toBe(24);
  });

  test.each([
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "Africa/Casablanca",
  ])(
    "%s: two years of days follow each other without gap, and every moment is in its day",
    (zone) => {
      const calendar = new Calendar(zone);
      let day = calendar.dayAt(at("2026-01-01T12:00Z"));
      for (let i = 0; i < 730; i++) {
        expect(calendar.dayAt(day.end - 1)).toEqual(day);
        const next = calendar.dayAt(day.end);
        expect(next.start).toBe(day.end);
        day = next;
      }
    },
    60_000,
  );

  test("weeks begin on Monday, months on the first, by the zone's dates", () => {
    const berlin = new Calendar("Europe/Berlin");
    const day = berlin.dayAt(at("2026-10-28T12:00Z")); // Wednesday
    expect(iso(berlin.spanOf("week", day).start)).toBe("2026-10-25T23:00:00.000Z");
    expect(hours(berlin.spanOf("week", berlin.dayAt(at("2026-10-25T12:00Z"))))).toBe(169);
    const month = berlin.spanOf("month", day);
    expect([iso(month.start), iso(month.end)]).toEqual([
      "2026-09-30T22:00:00.000Z",
      "2026-10-31T23:00:00.000Z",
    ]);
    const december = berlin.spanOf("month", berlin.dayAt(at("2026-12-31T12:00Z")));
    expect(iso(december.end)).toBe("2026-12-31T23:00:00.000Z");
    const early = new Calendar("UTC").spanOf("week", { start: -5 * DAY, end: -4 * DAY }); // 27 December 1969
    expect(iso(early.start)).toBe("1969-12-22T00:00:00.000Z");
  });

  test.each([["Mars/Olympus"], [""], ["Berlin"]])("an unknown zone is refused by name: %j", (zone) => {
    expect(() => new Calendar(zone)).toThrow(/^zone: expected the name of a time zone/);
  });

  test("a zone that is no text, and times beyond all calendars, are refused", () => {
    expect(() => new Calendar(2)).toThrow(TypeError);
    expect(() => new Calendar("UTC").dayAt(2 ** 47)).toThrow(/^time: /);
    expect(() => new Calendar("UTC").dayAt(NaN)).toThrow(/^time: /);
  });
});

describe("levels", () => {
  test.each([
    ["1h", undefined, [HOUR, DAY]],
    ["1m", undefined, [MINUTE, HOUR, DAY]],
    ["15m", undefined, [15 * MINUTE, HOUR, DAY]],
    ["10s", undefined, [10_000, MINUTE, HOUR, DAY]],
    ["500ms", undefined, [500, 1000, MINUTE, HOUR, DAY]],
    ["1d", undefined, [DAY]],
    ["1h", ["1h"], [HOUR]],
    ["1m", ["1m", "15m", "6h", "1d"], [MINUTE, 15 * MINUTE, 6 * HOUR, DAY]],
  ])("every %s, levels %j", (every, levels, want) => {
    expect(resolveLevels(every, levels)).toEqual(want);
  });

  test.each<[unknown, unknown, string]>([
    ["7m", undefined, "every: expected a length that divides a second, a minute or an hour"],
    ["90m", undefined, "every: expected a length that divides"],
    ["2h", undefined, "every: expected a length that divides"],
    ["2d", undefined, "every: expected a length that divides"],
    ["50ms", undefined, "every: expected at least 100 ms, got 50ms"],
    ["1h", [], "levels: expected a list of periods"],
    ["1h", "1d", "levels: expected a list of periods"],
    ["1h", ["1d"], "levels: expected the first to be every = 1h, got 1d"],
    ["1h", ["1h", "1h"], "levels: expected periods of which each divides the next, got 1h before 1h"],
    ["10m", ["10m", "1h", "30m"], "levels: expected periods of which each divides the next"],
    ["20m", ["20m", "30m"], "levels: expected periods of which each divides the next, got 20m before 30m"],
    ["1h", ["1h", "5h"], "levels: expected periods that divide a day, got 5h"],
    ["1h", ["1h", "2d"], "levels: expected periods that divide a day, got 2d"],
    ["1h", ["1h", 5], "levels: expected"],
    ["1h", ["1h", null], "levels: expected a duration"],
  ])("every %j with levels %j is refused", (every, levels, message) => {
    expect(() => resolveLevels(every, levels)).toThrow(message);
  });
});

describe("periods of a day", () => {
  const utc = { start: 0, end: DAY };

  test("levels partition the day, for short, long, half-hour and partial days", () => {
    for (const length of [23, 23.5, 24, 24.5, 25])
      for (const levels of [
        [HOUR],
        [HOUR, DAY],
        [15 * MINUTE, HOUR, DAY],
        [MINUTE, HOUR, 6 * HOUR, DAY],
        [DAY],
      ])
        for (const from of [0, 1, 90 * MINUTE, 15 * HOUR + 1, 21.5 * HOUR]) {
          if (levels[0] === DAY && from > 0) continue;
          const day = { start: 0, end: length * HOUR };
          const periods = new DayPeriods(day, levels, from);
          const { sizes, fanouts } = periods.shape;
          expect(fanouts.reduce((sum, n) => sum + n, 0)).toBe(
            sizes.slice(0, -1).reduce((sum, n) => sum + n, 0),
          );
          // Each node holds exactly the leaves that start in its period.
          let first = 0;
          let bounds = Array.from({ length: sizes[0]! + 1 }, (_, leaf) => periods.startOf(leaf));
          for (let l = 1; l < levels.length; l++) {
            const own = [bounds[0]!];
            let child = 0;
            for (let node = 0; node < sizes[l]!; node++) {
              child += fanouts[first + node]!;
              own.push(bounds[child]!);
            }
            first += sizes[l]!;
            for (const edge of own.slice(1, -1)) expect(edge % levels[l]!).toBe(0);
            expect(own.at(-1)).toBe(day.end);
            bounds = own;
          }
        }
  });

  test("a stream that begins within a period publishes from the next one on", () => {
    const periods = new DayPeriods(utc, [HOUR, DAY], 15 * HOUR + 20 * MINUTE);
    expect([periods.start / HOUR, periods.leaves]).toEqual([16, 8]);
    expect(periods.leafAt(16 * HOUR + 5)).toBe(0);
    expect(periods.startOf(8)).toBe(DAY);
  });

  test("a day that ends before its first whole period has no periods", () => {
    expect(() => new DayPeriods(utc, [HOUR, DAY], DAY - 1)).toThrow(/^day: /);
  });

  test("equal days share one shape", () => {
    expect(new DayPeriods(utc, [HOUR, DAY]).shape).toBe(
      new DayPeriods({ start: DAY, end: 2 * DAY }, [HOUR, DAY]).shape,
    );
  });
});
