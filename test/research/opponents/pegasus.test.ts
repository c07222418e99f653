import seedrandom from "seedrandom";
import { describe, expect, test } from "vitest";
import { Deviation } from "../../../research/systems/deviation.js";
import { Pegasus, type PegasusSmoother } from "../../../research/systems/pegasus.js";
import { RunningMedian } from "../../../research/systems/runningMedian.js";
import { chooseCore } from "../../../src/core/choose.js";
import { unsafeKey } from "../../../src/core/unsafeKey.js";
import { laplaceVariance } from "../../../src/stream/answer/variance.js";

const same = (x: number) => x;
const make = (smoother: PegasusSmoother, epsilon: number, theta = 16, seed = "pegasus") =>
  new Pegasus(chooseCore(), unsafeKey(seed), theta, epsilon, smoother, same);

test("the deviation is Σ |x − mean| rounded down, for sets that grow and shrink", () => {
  const dice = seedrandom("deviation");
  const deviation = new Deviation(50);
  const set: number[] = [];
  for (let i = 0; i < 400; i++) {
    if (set.length > 3 && dice() < 0.4) deviation.remove(set.splice(Math.floor(dice() * set.length), 1)[0]!);
    else {
      set.push(Math.floor(dice() * 51));
      deviation.add(set[set.length - 1]!);
    }
    // n·Σ |x − S/n| in integers: no rounding.
    const [n, sum] = [set.length, set.reduce((a, b) => a + b, 0)];
    const scaled = set.reduce((total, x) => total + Math.abs(n * x - sum), 0);
    expect(deviation.floor()).toBe(Math.floor(scaled / n));
  }
});

test("the deviation moves by at most twice the largest value when one value is replaced", () => {
  const dice = seedrandom("sensitivity");
  let most = 0;
  for (let i = 0; i < 2000; i++) {
    const set = Array.from({ length: 1 + Math.floor(dice() * 6) }, () => (dice() < 0.5 ? 0 : 10));
    const of = (values: number[]) => {
      const deviation = new Deviation(10);
      for (const x of values) deviation.add(x);
      return deviation.floor();
    };
    most = Math.max(most, Math.abs(of(set) - of([dice() < 0.5 ? 0 : 10, ...set.slice(1)])));
  }
  expect(most).toBeLessThanOrEqual(20);
  expect(most).toBeGreaterThan(10); // once is not enough
});

test("the running median is the median", () => {
  const dice = seedrandom("median");
  const running = new RunningMedian();
  const list: number[] = [];
  for (let i = 0; i < 500; i++) {
    list.push(Math.floor(dice() * 40) - 20);
    running.add(list[i]!);
    const sorted = list.toSorted((a, b) => a - b);
    expect(running.value).toBe((sorted[i >> 1]! + sorted[(i + 1) >> 1]!) / 2);
  }
});

describe("smoothers", () => {
  /** With much ε there is next to no noise: 3 fours, then nines that are far from them. */
  test.each<[PegasusSmoother, number[]]>([
    ["average", [4, 4, 4, 9, 9, 9]],
    ["median", [4, 4, 4, 9, 9, 9]],
    ["james-stein", [4, 4, 4, 9, 9, 9]],
  ])("%s: a jump starts a new group", (smoother, expected) => {
    const mechanism = make(smoother, 10_000);
    expect([4, 4, 4, 9, 9, 9].map((x) => mechanism.push(x))).toEqual(expected);
  });

  test("values that differ little share a group, and each smoother says what it says", () => {
    // ε_g = 16: a bound of 5·16/16 = 5, noise of scale 4 and 8 for the deviation: far below the deviations of one step here.
    const run = (smoother: PegasusSmoother) => {
      const mechanism = make(smoother, 100_000, 2 ** 20);
      return [100, 100, 100, 100].map((x) => mechanism.push(x));
    };
    for (const smoother of ["average", "median", "james-stein"] as const)
      for (const published of run(smoother)) expect(Math.abs(published - 100)).toBeLessThan(400); // noise of scale 13
  });
});

/**
 * On a constant stream the deviation is 0, and a group of n averages n noises: variance 2(Θ/(0.8 ε))²/n at its n-th value. The mean of
 * 1/n over positions is known from the groups, which are not published; so the first two positions are tested, which
 * are together with probability p: the second one's variance is (1 − p/2) of the first one's.
 */
test("the second value's average has the variance of one noise or of two", () => {
  const runs = 20_000;
  const noise = laplaceVariance(16 / 0.8);
  let [first, second] = [0, 0];
  for (let run = 0; run < runs; run++) {
    const mechanism = make("average", 1, 16, `run ${run}`);
    first += (mechanism.push(7) - 7) ** 2 / runs;
    second += (mechanism.push(7) - 7) ** 2 / runs;
  }
  // P(join) for a Laplace bound of 5 + 4·Lap against 8·Lap, in units of Θ/ε_g: by summing both densities.
  const joined = joinChance();
  // A sample variance of Laplace noise strays by √(5/N) of itself: 5 standard deviations, P < 6·10⁻⁷.
  const slack = 5 * Math.sqrt(5 / runs);
  expect(Math.abs(first / noise - 1)).toBeLessThan(slack);
  expect(Math.abs(second / (noise * (1 - joined / 2)) - 1)).toBeLessThan(slack * 1.2);
  expect(Math.abs(first / laplaceVariance(16) - 1)).toBeGreaterThan(slack); // all of ε for the perturber would show
  expect(Math.abs(second / noise - 1)).toBeGreaterThan(slack * 1.2); // and so would groups of one
});

function joinChance(): number {
  const density = (x: number, scale: number) => Math.exp(-Math.abs(x) / scale) / (2 * scale);
  const below = (x: number) => (x < 0 ? Math.exp(x / 8) / 2 : 1 - Math.exp(-x / 8) / 2);
  let chance = 0;
  for (let x = -200; x < 200; x += 0.01) chance += 0.01 * density(x, 4) * below(5 + x);
  return chance;
}
