import seedrandom from "seedrandom";
import { describe, expect, test } from "vitest";
import { smoothSensitivity } from "../../research/systems/smoothSensitivity.js";
import vectors from "../vectors/smooth_sensitivity.json" with { type: "json" };

/** The equation as printed, O(m²). */
function printed(sorted: Float64Array, P: number, max: number, beta: number): number {
  const m = sorted.length;
  const V = (i: number) => (i < 1 ? 0 : i > m ? max : sorted[i - 1]!);
  let best = 0;
  for (let k = 0; k <= m + 1; k++)
    for (let t = 0; t <= k + 1; t++)
      best = Math.max(best, Math.exp(-beta * k) * (V(P + t) - V(P + t - k - 1)));
  return best;
}

test("three values, worked by hand", () => {
  // V = 0 | 2 5 6 | 10, P = 2. β = 0: the whole span. β large: only k = 0, the steps 5 − 2 and 6 − 5.
  const sorted = Float64Array.of(2, 5, 6);
  expect(smoothSensitivity(sorted, 2, 10, 0)).toBe(10);
  expect(smoothSensitivity(sorted, 2, 10, 50)).toBe(3);
});

test("the golden cases", () => {
  const sorted = Float64Array.from(vectors.sorted_data);
  for (const { b, rank_index0, paper_smooth_sensitivity, paper_A_k } of vectors.cases) {
    const got = smoothSensitivity(sorted, rank_index0 + 1, vectors.B, b);
    expect(Math.abs(got / paper_smooth_sensitivity - 1)).toBeLessThan(1e-12);
    expect(got).toBe(Math.max(...paper_A_k.map((A, k) => Math.exp(-b * k) * A)));
  }
});

describe("equals the equation as printed", () => {
  const random = seedrandom("smooth sensitivity");
  const shapes: Record<string, () => number> = {
    "spread out": () => random() * 100,
    "long-tailed integers, many ties": () => Math.floor(Math.min(100, 1 / (random() + 0.01))),
    "all the same": () => 7,
    "zeros and a few": () => (random() < 0.9 ? 0 : 99),
    "at the bound": () => 100,
    clustered: () => 30 * Math.floor(random() * 3) + random(),
  };
  test.each(Object.entries(shapes))("%s", (_, draw) => {
    for (const m of [1, 2, 3, 10, 61, 150])
      for (const beta of [0, 1e-4, 0.003, 0.05, 0.7, 5]) {
        const sorted = Float64Array.from({ length: m }, draw).sort();
        for (const P of new Set([1, Math.ceil(m / 2), Math.ceil(0.995 * m), m])) {
          const want = printed(sorted, P, 100, beta);
          // Each halving can be misled by one rounding of f, a few 2⁻⁵³ of its value; there are at most log₂ m.
          expect(Math.abs(smoothSensitivity(sorted, P, 100, beta) - want)).toBeLessThanOrEqual(1e-14 * want);
        }
      }
  });
});
