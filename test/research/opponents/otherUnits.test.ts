/** BD and BA protect w values in a row, FAST all values of a horizon: their budgets are counted, not sampled. */
import seedrandom from "seedrandom";
import { describe, expect, test } from "vitest";
import { Fast, fastSamples } from "../../../research/systems/fast.js";
import { Absorption, Distribution, EventWindow } from "../../../research/systems/wEvent.js";
import { comparison } from "../../../research/systems/index.js";
import { chooseCore } from "../../../src/core/choose.js";
import type { Core } from "../../../src/core/core.js";
import { unsafeKey } from "../../../src/core/unsafeKey.js";
import { laplaceVariance } from "../../../src/stream/answer/variance.js";

const W = 12;

/** The largest share of ε that any w values in a row spend on releases, when releases happen by chance. */
function mostSpent(budget: Distribution | Absorption, chance: number, seed: string): number {
  const dice = seedrandom(seed);
  const spent: number[] = [];
  let most = 0;
  for (let t = 0; t < 5000; t++) {
    const share = budget.offer();
    const release = share !== undefined && dice() < chance;
    if (release) budget.spend();
    spent.push(release ? share[0] / share[1] : 0);
    most = Math.max(
      most,
      spent.slice(-W).reduce((sum, x) => sum + x, 0),
    );
  }
  return most;
}

describe.each([
  ["BD", () => new Distribution(W)],
  ["BA", () => new Absorption(W)],
] as const)("%s", (_, make) => {
  test.each([0.05, 0.3, 1])(
    "no window spends more than half of ε on releases, if %d of them are made",
    (chance) => {
      const most = mostSpent(make(), chance, `spent ${chance}`);
      expect(most).toBeLessThanOrEqual(0.5 + 1e-12);
      expect(most).toBeGreaterThan(0.24); // and it is used
    },
  );
});

test("BA without skipping would overspend, and the count sees it", () => {
  class Greedy extends Absorption {
    override spend(): void {
      for (let i = 0; i < W; i++) this.offer(); // as if what was absorbed were still there
    }
  }
  expect(mostSpent(new Greedy(W), 0.3, "greedy")).toBeGreaterThan(0.6);
});

test("BD offers half of what is left, to five binary digits; BA what was saved", () => {
  const bd = new Distribution(W);
  const offers = Array.from({ length: 4 }, () => {
    const [a, b] = bd.offer()!;
    bd.spend();
    return a / b;
  });
  expect(offers).toEqual([1 / 4, 1 / 8, 1 / 16, 1 / 32]);
  const ba = new Absorption(W);
  const saved = Array.from({ length: 3 }, () => ba.offer());
  expect(saved).toEqual([1, 2, 3].map((n) => [n, 2 * W]));
  ba.spend();
  expect([ba.offer(), ba.offer(), ba.offer()]).toEqual([undefined, undefined, [1, 2 * W]]);
});

/** Dissimilarity |x − 0| gets scale 2wΘ/ε, and the first release of BD has ε/4: P(release) and its variance. */
test("BD's first release has the variance of its share", () => {
  const [theta, epsilon, runs] = [8, 1, 20_000];
  let [made, square] = [0, 0];
  for (let run = 0; run < runs; run++) {
    const budget = new Distribution(W);
    const mechanism = new EventWindow(chooseCore(), unsafeKey(`bd ${run}`), theta, epsilon, W, budget);
    const published = mechanism.push(3);
    if (published === 0) continue; // no release, but for a release of exactly 0, which has a share of 1/64
    made++;
    square += (published - 3) ** 2;
  }
  // P(|x| + Lap > 32) with scale 192 is e^(−29/192)/2 = 0.43; 5 standard deviations of the share: ± 0.018.
  expect(made / runs).toBeGreaterThan(0.43 * (63 / 64) - 0.018);
  expect(made / runs).toBeLessThan(0.43 + 0.018);
  const slack = 5 * Math.sqrt(5 / made) + 0.02;
  expect(Math.abs(square / made / laplaceVariance((4 * theta) / epsilon) - 1)).toBeLessThan(slack);
  expect(Math.abs(square / made / laplaceVariance((2 * theta) / epsilon) - 1)).toBeGreaterThan(slack);
});

describe("FAST", () => {
  /** Counts draws, which are all 0. */
  const counting = (counted: { draws: number }): Core => ({
    ...chooseCore("js"),
    laplace(_random, _scale, out) {
      counted.draws += out.length;
      out.fill(0);
    },
  });

  test("samples at most 15 % of the horizon", () => {
    const horizon = 2000;
    const counted = { draws: 0 };
    const mechanism = new Fast(counting(counted), unsafeKey("fast"), 10, 1, horizon, 0, (x) => x);
    const dice = seedrandom("fast");
    for (let t = 0; t < horizon; t++) mechanism.push(Math.floor(dice() * 11)); // jumps: samples as often as it may
    expect(fastSamples(horizon)).toBe(300);
    expect(counted.draws).toBeLessThanOrEqual(512); // batches of 8, 16, …, 256: 504 for 300 samples
  });

  test("without noise the filter goes to a constant by its gains", () => {
    const mechanism = new Fast(counting({ draws: 0 }), unsafeKey("fast"), 10, 1, 2000, 0, (x) => x);
    // P = R at first: gains (1 + q)/(2 + q), then nearly 1/3, 1/4, …: after n samples n/(n + 1) of the way.
    const published = Array.from({ length: 5 }, () => mechanism.push(6));
    published.forEach((x, i) => expect(x).toBeCloseTo((6 * (i + 1)) / (i + 2), 5));
  });

  test("its statement and BD's say what they protect", () => {
    const options = { epsilon: 1, max: 10, maxRange: 256 } as const;
    const [fast, bd] = (["fast", "bd"] as const).map((method) => comparison({ ...options, method }));
    expect(fast!.statement().definition).toBe("user-level differential privacy over a horizon");
    expect(fast!.explain()).toContain(
      "Replacing all of 256 values in a row, from a multiple of 256 on by others",
    );
    expect(bd!.statement()).toMatchObject({
      definition: "w-event differential privacy",
      unit: "any 100 values in a row",
    });
  });
});
