/** The interval of a mean of window reports covers from one report on, for any values; without its terms it does not. */
import { describe, expect, test } from "vitest";
import { HARD } from "../../research/localAccuracy/freshValues.js";
import { normalQuantile } from "../../src/core/normal.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { estimateFrom } from "../../src/local/estimate.js";
import { hybrid } from "../../src/local/mechanisms.js";
import { sumInterval } from "../../src/local/meanInterval.js";
import { estimateOf, varianceOf } from "../../src/local/moments.js";
import { Draws, mostMisses } from "../support/dayReports.js";

const core = makeWasmCore();
const THETA = 10;
const Z = normalQuantile(0.95);

interface Interval {
  readonly low: number;
  readonly high: number;
}

/** How many of N intervals miss, as they are and without one of their terms. */
function misses(epsilon: number, n: number, draws: number, population: (i: number, n: number) => number) {
  const source = new Draws(epsilon, `mean ${epsilon} ${n}`);
  const { mechanism } = source;
  const values = Float64Array.from({ length: n }, (_, i) => THETA * population(i, n));
  const truth = values.reduce((sum, value) => sum + value, 0);
  const skew = (THETA * estimateOf(mechanism, mechanism.cells - 1) * Z * Z) / 6;
  const [whole, noSkew, middle] = [0, 1, 2].map(() => ({ misses: 0 }));
  const judge = (counted: { misses: number }, { low, high }: Interval) => {
    if (!(low <= truth && truth <= high)) counted.misses++;
  };
  const around = (sum: number, reach: number): Interval => ({
    low: Math.max(0, sum - reach),
    high: Math.min(n * THETA, sum + reach),
  });
  for (let draw = 0; draw < draws; draw++) {
    const interval = sumInterval([source.tally(values, THETA)], mechanism, 0.95);
    judge(whole!, interval);
    judge(noSkew!, around(interval.sum, Z * interval.standardError));
    judge(middle!, around(interval.sum, Z * THETA * Math.sqrt(n * varianceOf(mechanism, 0.5)) + skew));
  }
  return { whole: whole!.misses, noSkew: noSkew!.misses, middle: middle!.misses };
}

// 140 lines, each with odds below 10⁻⁹ of a false alarm if it covers with 95 %.
describe.each([0.3, 1, 4, 16])("ε = %d", (epsilon) => {
  test.each([
    [1, 2000],
    [3, 2000],
    [10, 2000],
    [100, 1000],
    [2000, 300],
  ])("%d reports", (n, draws) => {
    for (const [name, population] of Object.entries(HARD))
      expect([name, misses(epsilon, n, draws, population).whole <= mostMisses(draws)]).toEqual([name, true]);
  });
});

test("without the term for skewness, or with the variance of the middle for all, it does not cover", () => {
  const worst = (n: number, read: (found: ReturnType<typeof misses>) => number) =>
    Math.max(...Object.values(HARD).map((population) => read(misses(4, n, 2000, population))));
  expect(worst(3, ({ noSkew }) => noSkew)).toBeGreaterThan(mostMisses(2000));
  expect(worst(200, ({ middle }) => middle)).toBeGreaterThan(mostMisses(2000));
});

test("the normal interval of Hybrid reports, flat as their variance is, does not cover one report", () => {
  const mechanism = hybrid(4);
  const random = subStream(unsafeKey("hybrid"), Purpose.reports, 1, 0);
  const quantiser = { scale: mechanism.top / THETA, shift: 0.5 };
  const missed = [0, 0.1, 0.5, 1].map((share) => {
    const cells = new Uint32Array(2000);
    core.fillReports(random, mechanism, quantiser, new Float64Array(2000).fill(share * THETA), cells);
    const reach = Z * Math.sqrt(varianceOf(mechanism, share));
    return cells.filter((cell) => Math.abs(estimateOf(mechanism, cell) - share) > reach).length;
  });
  expect(Math.max(...missed)).toBeGreaterThan(mostMisses(2000));
});

test("200 reports, θ fifty times the mean: the sum is unbiased; the mean of EM's distribution is several times too high", async () => {
  const [n, theta, draws] = [200, 1000, 100];
  const source = new Draws(1, "unbiased");
  const values = Float64Array.from({ length: n }, (_, i) => -20 * Math.log((i + 0.5) / n));
  const truth = values.reduce((sum, value) => sum + value, 0) / n;
  let [linear, em] = [0, 0];
  for (let draw = 0; draw < draws; draw++) {
    const tally = source.tally(values, theta);
    linear += sumInterval([tally], source.mechanism, 0.95).sum / n / draws;
    const { found } = await estimateFrom(
      ...([core, tally.counts, source.mechanism, source.mechanism] as const),
      { estimator: "em", tail: "whole", objective: "exact", maxRange: n },
      {},
    );
    em += found.shares.reduce((sum, share, i) => sum + share * (i + 0.5), 0) * (theta / 1024 / draws);
  }
  // The standard error of the average is at most θ·√(V(0)/n/draws); 5 of them have odds of 6·10⁻⁷.
  const error = theta * Math.sqrt(varianceOf(source.mechanism, 0) / n / draws);
  expect(Math.abs(linear - truth)).toBeLessThan(5 * error);
  expect(em - truth).toBeGreaterThan(5 * error);
});

test("several θ: sums add up, and the interval of all days covers", () => {
  const source = new Draws(1, "several");
  const values = Float64Array.from({ length: 50 }, (_, i) => i / 5);
  const truth = values.reduce((sum, value) => sum + Math.min(4, value) + value, 0);
  let missed = 0;
  for (let draw = 0; draw < 2000; draw++) {
    const [a, b] = [source.tally(values, 4), source.tally(values, THETA)];
    const both = sumInterval([a, b], source.mechanism, 0.95);
    const apart = [a, b].map((one) => sumInterval([one], source.mechanism, 0.95).sum);
    expect(both.sum).toBeCloseTo(apart[0]! + apart[1]!, 9);
    if (truth < both.low || truth > both.high) missed++;
  }
  expect(missed).toBeLessThanOrEqual(mostMisses(2000));
});
