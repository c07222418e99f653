import { describe, expect, test } from "vitest";
import {
  acceptsExactly,
  GaussianDraws,
  gaussianVariance,
} from "../../../research/systems/discreteGaussian.js";
import { chooseCore } from "../../../src/core/choose.js";
import { unsafeKey } from "../../../src/core/unsafeKey.js";

const core = chooseCore();
const draws = (sigmaSquared: number, seed = "gauss") =>
  new GaussianDraws(core, unsafeKey(seed), sigmaSquared, 0, 1);

/** P(k) for |k| ≤ reach; what lies beyond is below 10⁻¹⁵. */
function pmf(sigmaSquared: number, reach: number): Map<number, number> {
  const weights = new Map<number, number>();
  let total = 0;
  for (let k = -reach; k <= reach; k++) {
    weights.set(k, Math.exp(-(k * k) / (2 * sigmaSquared)));
    total += weights.get(k)!;
  }
  return new Map([...weights].map(([k, weight]) => [k, weight / total]));
}

/** χ² of draws against the distribution of `sigmaSquared`, in cells −3 … 3 of one value and two tails. */
function chiSquare(source: GaussianDraws, sigmaSquared: number, count: number): number {
  const cell = (k: number) => Math.max(-4, Math.min(4, k));
  const seen = new Map<number, number>();
  for (let i = 0; i < count; i++) {
    const k = cell(source.take());
    seen.set(k, (seen.get(k) ?? 0) + 1);
  }
  const expected = new Map<number, number>();
  for (const [k, p] of pmf(sigmaSquared, 60)) expected.set(cell(k), (expected.get(cell(k)) ?? 0) + p * count);
  return [...expected].reduce((sum, [k, mean]) => sum + ((seen.get(k) ?? 0) - mean) ** 2 / mean, 0);
}

describe("discrete Gaussian", () => {
  // χ² with 8 degrees of freedom exceeds 45 with probability 4·10⁻⁷.
  test.each([0.3, 1, 5.5])("has its distribution at σ² = %d", (sigmaSquared) => {
    expect(chiSquare(draws(sigmaSquared), sigmaSquared, 200_000)).toBeLessThan(45);
  });

  test("σ² 4 % too large is seen", () => {
    expect(chiSquare(draws(5.5 * 1.04), 5.5, 200_000)).toBeGreaterThan(45);
  });

  test("has variance σ² where σ is large", () => {
    const [source, n, sigmaSquared] = [draws(1e10), 100_000, 1e10];
    let [mean, square] = [0, 0];
    for (let i = 0; i < n; i++) {
      const x = source.take();
      mean += x / n;
      square += x ** 2 / n;
    }
    // 5 standard deviations each: P < 6·10⁻⁷. A sample variance strays by √(2/n) of itself.
    expect(Math.abs(mean)).toBeLessThan(5 * Math.sqrt(sigmaSquared / n));
    expect(Math.abs(square / sigmaSquared - 1)).toBeLessThan(5 * Math.sqrt(2 / n));
  });

  test("the same numbers on either core", () => {
    const on = (name: "js" | "wasm") => {
      const source = new GaussianDraws(chooseCore(name), unsafeKey("both"), 17.3, 3, 1);
      return Array.from({ length: 500 }, () => source.take());
    };
    expect(on("js")).toEqual(on("wasm"));
  });

  test("fixed point decides as the exact exponential does", () => {
    // σ² = 4, t = 3, Y = 0: γ = (4/3)²/8 = 2/9; e^(−2/9) = 0.8007374029168…
    const digits = 0.800737402916808;
    const none = new Uint32Array(5);
    const all = new Uint32Array(5).fill(0xffffffff);
    const uniform = Math.floor(digits * 2 ** 52);
    expect(acceptsExactly(0, uniform - 4, all, 4)).toBe(true);
    expect(acceptsExactly(0, uniform + 4, none, 4)).toBe(false);
  });
});

describe("calibration", () => {
  /** δ of noise on one integer that moves by `shift`: Σ max(0, P(k) − e^ε·P(k − shift)). */
  const deltaOf = (sigmaSquared: number, shift: number, epsilon: number) => {
    const reach = Math.ceil(12 * Math.sqrt(sigmaSquared)) + shift;
    const p = pmf(sigmaSquared, reach);
    let delta = 0;
    for (const [k, chance] of p) delta += Math.max(0, chance - Math.exp(epsilon) * (p.get(k + shift) ?? 0));
    return delta;
  };

  test.each([
    [0.1, 1e-6],
    [1, 1e-6],
    [1, 1e-12],
    [3, 1e-4],
  ])("ε = %d, δ = %d: private, and not for 10 % less variance", (epsilon, delta) => {
    const sigmaSquared = gaussianVariance(9, epsilon, delta);
    expect(deltaOf(sigmaSquared, 3, epsilon)).toBeLessThanOrEqual(delta);
    expect(deltaOf(0.7 * sigmaSquared, 3, epsilon)).toBeGreaterThan(delta);
  });

  test("σ² grows with the square of the sensitivity", () => {
    expect(gaussianVariance(100, 0.5, 1e-9) / gaussianVariance(1, 0.5, 1e-9)).toBeCloseTo(100, 9);
  });
});
