/** The first ticks of a stream of events: what the hold-out leaves to the first prediction, and its error. */
import { expect, test } from "vitest";
import { privateStream } from "../../src/events/open.js";
import { firstSpread } from "../../src/stream/weights.js";
import { exact, summed, TEN } from "../support/eventStreams.js";

/** Seven ticks choose θ, the eighth gives the first prediction; blocks of four ticks. */
const warmed = (change: object = {}) =>
  privateStream({
    ...{ ...exact, epsilon: 60, max: 1000, holdout: "8s", perTick: 100, clock: () => TEN },
    ...{ tuning: { fanout: 4, skipLevels: 1 }, ...change },
  });

test("events of a tick behind the choosing ones, which come before θ is known, are the first prediction", () => {
  const stream = warmed();
  for (let k = 0; k < 700; k++) stream.add(50, { at: TEN + 10 * k });
  for (let k = 0; k < 300; k++) stream.add(40, { at: TEN + 7000 });
  const { from, values } = stream.advance(TEN + 9000);
  expect([from, values.length]).toEqual([TEN + 8000, 1]);
  expect(Math.abs(values[0]! / (300 * 40) - 1)).toBeLessThan(0.05); // noise of scale θ/60
  expect(stream.statement().holdoutTicks).toBe(8);
});

test("before the first block ends, errors are those of the first prediction: noise behind a sum, half of 1 a count", () => {
  const stream = warmed({ of: "mean", perTick: 1, threshold: 64, holdout: "8s" });
  for (let k = 0; k < 80; k++) stream.add(50, { at: TEN + 100 * k });
  stream.advance(TEN + 10_000);
  const { sum, count } = stream.between(TEN + 8000, TEN + 10_000);
  const errorOf = (ticks: number, theta: number) => 2 * Math.sqrt(firstSpread(ticks, theta, 30).variance);
  expect(sum!.standardError / errorOf(8, 64)).toBeCloseTo(1, 9);
  expect(count!.standardError / errorOf(0, 1)).toBeCloseTo(1, 9);
});

test("a range of no length is 0, without error", () => {
  const stream = summed();
  stream.add(50, { at: TEN });
  stream.advance(TEN + 2000);
  expect(stream.between(TEN + 500, TEN + 500)).toMatchObject({ value: 0, standardError: 0, low: 0, high: 0 });
});
