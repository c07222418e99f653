import { expect, test } from "vitest";
import { measureTheta } from "../../research/eventTheta/measure.js";

/** The seed is fixed. */
const options = {
  ...{ distributions: ["lognormal", "bimodal"], epsilons: [1], events: [10, 100, 3000], runs: 15 },
  seed: "θ of events",
};
const cells = measureTheta(options);
const cellOf = (distribution: string, events: number) =>
  cells.find((cell) => cell.distribution === distribution && cell.events === events)!;

test("no θ is better than the best one, and with enough events both ways come near it", () => {
  expect(cells).toHaveLength(6);
  for (const { split, dealt } of cells)
    for (const { median, worstDecile } of [split, dealt]) {
      expect(median).toBeGreaterThanOrEqual(1);
      expect(worstDecile).toBeGreaterThanOrEqual(median);
    }
  for (const distribution of options.distributions) {
    const { split, dealt, enough, best } = cellOf(distribution, 3000);
    expect(enough).toBe(1);
    for (const { worstDecile } of [split, dealt]) expect(worstDecile).toBeLessThan(2);
    expect(best).toBeLessThan(0.05);
  }
});

test("few events are told by the noisy count, and a small mode is lost", () => {
  for (const distribution of options.distributions) expect(cellOf(distribution, 10).enough).toBe(0);
  const { split, dealt } = cellOf("bimodal", 100);
  for (const { median } of [split, dealt]) expect(median).toBeGreaterThan(2);
});
