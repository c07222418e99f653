/** Words of the dashboard: the same time of an earlier day, and what is said of a change. */
import { describe, expect, test } from "vitest";
import type { MetricInfo } from "../dashboard/src/api.js";
import { boundWords, change, interval, known, missingWords, ZoneTimes } from "../dashboard/src/words.js";

const at = (text: string): number => Date.parse(text);

describe("the same time, days before", () => {
  test.each([
    ["UTC", "2026-03-30T08:30:00Z", 1, "2026-03-29T08:30:00Z"],
    // Clocks go forward on 29 March and back on 25 October.
    ["Europe/Berlin", "2026-03-30T10:30:00+02:00", 1, "2026-03-29T10:30:00+02:00"],
    ["Europe/Berlin", "2026-03-29T10:30:00+02:00", 1, "2026-03-28T10:30:00+01:00"],
    ["Europe/Berlin", "2026-10-26T00:00:00+01:00", 7, "2026-10-19T00:00:00+02:00"],
    ["Australia/Lord_Howe", "2026-04-06T00:00:00+10:30", 7, "2026-03-30T00:00:00+11:00"],
  ])("%s, %s", (zone, time, days, before) => {
    expect(new Date(new ZoneTimes(zone).daysBefore(at(time), days)).toISOString()).toBe(
      new Date(at(before)).toISOString(),
    );
  });

  test("the day of the month is that of the zone", () => {
    expect(new ZoneTimes("America/New_York").dayOfMonth(at("2026-03-01T03:00:00Z"))).toBe(28);
  });
});

describe("a date of the zone", () => {
  test.each([
    ["UTC", "2026-03-02", "2026-03-03T00:00:00Z"],
    ["Europe/Berlin", "2026-03-29", "2026-03-30T00:00:00+02:00"],
    ["Europe/Berlin", "2026-10-25", "2026-10-26T00:00:00+01:00"],
    ["America/New_York", "2026-03-07", "2026-03-08T00:00:00-05:00"],
    ["Pacific/Auckland", "2026-06-01", "2026-06-02T00:00:00+12:00"],
  ])("%s, %s ends, and is named again", (zone, date, end) => {
    const times = new ZoneTimes(zone);
    expect(new Date(times.endOf(date)).toISOString()).toBe(new Date(end).toISOString());
    expect(times.dateOf(times.endOf(date) - 1)).toBe(date);
    expect(times.endOf("")).toBeNaN();
  });
});

test("what a limit leaves out makes counts higher, but not means or sums of what may be negative", () => {
  const limited = { share: 0.3, low: 0.2, high: 0.4 };
  const answer = { value: 1, low: 0, high: 2, from: 0, to: 1, complete: true, next: null, limited };
  const words = (metric: Partial<MetricInfo>): string =>
    missingWords(answer, { perPerson: { events: 2 }, every: "1h", ...metric } as MetricInfo);
  expect(words({ type: "count" })).toContain("true numbers are higher, and late hours are counted less");
  expect(words({ type: "count", every: "1d" })).toMatch(/true numbers are higher\. $/);
  for (const metric of [{ type: "mean" }, { type: "sum", min: -5 }] as const)
    expect(words(metric)).toContain("had more; what they had more is not in this number.");
});

test("a number that noise may have made is told by its upper end, in a table as in the headline", () => {
  const metric = { name: "visits", type: "count", unit: "" } as MetricInfo;
  expect(known({ value: 40, low: -60, high: 140 }, metric)).toBe("at most 140\u00a0visits");
  expect(known({ value: 400, low: 300, high: 500 }, metric)).toBe("400\u00a0visits");
  expect(known({ value: null, low: null, high: null }, metric)).toBe("–");
  expect(interval({ value: 40, low: -60, high: 140 }, metric)).toBe("0 to 140");
  expect(interval({ value: null, low: 3, high: null }, metric)).toBe("above 3\u00a0visits");
});

test("values above a public bound are not counted, and that is said; others are known after a day", () => {
  const answer = { value: 1, low: 0, high: 2, from: 0, to: 1, complete: true, next: null };
  const sum = { type: "sum", perPerson: null } as MetricInfo;
  const bounded = (countsClipped: boolean, clipped?: { events: number; low: number; high: number }) =>
    boundWords({ ...answer, ...(clipped && { clipped }) }, { ...sum, countsClipped }).bounded;
  expect(bounded(false)).toBe("not counted: the bound is public");
  expect(bounded(true)).toBe("not known yet");
  expect(bounded(true, { events: 12, low: -1, high: 25 })).toBe("about 12 (0 to 25)");
});

describe("a change", () => {
  const metric = { type: "count", name: "visits", unit: "" } as MetricInfo;
  const estimate = (low: number | null, high: number | null) => ({ value: 100, low, high });
  test.each([
    [
      estimate(90, 110),
      estimate(60, 80),
      "It rose by more than noise explains (+10 to +50\u00a0visits, with 95 % probability).",
    ],
    [
      estimate(60, 80),
      estimate(90, 110),
      "It fell by more than noise explains (−50 to −10\u00a0visits, with 95 % probability).",
    ],
    [
      estimate(90, 110),
      estimate(80, 100),
      "Noise can explain the difference (−10 to +30\u00a0visits, with 95 % probability).",
    ],
    [
      estimate(90, 100),
      estimate(100, 110),
      "Noise can explain the difference (−20 to 0\u00a0visits, with 95 % probability).",
    ],
    [estimate(90, null), estimate(60, 80), "It rose by more than noise explains."],
    [estimate(null, null), estimate(60, 80), "Noise can explain the difference."],
  ])("%j, %j", (now, then, words) => {
    expect(change("Yesterday", now, then, metric)).toBe(`Yesterday: 100\u00a0visits. ${words}`);
  });

  test("is not told where a number is not known", () => {
    expect(change("Yesterday", estimate(1, 2), { value: null, low: null, high: null }, metric)).toBe(
      "Yesterday: too few events to tell.",
    );
  });
});
