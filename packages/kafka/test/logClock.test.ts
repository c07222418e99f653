import { describe, expect, test } from "vitest";

import { heartbeat, readHeartbeat } from "../src/clock.js";
import { LogClock } from "../src/logClock.js";
import type { LogRecord } from "../src/port.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const rules = { zone: "UTC", lateness: 0, skew: 60_000, longestStep: 100 * DAY };

const beatOf = (time: number, zone = "UTC") =>
  readHeartbeat({ offset: 0, timestamp: 0, ...heartbeat(time, zone) } as LogRecord)!;

/** A clock after heartbeats at these times, at offsets 0, 1, … */
function clockAfter(...times: number[]): LogClock {
  const clock = new LogClock(rules);
  times.forEach((time, offset) => clock.take(beatOf(time), offset));
  return clock;
}

describe("heartbeats", () => {
  test("carry the days of their zone", () => {
    const [start, end, next] = ["2026-03-27T23:00Z", "2026-03-28T23:00Z", "2026-03-29T22:00Z"].map(
      Date.parse,
    );
    expect(beatOf(Date.parse("2026-03-28T10:00Z"), "Europe/Berlin")).toEqual({
      ...{ time: Date.parse("2026-03-28T10:00Z"), zone: "Europe/Berlin" },
      days: [start, end, next],
    });
  });

  test.each([
    ["a time outside of its day", [DAY + 1, 0, DAY, 2 * DAY]],
    ["a day that ends before it begins", [0, 0, 0, DAY]],
    ["a day of a month", [0, 0, 30 * DAY, 31 * DAY]],
    ["no number", [NaN, 0, DAY, 2 * DAY]],
  ])("with %s are none", (_, numbers) => {
    const record = heartbeat(0);
    numbers.forEach((number, i) => record.value!.writeDoubleBE(number, 8 * i));
    expect(readHeartbeat({ offset: 0, timestamp: 0, ...record } as LogRecord)).toBeUndefined();
  });
});

describe("the log's clock", () => {
  test("moves with heartbeats, never back, and not twice at an offset", () => {
    const clock = clockAfter(HOUR, 2 * HOUR, HOUR);
    expect(clock.now).toBe(2 * HOUR);
    expect(clock.take(beatOf(2.5 * HOUR), 2)).toBeUndefined(); // a replay
    expect(clock.now).toBe(2 * HOUR);
  });

  test("a jump of more than an hour needs two heartbeats that agree", () => {
    expect(clockAfter(0, 3 * HOUR).now).toBe(0);
    expect(clockAfter(0, 3 * HOUR, 3.5 * HOUR).now).toBe(3.5 * HOUR);
    expect(clockAfter(0, 9 * HOUR, 3 * HOUR).now).toBe(0);
    expect(clockAfter(0, 3 * HOUR, 9 * HOUR).now).toBe(0);
    expect(clockAfter(0, 900 * DAY, 1000, 900 * DAY, 2000).now).toBe(2000);
  });

  test("says since when it was silent: from the skew on, up to the heartbeat", () => {
    const clock = clockAfter(0);
    expect(clock.take(beatOf(60_000), 1)).toEqual({});
    expect(clock.take(beatOf(120_001), 2)).toEqual({ silence: [120_000, 120_001] });
  });

  test("a silence is as long as it was, also where the clock takes several steps", () => {
    const clock = new LogClock({ ...rules, longestStep: HOUR }, clockAfter(0).state);
    clock.take(beatOf(5 * HOUR), 1);
    expect(clock.take(beatOf(5 * HOUR + 1), 2)).toEqual({ silence: [60_000, 5 * HOUR + 1] });
    expect(clock.now).toBe(HOUR);
  });

  test("a copy and what its state makes go on the same", () => {
    const clock = clockAfter(0, 900 * DAY);
    const copies = [clock.copy(), new LogClock(rules, JSON.parse(JSON.stringify(clock.state)) as number[])];
    for (const each of [clock, ...copies]) each.take(beatOf(900 * DAY + 1), 2);
    for (const each of copies) expect(each.state).toEqual(clock.state);
    expect(clock.now).toBe(100 * DAY);
  });

  test.each([24 * HOUR, 24.5 * HOUR, 25 * HOUR, 47 * HOUR, 49 * HOUR, 10 * DAY - HOUR, 10 * DAY + HOUR])(
    "days that the log does not tell fill %d ms without a gap, none longer than 25 hours",
    (length) => {
      const clock = new LogClock(rules, [0, 0, 0, 0, length]);
      let end = 0;
      for (let time = 0; time < length + 2 * DAY; time += HOUR / 2) {
        const day = clock.dayAt(time);
        expect([day.start <= time, day.end > time, day.end - day.start <= 25 * HOUR]).toEqual([
          true,
          true,
          true,
        ]);
        if (time === end) expect(day.start).toBe(end);
        else expect(day.end).toBe(end);
        ({ end } = day);
      }
      expect(clock.dayAt(length - 1).end).toBe(length);
      expect(clock.dayAt(length).start).toBe(length);
    },
  );
});
