/** The dashboard compares whole ranges alone. */
import { expect, test, vi } from "vitest";
import type { Answer, MetricInfo } from "../dashboard/src/api.js";
import { ZoneTimes } from "../dashboard/src/words.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const asked: (readonly [number, number])[] = [];
/** Starts of ranges with a period that was missed in the middle: the ends of the answer are those of the range. */
const gaps = new Set<number>();

vi.mock("../dashboard/src/api.js", () => ({
  askBetween: (_: unknown, from: number, to: number): Promise<Answer> => {
    asked.push([from, to]);
    const value = gaps.has(from) ? 50 : 100;
    const estimate = { value, low: value - 10, high: value + 10 };
    return Promise.resolve({ from, to, complete: !gaps.has(from), next: null, ...estimate });
  },
}));
const { comparisons } = await import("../dashboard/src/comparison.js");

const metric = { type: "count", name: "visits", unit: "" } as MetricInfo;
const ask = (from: number, to: number, zone = "UTC") => {
  asked.length = 0;
  const newest: Answer = { from, to, complete: true, next: null, value: 100, low: 90, high: 110 };
  return comparisons({ metric: "visits", key: undefined }, metric, newest, new ZoneTimes(zone), (one) => one);
};

test("a range with a period that nobody listened to is compared with nothing", async () => {
  const from = Date.UTC(2026, 4, 20);
  expect(await ask(from, from + DAY)).toEqual([
    expect.stringMatching(/^A day earlier: 100.visits. Noise can explain/),
    expect.stringMatching(/^A week earlier: 100.visits. Noise can explain/),
  ]);
  gaps.add(from - DAY);
  expect((await ask(from, from + DAY))[0]).toBe("A day earlier: not measured, or only in part.");
  gaps.add(from);
  expect(await ask(from, from + DAY)).toEqual([]);
  gaps.clear();
});

test("a time that clocks left out the day before is asked of nobody", async () => {
  const to = Date.parse("2026-03-30T03:00:00+02:00"); // on 29 March there was nothing from 02:00 to 03:00
  for (const length of [HOUR / 4, HOUR]) {
    const [yesterday] = await ask(to - length, to, "Europe/Berlin");
    expect(yesterday).toBe("A day earlier: not measured, or only in part.");
    expect(asked.every(([from, end]) => from < end)).toBe(true);
  }
});

test("a day or a week in which clocks changed is still one, and the other length is said", async () => {
  const [from, to] = ["2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00"].map(Date.parse);
  expect(await ask(from!, to!, "Europe/Berlin")).toEqual([
    expect.stringMatching(/^A day earlier: .* It had 24 hours, this one 25: clocks changed\.$/),
    expect.stringMatching(/^A week earlier: .* It had 24 hours, this one 25: clocks changed\.$/),
  ]);
  expect(asked.slice(1).map(([start, end]) => (end - start) / HOUR)).toEqual([24, 24]);
  expect(await ask(Date.parse("2026-10-19T00:00:00+02:00"), to!, "Europe/Berlin")).toEqual([
    expect.stringMatching(/^A week earlier: .* It had 168 hours, this one 169: clocks changed\.$/),
  ]);
  expect((await ask(to!, to! + DAY, "Europe/Berlin"))[1]).toMatch(/explain.*\.$/);
});
