import { expect, test } from "vitest";
import { Hybrid } from "../../../research/systems/hybrid.js";
import { Partition } from "../../../research/systems/partition.js";
import { chooseCore } from "../../../src/core/choose.js";
import type { Core } from "../../../src/core/core.js";
import { unsafeKey } from "../../../src/core/unsafeKey.js";
import { laplaceVariance } from "../../../src/stream/answer/variance.js";

const key = unsafeKey("hybrid");
const [theta, epsilon, T] = [3, 0.5, 40];

/** A core whose noise is 0 but for one place of one sub-stream; its scale there is noted. */
function impulse(at: { stream: string; place: number } | undefined, seen: Map<string, number>): Core {
  return {
    ...chooseCore("js"),
    laplace(random, scale, out) {
      const stream = random.nonce.join();
      seen.set(stream, Number(scale.numerator) / Number(scale.denominator));
      out.fill(0);
      const place = (at?.place ?? 0) - random.position;
      if (stream === at?.stream && place >= 0 && place < out.length) out[place] = 1;
      random.position += out.length;
    },
  };
}

const prefixes = (core: Core, share = 1) => {
  const mechanism = new Hybrid(core, key, theta, epsilon * share);
  return [0, ...Array.from({ length: T }, () => mechanism.push(0))];
};

/** The variance of every range from the effect of every single noise. */
function varianceByImpulses(share = 1): (from: number, to: number) => number {
  const scales = new Map<string, number>();
  prefixes(impulse(undefined, scales), share);
  const effects = [...scales].flatMap(([stream, scale]) =>
    Array.from({ length: T }, (_, place) => ({
      effect: prefixes(impulse({ stream, place }, new Map())),
      variance: laplaceVariance(scale),
    })),
  );
  return (from, to) =>
    effects.reduce((sum, { effect, variance }) => sum + (effect[to]! - effect[from]!) ** 2 * variance, 0);
}

const ranges = Array.from({ length: T }, (_, from) => from).flatMap((from) =>
  Array.from({ length: T - from }, (_, i) => [from, from + 1 + i] as const),
);

test("Hybrid: the variance it states is the variance it has, for every range", () => {
  const mechanism = new Hybrid(chooseCore("js"), key, theta, epsilon);
  const [is, broken] = [varianceByImpulses(), varianceByImpulses(1.05)];
  for (const [from, to] of ranges) {
    expect(mechanism.spread(from, to).variance / is(from, to)).toBeCloseTo(1, 9);
    expect(mechanism.spread(from, to).variance / broken(from, to)).toBeGreaterThan(1.05); // ε 5 % too large is seen
  }
});

test("Hybrid: up to 2^k it has k + 1 noises of scale 2Θ/ε, after it those of a tree of k levels", () => {
  const mechanism = new Hybrid(chooseCore("js"), key, theta, epsilon);
  const logarithmic = laplaceVariance((2 * theta) / epsilon);
  for (const k of [0, 3, 5])
    expect(mechanism.spread(0, 2 ** k).variance).toBeCloseTo((k + 1) * logarithmic, 6);
  const tree = laplaceVariance((2 * 5 * theta) / epsilon);
  expect(mechanism.spread(0, 32 + 7).variance).toBeCloseTo(6 * logarithmic + 3 * tree, 6);
});

test("Hybrid: without noise every prefix is the sum so far", () => {
  const mechanism = new Hybrid(impulse(undefined, new Map()), key, theta, epsilon);
  let sum = 0;
  for (let t = 0; t < 100; t++) expect(mechanism.push(t % 4)).toBe((sum += t % 4));
});

/**
 * Partition: at every moment the error is what waits in the segment and the noise of the counter. With probability 1 − 10⁻⁶ no
 * noise of scale t among n exceeds t·ln(n·10⁶·3), so with n segments at most
 *     segment ≤ bound + 2·(2Θ/ε₁)·l + (4Θ/ε₁)·l,   counter ≤ k·(4Θ/ε)·l′ + …, taken together below.
 */
test("Partition: on a sparse stream the error is of order log T + log² n, below a binary tree's", () => {
  const [horizon, ones] = [2 ** 16, 200];
  const mechanism = new Partition(chooseCore("js"), key, 1, 1, horizon);
  const l = Math.log(3e6 * horizon);
  let [truth, worst, steps, last] = [0, 0, 0, 0];
  for (let t = 0; t < horizon; t++) {
    const x = t % Math.floor(horizon / ones) === 5 ? 1 : 0;
    truth += x;
    const published = mechanism.push(x);
    if (published !== last) steps++;
    last = published;
    worst = Math.max(worst, Math.abs(published - truth));
  }
  const segment = 8 * Math.log(horizon) + 12 * l; // ε₁ = 1/2
  const entries = Math.log2(ones) + 1;
  expect(worst).toBeLessThan(segment + entries * 4 * l + entries * 4 * entries * l);
  expect(steps).toBeLessThan(ones / 8); // segments, not values, are counted
});

test("Partition: a stream without values is cut about once at most", () => {
  // A cut needs noise of 4·ln T·Θ/ε₁ from scales 4 and 2 together: P < T·(1/T) = 1 a stream on average, and 30 are not exceeded
  // by a Poisson number of mean 1 but with probability 10⁻³².
  const mechanism = new Partition(chooseCore("js"), unsafeKey("empty"), 1, 1, 2 ** 16);
  let [cuts, last] = [0, 0];
  for (let t = 0; t < 2 ** 16; t++) {
    const published = mechanism.push(0);
    if (published !== last) cuts++;
    last = published;
  }
  expect(cuts).toBeLessThan(30);
});
