/** Precision that a config check predicts, against the errors seen with reports. */
import { expect, test } from "vitest";
import { normalQuantile } from "../../src/core/normal.js";
import { aggregator, reporter } from "../../src/index.js";
import { sumInterval } from "../../src/local/meanInterval.js";
import { localPrecision } from "../../src/local/precision.js";
import { Draws } from "../support/dayReports.js";
import { uniforms } from "../support/localValues.js";

const DAY = 86_400_000;
const MAX = 60_000;
/** Load times of pages: lognormal, median 1.2 s. */
const loads = (n: number, seed: string): Float64Array =>
  uniforms(n, seed).map((u) => {
    const normal = Math.sign(u - 0.5) * normalQuantile(Math.abs(2 * u - 1));
    return Math.min(MAX, 1200 * Math.exp(0.75 * normal));
  });
const MEAN = 1200 * Math.exp(0.75 ** 2 / 2);
/** Holds 99.5 % of them. */
const HIGH = 1200 * Math.exp(0.75 * 2.5758);

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;

test.each([
  [1, 500],
  [1, 3500],
  [2, 500],
  [2, 3500],
])("ε = %d and %d reports: as wide as the interval at a θ that holds nearly all loads", (epsilon, n) => {
  const draws = new Draws(epsilon, "precision");
  const widths = Array.from({ length: 41 }, (_, run) => {
    const { low, high } = sumInterval([draws.tally(loads(n, `loads ${run}`), HIGH)], draws.mechanism, 0.95);
    return (high - low) / 2 / (n * MEAN);
  });
  // An interval of one day is cut at 0, and its variance is an upper estimate: a tenth of room.
  const said = localPrecision(epsilon, n);
  expect(Math.abs(median(widths) / said - 1)).toBeLessThan(0.1);
  // What another ε has is told apart.
  expect(Math.abs(median(widths) / localPrecision(0.8 * epsilon, n) - 1)).toBeGreaterThan(0.1);
});

test("a second day of 500 loads with ε = 1: the true mean is within what was said, and the interval no wider", async () => {
  const said = localPrecision(1, 500);
  let [within, narrow] = [0, 0];
  const RUNS = 20;
  for (let run = 0; run < RUNS; run++) {
    let now = DAY / 2;
    const server = aggregator({ epsilon: 1, max: MAX, threshold: MAX / 4, clock: () => now });
    for (const day of [0, 1]) {
      const { threshold } = await server.terms();
      const device = reporter({ epsilon: 1, max: MAX, threshold, unsafeSeed: `precision ${run} ${day}` });
      server.add(device.reportMany(loads(500, `day ${run} ${day}`)));
      now += DAY;
    }
    const { mean, low, high } = server.between(DAY, 2 * DAY);
    if (Math.abs((mean ?? 0) / MEAN - 1) <= said) within++;
    if ((high! - low!) / 2 / MEAN <= said) narrow++;
  }
  // Fixed seeds. θ that hides a little makes intervals narrower than said; the error has the hidden part in it.
  expect(within).toBeGreaterThanOrEqual(0.9 * RUNS);
  expect(narrow).toBeGreaterThanOrEqual(0.9 * RUNS);
});
