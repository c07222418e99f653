import { expect, test } from "vitest";
import { measureShort, WAYS } from "../../research/zoo/short.js";

/** Trees of 4096 values; the seed is fixed. */
const options = {
  ...{ streams: ["lognormal", "zero-inflated"], epsilons: [0.5], runs: 3, queries: 40, seed: "short" },
  ...{ holdout: 64, maxRange: 2 ** 16 },
};

test("behind the first tree a second choice of θ is as good as waiting, and a hold-out of 64 values is not", () => {
  const cells = measureShort(options);
  expect(cells.map(({ stream, epsilon }) => [stream, epsilon])).toEqual([
    ["lognormal", 0.5],
    ["zero-inflated", 0.5],
  ]);
  for (const { errors } of cells) {
    expect(Object.keys(errors)).toEqual([...WAYS]);
    expect(errors.refined.after.answers).toBeLessThan(3 * errors.wait.after.answers);
    expect(errors.short.after.answers).toBeGreaterThan(3 * errors.refined.after.answers);
    expect(errors.short.after.published).toBeGreaterThan(3 * errors.refined.after.published);
    // In the first tree both have the same rough θ, which hides more than any noise does.
    expect(errors.refined.first.answers).toBeGreaterThan(errors.wait.first.answers);
  }
});

test("the same figures every time", () => {
  const few = { ...options, streams: ["constant"], runs: 1 };
  expect(measureShort(few)).toEqual(measureShort(few));
});
