import { expect, test } from "vitest";
import {
  durationText,
  eventTime,
  parseDuration,
  parseTime,
  periodText,
} from "../../../src/events/days/duration.js";

test.each([
  ["250ms", 250],
  ["1s", 1000],
  ["1.5s", 1500],
  ["5m", 300_000],
  ["1h", 3_600_000],
  ["1d", 86_400_000],
  [42, 42],
])("the duration %s is %d ms", (text, length) => {
  expect(parseDuration("every", text)).toBe(length);
});

test.each([
  [250, "250ms"],
  [90_000, "90s"],
  [300_000, "5m"],
  [86_400_000, "1d"],
  [0, "0s"],
])("%d ms is written %s", (length, text) => {
  expect(durationText(length)).toBe(text);
});

test("periods have names", () => {
  expect([86_400_000, 3_600_000, 7_200_000].map(periodText)).toEqual(["day", "hour", "2h"]);
});

test.each([
  [
    "soon",
    TypeError,
    'every: expected a duration such as "1s", "5m", "1h", "1d" or milliseconds, got "soon"',
  ],
  ["1 fortnight", TypeError, 'got "1 fortnight"'],
  [null, TypeError, "got a value of type null"],
  [0, RangeError, "every: expected a whole number of milliseconds from 1"],
  ["0.5ms", RangeError, "got 0.5"],
  [NaN, RangeError, "got NaN"],
  ["99999d", RangeError, "got 8639913600000"],
])("the duration %s is refused", (value, kind, message) => {
  expect(() => parseDuration("every", value)).toThrow(kind);
  expect(() => parseDuration("every", value)).toThrow(message);
});

const TEN = Date.UTC(2026, 2, 1, 10);

test.each<[unknown, number]>([
  [new Date(TEN), TEN],
  ["2026-03-01T10:00Z", TEN],
  ["2026-03-01T11:00:00.000+01:00", TEN],
  ["2026-03-01", Date.UTC(2026, 2, 1)],
  [TEN + 0.5, TEN + 0.5],
])("the time %s is read", (value, time) => {
  expect(parseTime("from", value)).toBe(time);
  expect(eventTime(value)).toBe(time);
});

test.each<[unknown, string]>([
  ["2026-03-01T10:00", "2026-03-01T10:00"], // no time zone: the answer would depend on where it runs
  ["yesterday", "yesterday"],
  [NaN, "NaN"],
  [Infinity, "Infinity"],
  [new Date(NaN), "a value of type object"],
  [undefined, "a value of type undefined"],
])("the time %s is refused: quoted where it is a question, not where it is an event's", (value, quoted) => {
  expect(() => parseTime("from", value)).toThrow(`got ${typeof value === "string" ? `"${quoted}"` : quoted}`);
  expect(() => eventTime(value)).toThrow(
    new TypeError("at: expected a Date, ISO text with a time zone, or milliseconds; the event was not taken"),
  );
});

test("a hundred years are the longest duration", () => {
  expect(parseDuration("every", "36525d")).toBe(36_525 * 86_400_000);
  expect(() => parseDuration("every", "36526d")).toThrow("every: expected a whole number of milliseconds");
});

test("the ends of what is read: 100 years, 275 000 years from 1970, 40 characters quoted", () => {
  expect(parseDuration("every", 36_525 * 86_400_000)).toBe(3_155_760_000_000);
  expect(() => parseDuration("every", 3_155_760_000_001)).toThrow(
    "every: expected a whole number of milliseconds from 1 to 3155760000000, got 3155760000001",
  );
  expect([parseDuration("every", 1), parseDuration("skew", 0, 0)]).toEqual([1, 0]);
  for (const time of [8.64e15, -8.64e15])
    expect([parseTime("from", time), eventTime(time)]).toEqual([time, time]);
  for (const time of [8.64e15 + 2, -8.64e15 - 2]) {
    expect(() => parseTime("from", time)).toThrow(`got ${time}`);
    expect(() => eventTime(time)).toThrow("at: expected a Date");
  }
  const long = "x".repeat(41);
  expect(() => parseDuration("every", long)).toThrow(`got "${long.slice(1)}"`);
  expect(() => parseTime("from", long)).toThrow(
    `from: expected a Date, ISO text with a time zone such as "2026-03-01T10:00Z", or milliseconds, got "${long.slice(1)}"`,
  );
  expect(() => parseTime("from", null)).toThrow("got a value of type null");
  expect(() => parseDuration("every", undefined)).toThrow("got a value of type undefined");
});

test("every unit is written and read back", () => {
  for (const text of ["1ms", "999ms", "7s", "59s", "61m", "23h", "400d", "1500ms"])
    expect(durationText(parseDuration("every", text))).toBe(text);
  expect([1.5, 0.25].map(durationText)).toEqual(["1.5ms", "0.25ms"]);
  expect([1000, 60_000, 3_600_000, 86_400_000, 1].map(periodText)).toEqual([
    ...["second", "minute", "hour", "day", "1ms"],
  ]);
});
