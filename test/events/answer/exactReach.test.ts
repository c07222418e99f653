/** Intervals of counts against the exact law of their noise: no draw, so ε and confidence can be anything. */
import { expect, test } from "vitest";
import { estimateOf } from "../../../src/events/answer/answers.js";
import { discreteNoise } from "../../../src/events/days/dayNoise.js";
import { noiseQuantile } from "../../../src/stream/answer/answer.js";
import type { Spread } from "../../../src/stream/answer/variance.js";

const EPSILONS = Array.from({ length: 64 }, (_, i) => 0.1 * 1.09 ** i); // to 22.8
const NODES = [1, 2, 3, 12, 30];

/** P(|S| > reach) for the sum S of n samples of P(k) ∝ e^(−ε|k|), by Fourier's inversion over a circle that S hardly leaves. */
function missed(epsilon: number, n: number, reach: number): number {
  const q = Math.exp(-epsilon);
  const size = 2 ** Math.ceil(Math.log2(64 + (40 * Math.sqrt(n)) / epsilon + 2 * reach));
  let inside = 0;
  for (let i = 0; i < size; i++) {
    const w = (2 * Math.PI * i) / size;
    const law = ((1 - q) ** 2 / (1 - 2 * q * Math.cos(w) + q * q)) ** n;
    const sum = 2 * Math.floor(reach) + 1;
    inside += (law * (i === 0 ? sum : Math.sin((sum * w) / 2) / Math.sin(w / 2))) / size;
  }
  return 1 - inside;
}

function spreadOf(epsilon: number, n: number): Spread {
  const { variance, fourth } = discreteNoise(1 / epsilon);
  return { variance: n * variance, fourth: n * fourth };
}

/** The largest share of misses, in units of 1 − confidence. */
const most = (confidence: number, reachOf: (spread: Spread) => number): number =>
  Math.max(
    ...EPSILONS.flatMap((epsilon) =>
      NODES.map((n) => missed(epsilon, n, reachOf(spreadOf(epsilon, n))) / (1 - confidence)),
    ),
  );

test.each([0.5, 0.7, 0.9, 0.95, 0.99, 0.999])("%d: misses as rarely as it says, at every ε", (confidence) => {
  expect(most(confidence, (spread) => estimateOf({ value: 0, spread }, 1, confidence).high!)).toBeLessThan(
    1.15,
  );
});

test("as if no noise had an excess kurtosis above 3, an interval of 99 % would miss in two of a hundred", () => {
  const cut = (spread: Spread) => {
    const fourth = Math.min(spread.fourth, spread.variance ** 2);
    return noiseQuantile(0.99, { ...spread, fourth }) * Math.sqrt(spread.variance) + 0.5;
  };
  expect(most(0.99, cut)).toBeGreaterThan(2);
});

test("an ε at which the variance is next to nothing leaves a number and about a unit", () => {
  for (const epsilon of [60, 200, 360, 600, 744, 800])
    for (const confidence of [0.5, 0.95, 0.9999]) {
      const high = estimateOf({ value: 0, spread: spreadOf(epsilon, 24) }, 1, confidence).high!;
      expect(high).toBeGreaterThanOrEqual(0.5);
      expect(high).toBeLessThan(2.1);
    }
});
