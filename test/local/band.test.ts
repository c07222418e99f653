import { describe, expect, test } from "vitest";
import { bandAround, shownUpTo } from "../../src/local/band.js";
import { hybrid } from "../../src/local/mechanisms.js";
import { chooseThreshold, costOf, excessAt } from "../../src/local/threshold.js";

const N = 1024;
const SETTINGS = { maxRange: 2 ** 20, objective: "exact" } as const;
const noPause = () => Promise.resolve();

/** θ in bins, by the default and by SW-W, if reports say of any distribution that it is as likely as every other. */
async function thetas(
  shares: Float64Array,
  resolution: number,
  logLikelihood: (distribution: Float64Array) => number = () => 0,
) {
  const evidence = { shares, resolution, logLikelihood };
  const choose = async (tail: "models" | "paper", objective: "exact" | "paper") =>
    (await chooseThreshold(evidence, { ...SETTINGS, tail, objective }, hybrid(1), noPause)).share * N;
  return { ours: await choose("models", "exact"), paper: await choose("paper", "paper") };
}

/** Half of a bell that is `width` bins wide, and crumbs of 0.2 % spread over the rest. */
function bell(width: number): Float64Array {
  const shares = new Float64Array(N).map((_, i) => Math.exp(-((i / width) ** 2) / 2));
  const sum = shares.reduce((a, b) => a + b);
  return shares.map((share) => (0.998 * share) / sum + 0.002 / N);
}

describe("the place above which a share lies", () => {
  test("worked by hand", () => {
    const shares = Float64Array.of(0.5, 0, 0.25, 0.25);
    expect([0.125, 0.25, 0.375, 0.5, 0.75].map((above) => shownUpTo(shares, above))).toEqual([
      3.5, 3, 2.5, 2, 0.5,
    ]);
  });

  test("nothing is shown where s says that nothing can be", () => {
    expect(shownUpTo(new Float64Array(4).fill(0.25), 1.5)).toBe(0);
  });
});

test("the band: worked by hand", () => {
  const shares = new Float64Array(10).fill(0.1);
  expect(bandAround(2, shares, 1)).toEqual({ least: 1.8, most: 2.3 }); // 6·s > 1: only the paper's θ counts
  const { least, most } = bandAround(2, shares, 0.05); // 30 % lie above bin 7
  expect(least).toBe(1.8);
  expect(most).toBeCloseTo(1.3 * 7, 12);
});

describe("θ against the paper's", () => {
  test.each([20, 60, 150])(
    "a bell %d bins wide and a resolution of 2 %%: noise costs a third more at most",
    async (width) => {
      const { ours, paper } = await thetas(bell(width), 0.02);
      expect(ours).toBeGreaterThanOrEqual(0.9 * paper);
      expect((ours / paper) ** 2).toBeLessThanOrEqual(1.15 ** 2);
      // So for every distribution the error is at most 1.15² times the paper's where θ is above it.
      const cost = costOf(hybrid(1), SETTINGS.maxRange, "exact");
      const hidden = (theta: number) => excessAt(bell(width), theta);
      if (ours > paper)
        expect(cost(ours, hidden(ours))).toBeLessThanOrEqual(1.15 ** 2 * cost(paper, hidden(paper)));
    },
  );

  test("a second mode behind a gap, which the reports show, is kept; the paper's θ is below it", async () => {
    const shares = bell(10).map((share, i) => 0.85 * share + (i >= 600 && i < 650 ? 0.15 / 50 : 0));
    const seen = (model: Float64Array) =>
      shares.reduce((sum, share, i) => sum + 1e4 * share * Math.log(Math.max(model[i]!, 1e-300)), 0);
    const { ours, paper } = await thetas(shares, 0.02, seen);
    expect(paper).toBeLessThan(200);
    expect(ours).toBeGreaterThanOrEqual(600);
    // The same at a resolution that cannot show 15 %: then nobody knows, and θ stays with the paper's.
    const blind = await thetas(shares, 0.05, seen);
    expect(blind.ours).toBeLessThanOrEqual(1.15 * blind.paper);
  });
});
