import { expect, test } from "vitest";
import { privateStream } from "../../src/events/open.js";
import type { EventStreamOptions } from "../../src/events/options.js";
import { TEN } from "../support/eventStreams.js";

const HOUR = 3_600_000;

/** Busy from 8 to 20, silent for the rest: one event of 60 in every busy hour, one of 1 in the others. */
const sizeAt = (hour: number): number => (hour % 24 >= 8 && hour % 24 < 20 ? 60 : 1);

const DAYS = 60;

/** The squared error of published numbers per hour over the second half, blocks of four hours each. */
function errorWith(smoother: EventStreamOptions["smoother"]): number {
  const stream = privateStream({
    ...{ epsilon: 60, every: "1h", origin: TEN, maxRange: `${16 * 24}h`, max: 100, threshold: 100 },
    ...{ clock: () => TEN, unsafeSeed: "period", tuning: { fanout: 4, skipLevels: 1 }, lateness: 0 },
    ...(smoother === undefined ? {} : { smoother }),
  });
  const published: number[] = [];
  for (let hour = 0; hour < DAYS * 24; hour++) {
    stream.add(sizeAt(hour), { at: TEN + hour * HOUR + 1 });
    published.push(...stream.advance(TEN + (hour + 1) * HOUR).values);
  }
  const late = published.slice((DAYS * 24) / 2);
  return late.reduce((sum, x, i) => sum + (x - sizeAt((DAYS * 24) / 2 + i)) ** 2, 0) / late.length;
}

test('period: "1d" predicts a block from the one a day before', () => {
  const [daily, none, wrong] = [{ period: "1d" }, undefined, { period: "5h" }].map((smoother) =>
    errorWith(smoother as EventStreamOptions["smoother"]),
  );
  // Blocks jump by up to 240 twice a day: without a period, or with a wrong one, predictions miss the jumps.
  expect(daily).toBeLessThan(none! / 2);
  expect(daily).toBeLessThan(wrong! / 2);
});

test("a period is a whole number of ticks", () => {
  const options = {
    ...{ epsilon: 1, origin: TEN, clock: () => TEN, max: 100, threshold: 100 },
    ...{ maxRange: "16d", smoother: { period: "1d" } },
  } as const;
  expect(() => privateStream({ ...options, every: "1h" })).not.toThrow();
  expect(() => privateStream({ ...options, every: "1h", smoother: { period: "90m" } })).toThrow(
    "smoother.period: expected a whole number of ticks of 1h, got 90m",
  );
});
