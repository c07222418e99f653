import { expect, test } from "vitest";
import { isUsual, sweepZoo } from "../../research/zoo/sweep.js";

/** Hold-outs from 16 values up, ranges from one fan-out up, m/r from 1/256 to 16; streams of all kinds, one of them nearly empty. */
const cells = sweepZoo({
  streams: ["exponential", "pareto", "uniform", "sparse", "zero-inflated", "small integers", "bimodal"],
  epsilons: [0.1, 1],
  holdouts: [16, 64, 256, 1024, 4096, 16_384],
  maxRanges: [16, 256, 4096, 65_536],
  runs: 5,
  seed: "sweep",
});

test("a hold-out is between 1/256 and 16 of the range", () => {
  expect([isUsual(16, 4096), isUsual(15, 4096), isUsual(256, 16), isUsual(257, 16)]).toEqual([
    ...[true, false, true, false],
  ]);
  expect(cells).toHaveLength(7 * 2 * 18);
});

test("θ is never absurd without a warning in the statement", () => {
  // An error of more than 100 times that of the best θ; the seed is fixed.
  const absurd = cells.filter(({ unwarned }) => unwarned > 100);
  expect(
    absurd.map(({ stream, epsilon, holdout, maxRange }) => ({ stream, epsilon, holdout, maxRange })),
  ).toEqual([]);
});

test("and without the warnings there would be absurd ones", () => {
  expect(cells.some(({ loss, warned }) => loss > 100 && warned === 1)).toBe(true);
});

test("θ is good where hold-outs are large enough, whatever m/r is", () => {
  for (const { loss, warned } of cells) if (warned === 0) expect(loss).toBeLessThan(10);
});
