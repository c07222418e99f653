import { describe, expect, test } from "vitest";
import { nearestThreshold, thresholdShares } from "../../src/local/channel.js";
import { hybrid } from "../../src/local/mechanisms.js";
import { averageTails, type Evidence, resolutionOf } from "../../src/local/tails.js";
import { costOf, expectedExcess } from "../../src/local/threshold.js";

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

test("every model is a distribution: shares sum to 1 and none is negative, for any estimate", async () => {
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
    expect(models).toBe((1 + 8 + 10) * 2 * 37); // EM to 2⁻⁸, zeros to 2⁻¹⁰; β from ¼ to 2¹⁰
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
