/** θ from day to day, on data that had no say in its constants: what it hides, and that it follows drift. */
import { describe, expect, test } from "vitest";
import { FRESH } from "../../research/localAccuracy/freshValues.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { nearestThreshold } from "../../src/local/channel.js";
import { estimateCounts, firstFactor, nextThreshold, shareOnTop } from "../../src/local/dayThreshold.js";
import { pooled, type ReportCounts } from "../../src/local/dayTally.js";
import { Draws } from "../support/dayReports.js";
import { uniforms } from "../support/localValues.js";

const core = makeWasmCore();
const DAYS = 10;

type Rule = (
  theta: number,
  chosen: boolean,
  days: readonly ReportCounts[],
  max: number,
) => Promise<number | undefined>;

/** θ of each day; a rule sees the reports of all days with the present θ, newest last. */
async function follow(
  stream: (u: number, day: number) => number,
  { n, epsilon, max, seed }: { n: number; epsilon: number; max: number; seed: string },
  rule: (draws: Draws) => Rule,
): Promise<{ readonly thetas: number[]; readonly hidden: number[] }> {
  const draws = new Draws(epsilon, seed);
  const decide = rule(draws);
  let [theta, chosen] = [max, false];
  let days: ReportCounts[] = [];
  const [thetas, hidden]: [number[], number[]] = [[], []];
  for (let day = 0; day < DAYS; day++) {
    const values = uniforms(n, `${seed} ${day}`).map((u) => Math.min(max, stream(u, day)));
    const total = values.reduce((sum, value) => sum + value, 0);
    thetas.push(theta);
    hidden.push(values.reduce((sum, value) => sum + Math.max(0, value - theta), 0) / total);
    days.push(draws.tally(values, theta));
    const next = await decide(theta, chosen, days, max);
    if (next === undefined) continue;
    if (next !== theta) days = [];
    [theta, chosen] = [next, true];
  }
  return { thetas, hidden };
}

/** The rule of the library. */
const own =
  ({ mechanism }: Draws): Rule =>
  (theta, chosen, days, max) =>
    nextThreshold(
      core,
      { theta, chosen, all: pooled(days)[0]!, days: days.length, newest: days.at(-1)! },
      mechanism,
      max,
    );

/** θ of least regret anew every midnight. */
const ratchet =
  ({ mechanism }: Draws): Rule =>
  async (theta, _, days, max) => {
    const newest = days.at(-1)!;
    const { choice } = await estimateCounts(core, newest, mechanism, { served: newest.reports }, {});
    return nearestThreshold(choice.share * theta, max);
  };

const maxOf = (stream: (u: number) => number): number =>
  10 * uniforms(10_000, "max").map(stream).sort()[9950]!;
const mean = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0) / numbers.length;

// Fixed seeds: these are measurements, repeated. research/notes/local-days.md has more of them.
describe("ten days of 2,000 reports, ε = 1, max ten times too large", () => {
  test("θ comes down at the first midnight and hides at most 8 % of the mean on the tenth day, on average", async () => {
    const hidden: number[] = [];
    for (const [name, stream] of Object.entries(FRESH)) {
      const max = maxOf(stream);
      const found = await follow(stream, { n: 2000, epsilon: 1, max, seed: name }, own);
      expect([name, found.thetas[1]! < max / 2]).toEqual([name, true]);
      hidden.push(found.hidden.at(-1)!);
    }
    expect(mean(hidden)).toBeLessThan(0.05);
  });

  test("a θ that is chosen anew every midnight hides more", async () => {
    const hidden: number[] = [];
    for (const [name, stream] of Object.entries(FRESH)) {
      const setting = { n: 2000, epsilon: 1, max: maxOf(stream), seed: name };
      hidden.push((await follow(stream, setting, ratchet)).hidden.at(-1)!);
    }
    expect(mean(hidden)).toBeGreaterThan(0.08);
  });
});

test("values that become three times as large on the sixth day: θ follows the next day", async () => {
  for (const name of ["gamma", "Rayleigh", "half normal and a spike"]) {
    const stream = FRESH[name]!;
    const drifting = (u: number, day: number) => (day < 5 ? 1 : 3) * stream(u);
    const setting = { n: 20_000, epsilon: 1, max: maxOf(stream), seed: `drift ${name}` };
    const { hidden } = await follow(drifting, setting, own);
    expect(hidden[5]).toBeGreaterThan(0.02);
    expect(hidden[6]).toBeLessThan(hidden[5]! / 2);
    const still: (draws: Draws) => Rule = (draws) => (theta, chosen, days, max) =>
      chosen ? Promise.resolve(undefined) : own(draws)(theta, chosen, days, max);
    const kept = await follow(drifting, setting, still);
    expect(kept.hidden[6]).toBeGreaterThan(kept.hidden[5]! / 2); // a θ that stays
  }
});

test("one θ a day: a θ that is chosen anew within the day, with sums weighed by their noise, loses most of a mean of rare values", async () => {
  const [epsilon, max, n] = [1, 5000, 2000];
  const draws = new Draws(epsilon, "within");
  /** Four in five are 0; the others have a long tail. */
  const sparse = (u: number): number => (u < 0.8 ? 0 : Math.min(max, 20 * (5 * (1 - u)) ** -0.8));
  const values = uniforms(n, "within").map(sparse);
  const truth = mean([...values]);
  let [theta, from] = [max, 0];
  const parts: { readonly counted: number; readonly weight: number }[] = [];
  for (const to of [n / 16, n / 4, n]) {
    const some = values.subarray(from, to);
    parts.push({
      counted: mean([...some].map((value) => Math.min(value, theta))),
      weight: some.length / theta ** 2,
    });
    const tally = draws.tally(some, theta);
    const { choice } = await estimateCounts(core, tally, draws.mechanism, { served: n }, {});
    [theta, from] = [nearestThreshold(choice.share * theta, max), to];
  }
  const total = parts.reduce((sum, { weight }) => sum + weight, 0);
  const within = parts.reduce((sum, { counted, weight }) => sum + (weight / total) * counted, 0);
  expect(within / truth).toBeLessThan(0.5);
  // The same reports with one θ for the day: all of the first day counts, and the second one hides less.
  const day = draws.tally(values, max);
  const followed = { theta: max, chosen: false, all: day, days: 1, newest: day };
  const next = (await nextThreshold(core, followed, draws.mechanism, max))!;
  expect(mean([...values].map((value) => Math.min(value, next))) / truth).toBeGreaterThan(0.6);
});

test("θ comes down when values do", async () => {
  const shrinking = (u: number, day: number) => (day < 1 ? 1 : 0.1) * FRESH["Rayleigh"]!(u);
  const setting = { n: 20_000, epsilon: 2, max: 1000, seed: "shrinking" };
  const { thetas } = await follow(shrinking, setting, own);
  expect(thetas.at(-1)).toBeLessThanOrEqual(thetas[1]! / 2);
});

test("the first θ has half as much again from few reports, and no room from many", () => {
  const factors = (epsilon: number): string[] =>
    [200, 2000, 20_000, 65_536, 1e6].map((reports) => firstFactor(epsilon, reports).toFixed(2));
  expect(factors(0.2)).toEqual(["1.50", "1.50", "1.06", "1.02", "1.00"]);
  expect(factors(1)).toEqual(["1.50", "1.50", "1.06", "1.02", "1.00"]);
  expect(factors(4)).toEqual(["1.12", "1.01", "1.00", "1.00", "1.00"]);
});

test("a lower bound on the share of values on top: it holds, and is close when there are many reports", () => {
  for (const epsilon of [0.5, 1, 4]) {
    const draws = new Draws(epsilon, `top ${epsilon}`);
    for (const share of [0, 0.02, 0.3]) {
      const values = Float64Array.from({ length: 400_000 }, (_, i) => (i < 400_000 * share ? 10 : 1));
      const found = shareOnTop(draws.tally(values, 10), draws.mechanism);
      expect(found).toBeLessThan(share + 1e-9); // 97.5 %, with this seed
      expect(found).toBeGreaterThan(share - 0.05);
    }
  }
});
