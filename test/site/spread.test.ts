import seedrandom from "seedrandom";
import { expect, test } from "vitest";
import { spreadOf } from "../../site/src/paper/runner.js";

test("error bars of few runs hold the mean as often as they say", () => {
  const random = seedrandom("spread");
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const draws = 40_000;
  for (const runs of [2, 3, 5, 15, 40]) {
    let [held, narrow] = [0, 0];
    for (let draw = 0; draw < draws; draw++) {
      const { mean, error } = spreadOf(Array.from({ length: runs }, normal));
      if (Math.abs(mean) <= error) held++;
      if (Math.abs(mean) <= 0.8 * error) narrow++;
    }
    // Six standard errors of a share of 95 %: odds of a false alarm below 10⁻⁸ each.
    expect(Math.abs(held / draws - 0.95), `${runs} runs`).toBeLessThan(0.0066);
    expect(Math.abs(narrow / draws - 0.95), `${runs} runs`).toBeGreaterThan(0.0066);
  }
});
