import { describe, expect, test } from "vitest";
import { nearestThreshold, thresholdShares } from "../../src/local/channel.js";
import { hybrid } from "../../src/local/mechanisms.js";
import { averageTails, type Evidence, resolutionOf, walkHill } from "../../src/local/tails.js";
import { costOf, expectedExcess } from "../../src/local/threshold.js";
import { averagedModels } from "../support/tailModels.js";

const N = 1024;
const THRESHOLDS = thresholdShares().map((share) => share * N);
const COST = costOf(hybrid(1), 2 ** 20, "exact");
const noPause = () => Promise.resolve();
const average = (evidence: Evidence) => averageTails(evidence, THRESHOLDS, COST, noPause);

/** Exponential values with this mean, in bins; the rest at the end. */
function exponential(mean: number): Float64Array {
  const shares = new Float64Array(N);
  for (let i = 0; i < N; i++) shares[i] = Math.exp(-i / mean) - (i === N - 1 ? 0 : Math.exp(-(i + 1) / mean));
  return shares;
}

/** The likelihood as if reports were values: m of them, as EM has them. */
const asSeen = (shares: Float64Array, m: number) => (model: Float64Array) =>
  shares.reduce(
    (sum, share, i) => sum + (share > 0 ? m * share * Math.log(Math.max(model[i]!, 1e-300)) : 0),
    0,
  );

test("the thresholds asked about are the public ones, rising", () => {
  const shares = thresholdShares();
  expect(shares).toHaveLength(321);
  expect([shares[0], shares[320]]).toEqual([2 ** -20, 1]);
  shares.forEach((share, i) => {
    expect(nearestThreshold(share, 1)).toBe(share);
    if (i > 0) expect(share).toBeGreaterThan(shares[i - 1]!);
  });
});

test("s is the standard error of a share under randomised response", () => {
  // ε = ln 3: truth with ¾. A share's standard error is √(¾·¼/10⁴)/(¾ − ¼).
  expect(resolutionOf(Math.log(3), 10_000)).toBeCloseTo(Math.sqrt(3 / 16 / 1e4) / 0.5, 14);
});

describe("where a model fits exactly", () => {
  test.each([8, 32, 128])(
    "exponential values, mean %d bins: θ is the best one and the average is the truth",
    async (mean) => {
      const shares = exponential(mean);
      const found = await average({ shares, resolution: 0.01, logLikelihood: asSeen(shares, 1e6) });
      const excess = (theta: number) => mean * (Math.exp(-theta / mean) - Math.exp(-N / mean));
      const costs = THRESHOLDS.map((theta) => COST(theta, excess(theta)));
      expect(found.best).toBe(costs.indexOf(Math.min(...costs)));
      expect(found.excess / excess(THRESHOLDS[found.best]!)).toBeCloseTo(1, 4);
      found.shares.forEach((share, i) => expect(share).toBeCloseTo(shares[i]!, 5));
    },
  );

  test("a heavy tail gives a larger θ than a light one of the same mean", async () => {
    const light = exponential(32);
    const heavy = new Float64Array(N);
    const survival = (y: number) => (1 + y / 96) ** -4;
    for (let i = 0; i < N; i++) heavy[i] = survival(i) - (i === N - 1 ? 0 : survival(i + 1));
    const [a, b] = await Promise.all(
      [light, heavy].map((shares) =>
        average({ shares, resolution: 0.01, logLikelihood: asSeen(shares, 1e6) }),
      ),
    );
    expect(b!.best).toBeGreaterThan(a!.best);
  });
});

test("crumbs that the reports cannot show do not draw θ to them", async () => {
  // Exponential values, and 0.1 % scattered at the far end by EM, below a resolution of 1 %.
  const shares = exponential(32).map((share, i) => 0.999 * share + (i >= 900 ? 0.001 / 124 : 0));
  // The likelihood does not know about the crumbs either: it is that of the exponential.
  const found = await average({ shares, resolution: 0.01, logLikelihood: asSeen(exponential(32), 1e5) });
  expect(THRESHOLDS[found.best]).toBeLessThan(300);
  expect(THRESHOLDS[found.best]).toBeGreaterThan(100);
});

test("a second mode that the reports do show is kept", async () => {
  const shares = exponential(8).map((share, i) => 0.9 * share + (i >= 600 && i < 620 ? 0.1 / 20 : 0));
  const found = await average({ shares, resolution: 0.005, logLikelihood: asSeen(shares, 1e5) });
  expect(THRESHOLDS[found.best]).toBeGreaterThanOrEqual(600);
  expect(THRESHOLDS[found.best]).toBeLessThan(800);
  const mean = (of: Float64Array) => of.reduce((sum, share, i) => sum + share * (i + 0.5), 0);
  expect(mean(found.shares) / mean(shares)).toBeCloseTo(1, 1);
});

describe("walking a hill", () => {
  /** Places visited, in order. */
  function visited(hill: (place: number) => number, start: number, least: number): number[] {
    const places: number[] = [];
    const at = (place: number) => (places.push(place), hill(place));
    expect(walkHill(at, 37, start, () => least)).toBe(top(hill));
    return places.sort((a, b) => a - b);
  }
  const PLACES = Array.from({ length: 37 }, (_, place) => place);
  const top = (hill: (place: number) => number) =>
    PLACES.reduce((best, place) => (hill(place) > hill(best) ? place : best), 0);

  test("finds the top from everywhere, and every place above the limit; no place twice", () => {
    for (const peak of [0, 5, 18, 36])
      for (const steepness of [0.01, 1, 100])
        for (const start of [0, 12, 36]) {
          const hill = (place: number) => -steepness * (place - peak) ** 2;
          const places = visited(hill, start, -20);
          expect(new Set(places).size).toBe(places.length);
          expect(PLACES.filter((place) => hill(place) > -20 && !places.includes(place))).toEqual([]);
        }
  });

  test("a wiggle of one step does not stop it", () => {
    const hill = (place: number) => -((place - 20) ** 2) - (place === 10 ? 30 : 0);
    expect(visited(hill, 0, -20)).toContain(20);
  });

  test("nor one right beside the top, on either side", () => {
    for (const peak of [5, 18, 30])
      for (const dip of [peak - 1, peak + 1])
        for (const start of [0, peak - 2, peak + 2, 36])
          expect(visited((place) => -((place - peak) ** 2) - (place === dip ? 30 : 0), start, -20)).toContain(
            peak,
          );
  });

  test("leaves out what lies far below", () => {
    expect(visited((place) => -100 * (place - 18) ** 2, 18, -20)).toEqual([16, 17, 18, 19, 20]);
  });
});

test("every model is a distribution: shares sum to 1 and none is negative, for any estimate", async () => {
  // EM to 2⁻⁸, zeros to 2⁻¹⁰; 37 β from ¼ to 2¹⁰; two shapes. The formula of tails.ts with ℓ = 0.
  const levels = [1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  const priors = levels.flatMap((j) =>
    Array.from({ length: 37 }, (_, q) => {
      const beta = 2 ** (q / 3) / 4;
      return (j * Math.log(0.002)) / 2 - 3 * Math.log(1 + (0.002 * N * 2 ** j) / (4 * beta));
    }),
  );
  const heard = 2 * priors.filter((prior) => prior > Math.max(...priors) + Math.log(1e-9)).length;
  for (const shares of [
    exponential(0.01),
    exponential(1e6),
    new Float64Array(N).fill(1 / N),
    new Float64Array(N).fill(1, 500, 501),
    new Float64Array(N).fill(0.5, 0, 1).fill(0.5, N - 1),
  ]) {
    let models = 0;
    const found = await average({
      shares,
      resolution: 0.002,
      logLikelihood: (model) => {
        models++;
        expect(model.reduce((a, b) => a + b)).toBeCloseTo(1, 9);
        expect(Math.min(...model)).toBeGreaterThanOrEqual(0);
        return 0;
      },
    });
    // The likelihood says nothing here, so the prior decides who is heard: all of these are, and some at their borders.
    expect(models).toBeGreaterThanOrEqual(heard);
    expect(models).toBeLessThan(1.1 * heard);
    expect(found.shares.reduce((a, b) => a + b)).toBeCloseTo(1, 9);
    expect(Number.isFinite(found.excess)).toBe(true);
  }
});

test("the excess of the averaged distribution agrees with the one told for θ", async () => {
  const shares = exponential(40);
  const found = await average({ shares, resolution: 0.01, logLikelihood: asSeen(shares, 5000) });
  const theta = THRESHOLDS[found.best]!;
  expect(theta).toBe(Math.round(theta)); // a bin edge, where both are exact
  // The last bin holds what lies at `max`; the bins have it half a bin lower.
  expect(Math.abs(expectedExcess(found.shares)[theta]! - found.excess)).toBeLessThan(1e-3);
});

describe("the average over all models, each of them written out", () => {
  const normalised = (numbers: readonly number[]) => {
    const sum = numbers.reduce((a, b) => a + b);
    return Float64Array.from(numbers, (x) => x / sum);
  };
  const falling = (n: number, rate: number) => Array.from({ length: n }, (_, i) => Math.exp(-rate * i));
  // 32 bins and s = 1/32: the largest β is n itself, and the deepest body has exactly s/4.
  test.each([
    ["an even spread, as far as β goes", normalised(new Array<number>(32).fill(1)), 1 / 32, 5],
    ["a light tail", normalised(falling(32, 0.3)), 1 / 32, 200],
    ["a heavy one", normalised(Array.from({ length: 24 }, (_, i) => (1 + i) ** -3)), 0.01, 500],
    ["two modes", normalised([9, 7, 3, 1, 0, 0, 0, 0, 2, 3, 2, 0, 0, 0, 1, 0]), 0.03, 300],
    ["nothing in the first bins", normalised([0, 0, 0, 5, 8, 3, 2, 1, 1, 0, 0, 0]), 0.02, 100],
    ["few reports", normalised(falling(20, 0.5)), 0.4, 2],
    ["hardly any report", normalised(falling(20, 0.1)), 0.8, 1],
    ["all in the last bin", normalised([0, 0, 0, 0, 0, 0, 0, 1]), 0.05, 50],
    ["sparse values, and as few as the deepest body has", normalised([60, 1, 1, 0, 1, 0, 0, 1]), 1 / 4, 20],
    ["sparse values", normalised([400, 1, 1, 0, 1, 0, 0, 1, 0, 1]), 0.02, 100],
  ])("%s", async (_, shares, resolution, reports) => {
    const evidence = { shares, resolution, logLikelihood: asSeen(shares, reports) };
    const thresholds = Float64Array.from({ length: 150 }, (_, k) => ((k + 1) * shares.length) / 150);
    for (const r of [50, 5000]) {
      const cost = costOf(hybrid(1), r, "exact");
      const found = await averageTails(evidence, thresholds, cost, noPause);
      const wanted = averagedModels(evidence, thresholds, cost);
      expect(found.best).toBe(wanted.best);
      expect(found.excess / wanted.excess).toBeCloseTo(1, 6);
      found.shares.forEach((share, i) => expect(share).toBeCloseTo(wanted.shares[i]!, 7));
    }
  });
});
