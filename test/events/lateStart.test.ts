/** A stream that begins within the last period of a day: its first period is the first one of the next day. */
import { expect, test } from "vitest";
import { privateCounter, privateStream } from "../../src/privateStream.js";

const MIDNIGHT = Date.UTC(2026, 2, 2);
const HOUR = 3_600_000;

test.each(["1h", "1d"])("a counter by %s that begins half an hour before midnight", (every) => {
  let now = MIDNIGHT - HOUR / 2;
  const counter = privateCounter({ epsilon: 1, every, clock: () => now });
  counter.add(); // before the first period: dropped
  now = MIDNIGHT;
  expect(counter.advance()).toEqual([]);
  counter.add();
  now = MIDNIGHT + 24 * HOUR;
  const answers = counter.advance();
  expect(answers[0]!.from).toBe(MIDNIGHT);
  expect(answers.length).toBe(every === "1d" ? 1 : 24);
  expect(answers.every(({ value }) => value !== null)).toBe(true);
  expect(counter.dropped.late).toBe(1);
});

test("a sum whose hold-out begins half an hour before midnight", () => {
  let now = MIDNIGHT - HOUR / 2;
  const sums = privateStream({ epsilon: 5, every: "1h", max: 100, clock: () => now });
  now = MIDNIGHT + HOUR;
  for (let i = 0; i < 1000; i++) sums.add(10);
  now = MIDNIGHT + 24 * HOUR; // at least a day after the start: one more midnight
  expect(sums.advance()).toEqual([]);
  now = MIDNIGHT + 49 * HOUR;
  sums.advance();
  now += HOUR;
  expect(sums.advance().at(-1)!.value).not.toBe(null);
});
