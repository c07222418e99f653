import { describe, expect, test } from "vitest";
import { normalQuantile } from "../../src/core/normal.js";

/** P(a < |Z| < b), by Simpson's rule: off by less than 10⁻¹⁴ of itself for steps this small. */
function between(a: number, b: number): number {
  const steps = 40_000;
  const h = (b - a) / steps;
  const density = (z: number) => Math.sqrt(2 / Math.PI) * Math.exp((-z * z) / 2);
  let sum = density(a) + density(b);
  for (let i = 1; i < steps; i++) sum += (i % 2 === 1 ? 4 : 2) * density(a + i * h);
  return (sum * h) / 3;
}

describe("quantiles of |Z|", () => {
  test.each([
    [0.5, 0.6744897501960817],
    [0.8, 1.2815515655446004],
    [0.95, 1.959963984540054],
    [0.99, 2.5758293035489004],
    [0.999, 3.2905267314918945],
  ])("%d, as tables have it", (confidence, z) => {
    expect(Math.abs(normalQuantile(confidence) / z - 1)).toBeLessThan(1e-14);
  });

  test.each([0.001, 0.1, 0.3, 0.6, 0.85, 0.8999, 0.9001, 0.95, 0.987, 0.9876])(
    "%d lies below it",
    (confidence) => {
      expect(between(0, normalQuantile(confidence)) / confidence).toBeCloseTo(1, 11);
    },
  );

  test.each([0.05, 0.0125, 0.0123, 1e-3, 1e-6, 2 ** -30])("%d lies above it", (tail) => {
    const [z, asked] = [normalQuantile(1 - tail), 1 - (1 - tail)]; // as 1 − tail is rounded
    expect(between(z, z + 12) / asked).toBeCloseTo(1, 11);
  });
});
