/** Percentiles of the local model: intervals that cover, and a way to see intervals that do not. */
import { describe, expect, test } from "vitest";
import { jsCore } from "../../src/core/js/index.js";
import { makeTransition } from "../../src/core/tables/transition.js";
import { PaperAggregator } from "../../src/local/paper/paperAggregator.js";
import { squareWave } from "../../src/local/mechanisms.js";
import { cellProbabilities } from "../../src/local/moments.js";
import { SharesBelow } from "../../src/local/sharesBelow.js";
import { quantileOf } from "../../src/local/percentiles.js";
import { reportsOf, uniforms } from "../support/localValues.js";

const BINS = 1024;
const MAX = 1000;

/** Quantile functions of the streams. */
const STREAMS: Record<string, (p: number) => number> = {
  skewed: (p) => Math.min(MAX, -60 * Math.log(1 - p)),
  uniform: (p) => MAX * p,
  "two humps": (p) => (p < 0.6 ? 100 + 60 * p : 700 + 200 * (p - 0.6)),
  "mostly zero": (p) => (p < 0.9 ? 0 : 4000 * (p - 0.9)),
};

/** Expected reports per cell of a distribution. */
function expectedReports(epsilon: number, shares: Float64Array): Float64Array {
  const mechanism = squareWave(epsilon);
  const { inside, outside } = cellProbabilities(mechanism);
  const transition = makeTransition(BINS, BINS, mechanism.width / BINS, inside, outside);
  const estimates = new Float64Array(2 * BINS);
  const predicted = new Float64Array(BINS);
  estimates.set(shares);
  jsCore.emSteps(transition, new Float64Array(BINS), false, estimates, predicted);
  return predicted;
}

describe("without noise", () => {
  // F rises, so the bounds hold for any distribution when counts are what they are on average: nothing to sample.
  test.each([0.2, 1, 4, 9, 24])("the bounds hold the distribution, ε = %d", (epsilon) => {
    for (const stream of Object.values(STREAMS)) {
      const shares = new Float64Array(BINS);
      for (let i = 0; i < 20_000; i++)
        shares[Math.min(BINS - 1, Math.floor((stream((i + 0.5) / 20_000) / MAX) * BINS))]! += 1 / 20_000;
      const predicted = expectedReports(epsilon, shares);
      const counts = predicted.map((share) => share * 1e12);
      const below = new SharesBelow({ mechanism: squareWave(epsilon), counts, predicted }, 0.01);
      let truth = 0;
      for (let j = 0; j <= BINS; j++) {
        expect(below.lower(j * BINS)).toBeLessThan(truth + 1e-6);
        expect(below.upper(j * BINS)).toBeGreaterThan(truth - 1e-6);
        truth += shares[j] ?? 0;
      }
    }
  });
});

/** An interval, and what it should hold. */
interface Tried {
  readonly truth: number;
  readonly answer: { readonly value: number; readonly low: number; readonly high: number };
}

/** 4 streams × 2 ε × 20 runs, two percentiles and one share each: 480 intervals. */
async function trials(): Promise<Tried[]> {
  const tried: Tried[] = [];
  for (const [name, stream] of Object.entries(STREAMS))
    for (const epsilon of [1, 5])
      for (let run = 0; run < 20; run++) {
        const values = uniforms(3000, `${name} ${run}`).map(stream);
        const server = new PaperAggregator({ epsilon, max: MAX, holdout: 3000, tuning: { tail: "whole" } });
        server.learn(reportsOf(values, `${name} ${epsilon} ${run}`, { epsilon, max: MAX }));
        for (const p of [0.5, 0.95]) tried.push({ truth: stream(p), answer: await server.quantile(p) });
        const x = stream(0.7) + 1;
        tried.push({ truth: inverse(stream, x), answer: await server.cdf(x) });
      }
  return tried;
}

/** How many intervals miss when they are `part` as wide. */
const misses = (tried: readonly Tried[], part: number): number =>
  tried.filter(
    ({ truth, answer: { value, low, high } }) =>
      truth < value - part * (value - low) || truth > value + part * (high - value),
  ).length;

/** The share of values below x, to 10⁻⁶. */
function inverse(stream: (p: number) => number, x: number): number {
  let [low, high] = [0, 1];
  for (let i = 0; i < 20; i++) {
    const middle = (low + high) / 2;
    if (stream(middle) < x) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * If each of 480 misses once in 20 times, 24 miss, and 51 or more with odds below 10⁻⁶ (binomial). The three of one run
 * are not independent, but they miss more seldom: F rises, and windows leave room.
 */
test("intervals at 95 % cover, and a quarter of their width does not", async () => {
  const tried = await trials();
  expect(misses(tried, 1)).toBeLessThan(51);
  expect(misses(tried, 0.25)).toBeGreaterThan(51);
});

test("answers are plain data; more confidence makes them wider; the same on both cores", async () => {
  const reports = reportsOf(uniforms(5000, "plain").map(STREAMS["skewed"]!), "plain");
  const [wasm, js] = (["wasm", "js"] as const).map((core) => {
    const server = new PaperAggregator({ epsilon: 1, max: MAX, holdout: 5000, core });
    server.learn(reports);
    return server;
  });
  const usual = await wasm!.quantile(0.9);
  const wide = await wasm!.quantile(0.9, { confidence: 0.999 });
  expect(wide.low).toBeLessThanOrEqual(usual.low);
  expect(wide.high).toBeGreaterThan(usual.high);
  expect(structuredClone(usual)).toEqual(usual);
  expect(await js!.quantile(0.9)).toEqual(usual);
  expect(await js!.cdf(50)).toEqual(await wasm!.cdf(50));
  expect(await wasm!.cdf(-5)).toMatchObject({ value: 0, low: 0, high: 0 });
  expect(await wasm!.cdf(2 * MAX)).toMatchObject({ value: 1, low: 1, high: 1 });
  const shares = [10, 50, 200].map((x) => wasm!.cdf(x));
  const [a, b, c] = await Promise.all(shares);
  expect(a!.value <= b!.value && b!.value <= c!.value).toBe(true);
});

test("a handful of reports says little, and says so", async () => {
  const server = new PaperAggregator({ epsilon: 1, max: MAX, holdout: 10 });
  await expect(server.quantile(0.5)).rejects.toThrow(
    /^distribution: expected learn-reports, got none so far/,
  );
  server.learn(reportsOf([5, 6, 7], "few"));
  const { low, high } = await server.quantile(0.5);
  expect([low, high]).toEqual([0, MAX]);
  for (const wrong of [0, 1, -1, NaN, "0.5"])
    await expect(server.quantile(wrong as number)).rejects.toThrow(/^p: expected/);
  await expect(server.cdf(NaN)).rejects.toThrow(/^x: expected/);
  await expect(server.quantile(0.5, { confidence: 2 })).rejects.toThrow(/^confidence: expected/);
  await expect(server.cdf(1, { level: 2 } as never)).rejects.toThrow(/unknown option "level"/);
});

test("the interval begins where the first bound fails, not the last", () => {
  // All values in one bin: every bound below it says 0, every one above it 1.
  const shares = new Float64Array(BINS);
  shares[300] = 1;
  const predicted = expectedReports(4, shares);
  const counts = predicted.map((share) => share * 1e9);
  const { low, high, value } = quantileOf(
    { mechanism: squareWave(4), counts, predicted },
    shares,
    BINS,
    0.5,
    0.95,
  );
  expect(low).toBeGreaterThan(297);
  expect(high).toBeLessThan(304);
  expect(value).toBe(300.5);
});
