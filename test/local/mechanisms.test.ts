import { describe, expect, test } from "vitest";
import { makeMechanism, type Mechanism, type Weights } from "../../src/core/tables/sectors.js";
import {
  dayWindow,
  hybrid,
  piecewise,
  squareWave,
  squareWaveWidth,
  stochasticRounding,
} from "../../src/local/mechanisms.js";
import { estimateOf, varianceOf, worstVariance } from "../../src/local/moments.js";
import { cellShares, exponential, sharesOf } from "../support/mechanisms.js";
import { continuousReport } from "../support/squareWave.js";
import constants from "../vectors/sw_constants.json" with { type: "json" };
import reports from "../vectors/sw_report.json" with { type: "json" };
import unbiased from "../vectors/sr_pm_hm.json" with { type: "json" };

const EPSILONS = [1e-3, 0.01, 0.1, 0.5, 0.61, 0.62, 1, 1.5, 2, 3, 5, 8, 10];
/** All ε that are taken, from end to end. */
const ALL_EPSILONS = [1e-6, ...EPSILONS, 16, 24];
const MAKERS = { stochasticRounding, piecewise, hybrid };

/** Whether every cell's probability under any two of `inputs` has a ratio of at most e^ε, in whole numbers. */
function isPrivate(mechanism: Mechanism, inputs: readonly number[], epsilon: number): boolean {
  const { low, bits } = exponential(epsilon); // low/2^bits ≤ e^ε
  const all = inputs.map((x) => cellShares(mechanism, x));
  for (let cell = 0; cell < mechanism.cells; cell++) {
    let [least, most] = [all[0]![cell]!, all[0]![cell]!];
    for (const shares of all) {
      const share = shares[cell]!;
      if (share < least) least = share;
      if (share > most) most = share;
    }
    if (most << bits > least * low) return false;
  }
  return true;
}

describe("local differential privacy, by counting what the code draws", () => {
  test.each(ALL_EPSILONS)("ε = %d: every input and every output of small grids", (epsilon) => {
    for (const top of [1, 2, 7, 32]) {
      const inputs = Array.from({ length: top + 1 }, (_, x) => x);
      for (const make of Object.values(MAKERS))
        expect(isPrivate(make(epsilon, top), inputs, epsilon)).toBe(true);
    }
    const inputs = Array.from({ length: 32 }, (_, x) => x);
    for (const make of [squareWave, dayWindow])
      expect(isPrivate(make(epsilon, 4, 8), inputs, epsilon)).toBe(true);
  });

  test.each(ALL_EPSILONS)("ε = %d: the shipped grids, at both ends and in between", (epsilon) => {
    // In a window grid a cell has one of two probabilities (three sorts of cell with rounding): the sorts are enough.
    for (const mechanism of [
      squareWave(epsilon),
      dayWindow(epsilon),
      hybrid(epsilon),
      piecewise(epsilon),
      stochasticRounding(epsilon),
    ]) {
      const { low, bits } = exponential(epsilon);
      const { top } = mechanism;
      const sorts = [0, 1, top >> 1, top - 1, top].map((x) => sharesOf(mechanism, x));
      for (const a of sorts)
        for (const b of sorts) {
          if (mechanism.width > 0) expect(a.inside << bits <= b.outside * low).toBe(true);
          expect(a.zero << bits <= b.zero * low).toBe(true);
          expect(a.one << bits <= b.one * low).toBe(true);
        }
    }
  });

  test("the bound is tight: one part in 10³⁰ more is caught", () => {
    const mechanism = hybrid(1, 32);
    const [inside, outside, kept, flipped] = mechanism.weights;
    const more = (share: bigint) => share + share / 10n ** 30n;
    const less = (share: bigint) => share - share / 10n ** 30n;
    const leaks = (...weights: Weights) =>
      !isPrivate(makeMechanism(1, 32, mechanism.width, weights), [0, 32], 1);
    expect(leaks(inside, outside, kept, flipped)).toBe(false);
    expect(leaks(inside, less(outside), kept, flipped)).toBe(true);
    expect(leaks(less(more(inside)), outside, less(kept), less(less(flipped)))).toBe(true);
  });

  test("the probabilities of a grid sum to 1", () => {
    for (const mechanism of [
      ...[hybrid(1, 20), hybrid(0.5, 20), piecewise(2, 20), squareWave(1, 4, 8), dayWindow(1, 4, 8)],
    ])
      for (const x of [0, 7, 20]) {
        const { unit } = sharesOf(mechanism, x);
        expect(cellShares(mechanism, x).reduce((a, b) => a + b, 0n)).toBe(unit);
      }
  });
});

describe("moments", () => {
  test.each(EPSILONS)(
    "ε = %d: estimates are unbiased with the stated variance, by summing over the grid",
    (epsilon) => {
      for (const make of Object.values(MAKERS)) {
        const mechanism = make(epsilon, 64);
        for (const x of [0, 1, 20, 32, 63, 64]) {
          const { unit } = sharesOf(mechanism, x);
          const shares = cellShares(mechanism, x).map((share) => Number((share << 100n) / unit) / 2 ** 100);
          const mean = shares.reduce((sum, share, cell) => sum + share * estimateOf(mechanism, cell), 0);
          const square = shares.reduce(
            (sum, share, cell) => sum + share * (estimateOf(mechanism, cell) - x / 64) ** 2,
            0,
          );
          const variance = varianceOf(mechanism, x / 64);
          expect(Math.abs(mean - x / 64) / Math.sqrt(variance)).toBeLessThan(1e-10);
          expect(square / variance).toBeCloseTo(1, 9);
        }
      }
    },
  );

  test.each(Object.values(unbiased))("ε = $epsilon: Stochastic Rounding as the vectors have it", (vector) => {
    const mechanism = stochasticRounding(vector.epsilon);
    // On [−1, 1] a report is 2·estimate − 1.
    expect(2 * estimateOf(mechanism, 1) - 1).toBeCloseTo(vector.sr_output_magnitude, 11);
    expect(2 * estimateOf(mechanism, 0) - 1).toBeCloseTo(-vector.sr_output_magnitude, 11);
    for (const { v, prob_plus } of vector.sr_probabilities) {
      const { one, unit } = sharesOf(mechanism, Math.round(((v + 1) / 2) * mechanism.top));
      expect(Number((one << 100n) / unit) / 2 ** 100).toBeCloseTo(prob_plus, 6); // v to the nearest of 2²⁰
    }
    expect((4 * worstVariance(hybrid(vector.epsilon))) / vector.hm_worst_case_variance).toBeCloseTo(1, 5);
    const { weights, width, top, total } = hybrid(vector.epsilon);
    const windowed = BigInt(width) * weights[0] + BigInt(top) * weights[1];
    expect(Number((windowed << 60n) / total) / 2 ** 60).toBeCloseTo(vector.hm_alpha, 12);
  });

  test.each(Object.values(unbiased))(
    "ε = $epsilon: Piecewise comes closer to the vectors as the grid is refined",
    (vector) => {
      const errors = [2 ** 8, 2 ** 12, 2 ** 16].map((top) => {
        const mechanism = piecewise(vector.epsilon, top);
        let worst = 0;
        for (const { v, y, out } of vector.pm_samples) {
          // `out` has a share y of the reports below it. Ours: cells whose estimate is below.
          const x = Math.round(((v + 1) / 2) * top);
          const cell = Math.round(
            ((out + 1) / 2 - 0.5) * (estimateSlope(mechanism) * top) + (top + mechanism.width - 1) / 2 + 0.5,
          );
          worst = Math.max(worst, Math.abs(shareBelow(mechanism, x, cell) - y));
        }
        return worst;
      });
      for (let i = 1; i < errors.length; i++) expect(errors[i]!).toBeLessThan(errors[i - 1]! / 4);
      expect(errors.at(-1)).toBeLessThan(1e-4);
    },
  );

  test("Hybrid has the variance of Eq. 14 whatever the value, above ε = 0.61", () => {
    for (const epsilon of [0.62, 1, 2, 4]) {
      const mechanism = hybrid(epsilon);
      const [e, h] = [Math.exp(epsilon), Math.exp(epsilon / 2)];
      const want = (((e + 1) / (e - 1)) ** 2 + (h + 3) / (3 * (h - 1))) / h;
      for (const share of [0, 0.1, 0.5, 0.9, 1])
        expect((4 * varianceOf(mechanism, share)) / want).toBeCloseTo(1, 4);
    }
  });
});

describe("the window of a day", () => {
  const shares = (mechanism: Mechanism, x: number) => {
    const { unit } = sharesOf(mechanism, x);
    return cellShares(mechanism, x).map((share) => Number((share << 100n) / unit) / 2 ** 100);
  };

  test.each([0.1, 0.5, 1, 2, 4, 8])(
    "ε = %d: e^(−ε/2) of the domain in whole bins; estimates are unbiased with the stated variance",
    (epsilon) => {
      const { width, top } = dayWindow(epsilon);
      expect(width % 1024).toBe(0);
      expect(Math.abs(width / 2 ** 20 - Math.exp(-epsilon / 2))).toBeLessThanOrEqual(1 / 2048);
      expect(top).toBe(2 ** 20 - 1);
      const mechanism = dayWindow(epsilon, 8, 8);
      for (const x of [0, 1, 20, 63]) {
        const all = shares(mechanism, x);
        const mean = all.reduce((sum, share, cell) => sum + share * estimateOf(mechanism, cell), 0);
        const square = all.reduce(
          (sum, share, cell) => sum + share * (estimateOf(mechanism, cell) - x / 63) ** 2,
          0,
        );
        expect(mean).toBeCloseTo(x / 63, 9);
        expect(square / varianceOf(mechanism, x / 63)).toBeCloseTo(1, 9);
      }
    },
  );

  test("a window that is one bin too wide is noticed: estimates of the other width are biased", () => {
    const [right, wide] = [dayWindow(1, 8, 8), dayWindow(1, 8, 8)];
    const wrong = makeMechanism(1, wide.top, wide.width + 8, wide.weights);
    const mean = shares(wrong, 0).reduce((sum, share, cell) => sum + share * estimateOf(right, cell), 0);
    expect(Math.abs(mean)).toBeGreaterThan(0.05);
  });

  test("from ε = 1 on it has less variance than Hybrid in the middle, and at most a quarter more at the ends", () => {
    for (const epsilon of [1, 2, 4]) {
      const [own, other] = [dayWindow(epsilon), hybrid(epsilon)];
      expect(varianceOf(own, 0.5)).toBeLessThan(varianceOf(other, 0.5));
      expect(varianceOf(own, 0)).toBeLessThan(1.25 * varianceOf(other, 0));
    }
  });
});

describe("Square Wave", () => {
  test.each(Object.values(constants))("ε = $epsilon: w, p and q of the vectors", ({ epsilon, w, p, q }) => {
    expect(squareWaveWidth(epsilon) / w).toBeCloseTo(1, 12);
    const mechanism = squareWave(epsilon, 1024, 1024);
    const { inside, outside, unit } = sharesOf(mechanism, 0);
    const density = (share: bigint) => (Number((share << 100n) / unit) / 2 ** 100) * 2 ** 20;
    // The window is a whole number of 1/1024: p and q follow the rounded width.
    const rounded = mechanism.width / 2 ** 20;
    expect(Math.abs(rounded - w)).toBeLessThan(1 / 2048);
    expect(density(inside) / p).toBeCloseTo(
      (w * Math.exp(epsilon) + 1) / (rounded * Math.exp(epsilon) + 1),
      5,
    );
    expect(density(outside) / q).toBeCloseTo(
      (w * Math.exp(epsilon) + 1) / (rounded * Math.exp(epsilon) + 1),
      5,
    );
  });

  test("the window for ε → 0 is the whole domain, without cancellation", () => {
    // w = 1 − 2ε/3 + O(ε²)
    expect((1 - squareWaveWidth(1e-6)) / 1e-6).toBeCloseTo(2 / 3, 5);
  });

  test("whole bins cost less than a thousandth of the information up to ε = 6", () => {
    const information = (epsilon: number, w: number) => {
      const q = 1 / (w * Math.exp(epsilon) + 1);
      const p = q * Math.exp(epsilon);
      return Math.log(1 + w) + w * p * Math.log(p) + q * Math.log(q);
    };
    for (const epsilon of [0.1, 0.5, 1, 2, 3, 4, 5, 6]) {
      const [w, rounded] = [squareWaveWidth(epsilon), squareWave(epsilon).width / 2 ** 20];
      expect(information(epsilon, rounded) / information(epsilon, w)).toBeGreaterThan(0.999);
    }
  });

  test("reports come closer to the continuous map of the vectors as the grid is refined", () => {
    for (const { epsilon, v, u, out } of reports.cases)
      expect(continuousReport(epsilon, v, u)).toBeCloseTo(out, 12);
    const errors = [64, 256, 1024].map((bins) =>
      Math.max(
        ...reports.cases.map(({ epsilon, v, u, out }) => {
          const mechanism = squareWave(epsilon, bins, bins);
          const inputs = bins * bins;
          const x = Math.min(Math.floor(v * inputs), inputs - 1);
          return Math.abs(
            shareBelow(mechanism, x, Math.round((out + squareWaveWidth(epsilon) / 2) * inputs)) - u,
          );
        }),
      ),
    );
    for (let i = 1; i < errors.length; i++) expect(errors[i]!).toBeLessThan(errors[i - 1]! / 2);
    expect(errors.at(-1)).toBeLessThan(1e-3);
  });
});

test.each([0, -1, NaN, Infinity, 5e-324, 25, "1"])("ε = %s is refused by name", (epsilon) => {
  for (const make of [squareWave, dayWindow, stochasticRounding, piecewise, hybrid])
    expect(() => make(epsilon as number)).toThrow(/^epsilon: expected/);
});

/** Share of the reports of x in cells below `cell`, for a mechanism with a window alone. */
function shareBelow(mechanism: Mechanism, x: number, cell: number): number {
  const { inside, outside, unit } = sharesOf(mechanism, x);
  const within = Math.max(0, Math.min(cell, x + mechanism.width) - x);
  const share = inside * BigInt(within) + outside * BigInt(Math.max(0, cell - within));
  return Number((share << 100n) / unit) / 2 ** 100;
}

/** Slope of the estimate per cell: estimates are affine in the cell. */
const estimateSlope = (mechanism: Mechanism): number =>
  1 / ((estimateOf(mechanism, 1) - estimateOf(mechanism, 0)) * mechanism.top);
