/** The ends of what options may be: the last value that is taken and the first that is refused; and what follows from them. */
import { describe, expect, test } from "vitest";
import { plan, privateStream } from "../../src/index.js";
import { levelCount, skippedLevels } from "../../src/stream/levels.js";
import { resolveSettings, type StreamOptions } from "../../src/stream/options.js";
import { exactRangeError, warmValues } from "../../src/stream/shape.js";
import { meanVariance } from "../../src/stream/answer/variance.js";

const base = { epsilon: 1, max: 256, maxRange: 4096, unsafeSeed: "limits" };
const settings = (change: object) => resolveSettings({ ...base, ...change });

describe("the last that is taken, and the first that is refused", () => {
  test.each([
    [
      { tuning: { fanout: 2 } },
      { tuning: { fanout: 1 } },
      "tuning.fanout: expected a whole number from 2 to 64",
    ],
    [{ tuning: { fanout: 64 } }, { tuning: { fanout: 65 } }, "tuning.fanout: expected"],
    [{ maxRange: 16 }, { maxRange: 15 }, "maxRange: expected a whole number from 16 to 1099511627776"],
    [
      { maxRange: 2 ** 40, max: 1, tuning: { skipLevels: 7, resolution: 1 }, threshold: 1 },
      { maxRange: 2 ** 40 + 1, max: 1, tuning: { skipLevels: 7, resolution: 1 }, threshold: 1 },
      "maxRange: expected",
    ],
    [
      { tuning: { resolution: 256 } },
      { tuning: { resolution: 256.5 } },
      "tuning.resolution: expected at most",
    ],
    [
      { threshold: 256 },
      { threshold: 256.5 },
      "threshold: expected resolution 0.00390625 ≤ θ ≤ max 256, got 256.5",
    ],
    [{ threshold: 2 ** -8 }, { threshold: 2 ** -9 }, "threshold: expected resolution"],
    [{ holdout: 16 }, { holdout: 15 }, "holdout: expected a whole number from 16 to 4294967296"],
    [{ holdout: 2 ** 32 }, { holdout: 2 ** 32 + 1 }, "holdout: expected"],
    [
      { holdout: 1, variant: "paper" },
      { holdout: 0, variant: "paper" },
      "holdout: expected a whole number from 1",
    ],
    [
      { holdout: 2 ** 27, variant: "paper" },
      { holdout: 2 ** 27 + 1, variant: "paper" },
      "holdout: expected a whole number from 1 to 134217728",
    ],
    [
      { holdout: 2 ** 32, variant: "paper", threshold: 5 },
      { holdout: 2 ** 32 + 1, variant: "paper", threshold: 5 },
      "holdout: expected a whole number from 0 to 4294967296",
    ],
    [{ holdout: 0, threshold: 5 }, { holdout: -1, threshold: 5 }, "holdout: expected a whole number from 0"],
    [{ history: 8192 }, { history: 8191 }, "history: expected at least 8192 values"],
    [{ history: Infinity }, { history: NaN }, "history: expected"],
    [
      { smoother: { moving: 1 } },
      { smoother: { moving: 0 } },
      "smoother.moving: expected a whole number from 1 to 4096",
    ],
    [{ smoother: { moving: 4096 } }, { smoother: { moving: 4097 } }, "smoother.moving"],
    [
      { smoother: { period: 2 } },
      { smoother: { period: 1 } },
      "smoother.period: expected a whole number from 2 to 16777216",
    ],
    [{ smoother: { period: 2 ** 24 } }, { smoother: { period: 2 ** 24 + 1 } }, "smoother.period"],
    [
      { smoother: { exponential: 1 } },
      { smoother: { exponential: 1.01 } },
      "smoother.exponential: expected 0 < α ≤ 1",
    ],
    [{ tuning: { skipLevels: 0 } }, { tuning: { skipLevels: -1 } }, "tuning.skipLevels: expected"],
    [
      { tuning: { skipLevels: 2 } },
      { tuning: { skipLevels: 3 } },
      "a whole number from 0 to 2 (maxRange has 3 levels)",
    ],
    [
      { variant: "paper", max: 2 ** 20, tuning: { thresholdStep: 1 } },
      { variant: "paper", max: 2 ** 20 + 1, tuning: { thresholdStep: 1 } },
      "at most 2^20 candidates for θ, got 1048577; take a step of 1.0000009536743164 or more",
    ],
    [
      { variant: "paper", tuning: { thresholdStep: 256 } },
      { variant: "paper", tuning: { thresholdStep: 257 } },
      "tuning.thresholdStep: expected at most max = 256, got 257",
    ],
    // A tree of 2²⁰ leaves, and one of 2²¹.
    [
      { maxRange: 2 ** 21, max: 1, tuning: { fanout: 2, skipLevels: 0, resolution: 1 } },
      { maxRange: 2 ** 22, max: 1, tuning: { fanout: 2, skipLevels: 0, resolution: 1 } },
      "maxRange: one tree of noise would have 2097152 leaves, at most 2^20 are supported",
    ],
    // Blocks of 2³⁰ values, and of 2³¹.
    [
      { maxRange: 2 ** 32, max: 1, tuning: { fanout: 2, skipLevels: 30, resolution: 1 } },
      { maxRange: 2 ** 32, max: 1, tuning: { fanout: 2, skipLevels: 31, resolution: 1 } },
      "tuning.skipLevels: expected blocks of at most 2^30 values, got 2^31 = 2147483648",
    ],
    // 64 for each of two levels.
    [
      { epsilon: 128, maxRange: 256, tuning: { skipLevels: 0 } },
      { epsilon: 128.5, maxRange: 256, tuning: { skipLevels: 0 } },
      "epsilon: expected at most 128, got 128.5",
    ],
    // One level of noise with a scale of max/ε = 2⁴⁰.
    [
      { max: 2 ** 30, epsilon: 2 ** -10, maxRange: 16, threshold: 5, tuning: { skipLevels: 0 } },
      { max: 2 ** 30 + 1, epsilon: 2 ** -10, maxRange: 16, threshold: 5, tuning: { skipLevels: 0 } },
      "is above 2^40; raise epsilon (0.0009765625)",
    ],
    // Trees of 512 values follow at ε = 320/512; of 32 values a second choice is possible.
    [
      { epsilon: 10, maxRange: 64, tuning: { fanout: 2, refine: true } },
      { epsilon: 9.9, maxRange: 64, tuning: { fanout: 2, refine: true } },
      "tuning.refine: expected false where θ does not follow the stream",
    ],
    [
      { epsilon: 30, maxRange: 64, tuning: { fanout: 2, refine: true, follow: true } },
      { epsilon: 30, maxRange: 32, tuning: { fanout: 2, refine: true, follow: true } },
      "tuning.refine: expected trees of at least 32 values, got 16; raise maxRange",
    ],
  ])("%o, %o", (taken, refused, message) => {
    expect(() => settings(taken)).not.toThrow();
    expect(() => settings(refused)).toThrow(message);
  });
});

test("sums of a forest and of the warm start stay below 2⁵², with room for 100 scales of noise", () => {
  const taken = (max: number, change: object = {}) => {
    const options = { max, threshold: 1, maxRange: 2 ** 20, tuning: { resolution: 1, skipLevels: 4 } };
    try {
      settings({ ...options, ...change });
      return true;
    } catch (error) {
      expect(String(error)).toContain("do not stay exact in a double");
      return false;
    }
  };
  // One level of fan-out 16 at ε = 1: max·r + 100·max·17 < 2⁵².
  const most = Math.floor((2 ** 52 - 1) / (2 ** 20 + 100 * 17));
  expect([taken(most), taken(most + 1)]).toEqual([true, false]);
  const coarse = { tuning: { resolution: 2, skipLevels: 4 }, threshold: 2 };
  expect([0, 1].map((more) => taken(2 * most + more, coarse))).toEqual([true, false]);
  // The warm start's sum is the longer one: m values that are all its own.
  const fewer = Math.floor((2 ** 52 - 1) / (2 ** 22 + 100 * 17));
  expect([0, 1].map((more) => taken(fewer + more, { holdout: 2 ** 22 }))).toEqual([true, false]);
});

describe("what follows from options", () => {
  test("levels: the least h with b^h ≥ r", () => {
    for (const b of [2, 3, 16])
      for (const r of [b, b + 1, 27, 28, 255, 256, 257, 4096, 4097]) {
        if (r < b) continue;
        const h = levelCount(r, b);
        expect(b ** h).toBeGreaterThanOrEqual(r);
        if (h > 1) expect(b ** (h - 1)).toBeLessThan(r);
      }
  });

  test("levels skipped: those that cost least, by the formulas of levels.ts", () => {
    const seen = new Set<string>();
    for (const b of [2, 4, 16])
      for (const r of [b, b ** 2, 1000, 4096, 50_000])
        for (const epsilon of [0.01, 0.1, 0.5, 1, 3, 10]) {
          const h = levelCount(r, b);
          const exact = (s: number) => meanVariance(r, b, h - s, s) / epsilon ** 2 + (b ** s / 64) ** 2;
          const paper = (s: number) => ((b - 1) * 2 * (h - s) ** 3) / epsilon ** 2 + (b ** s / 6) ** 2;
          const best = (cost: (s: number) => number, most: number) => {
            const costs = Array.from({ length: most + 1 }, (_, s) => cost(s));
            return costs.indexOf(Math.min(...costs));
          };
          expect(skippedLevels("auto", epsilon, r, b)).toBe(best(exact, Math.max(0, h - 2)));
          expect(skippedLevels("paper", epsilon, r, b)).toBe(best(paper, h - 1));
          seen.add(`${skippedLevels("auto", epsilon, r, b)} ${skippedLevels("paper", epsilon, r, b)}`);
        }
    expect(seen.size).toBeGreaterThan(8);
  });

  test("a grid of 2¹⁶ steps or more, by powers of two; θ on one of 256 or more", () => {
    const grids = (change: object) =>
      [1e6, 2 ** 16, 65_535, 1000, 256, 255.9, 128, 127, 1, 0.001].map((max) => {
        const {
          grid: { resolution, thresholdStep },
        } = settings({ max, ...change });
        return [Math.log2(resolution), Math.log2(thresholdStep)];
      });
    const coarse = [0, 0, 0, 0, 0, -1, -1, -2, -8, -18];
    expect(grids({})).toEqual([0, 0, -1, -7, -8, -9, -9, -10, -16, -26].map((g, i) => [g, coarse[i]]));
    const steps = coarse.with(0, 4); // at most 2¹⁶ candidates
    expect(grids({ variant: "paper" })).toEqual(coarse.map((g, i) => [g, steps[i]]));
    expect(settings({ tuning: { resolution: 0.3 } })).toMatchObject({
      grid: { resolution: 0.3, thresholdStep: 0.3 },
    });
  });

  test("a coarser grid where sums would not stay exact, and a statement that says so", () => {
    const at = (epsilon: number) => settings({ epsilon, holdout: 64 });
    expect(at(1e-6)).toMatchObject({ grid: { resolution: 2 ** -8, coarsened: false } });
    const small = at(1e-8);
    expect(small.grid.coarsened).toBe(true);
    expect(small.grid.resolution).toBeGreaterThan(2 ** -8);
    expect(exactRangeError(small)).toBeUndefined();
    expect(
      exactRangeError({ ...small, grid: { ...small.grid, resolution: small.grid.resolution / 2 } }),
    ).toContain("is above 2^40");
    const { warnings, resolution } = privateStream({ ...base, epsilon: 1e-8, holdout: 64 }).statement();
    expect(resolution).toBe(small.grid.resolution);
    expect(warnings).toContainEqual(
      expect.stringContaining(`rounded to multiples of ${resolution}, coarser`),
    );
    expect(() => at(1e-11)).toThrow("is above 2^40"); // on the coarsest default grid too
  });

  test("blocks, forests and history", () => {
    expect(settings({ maxRange: 1000, tuning: { fanout: 4, skipLevels: 2 } })).toMatchObject({
      tree: { levels: 3, skipped: 2, blockLength: 16, blocksPerForest: 63, history: 2 },
    });
    const kept = (history: number) =>
      settings({ maxRange: 1000, history, tuning: { fanout: 4, skipLevels: 2 } }).tree.history;
    // Forests of 63·16 = 1008 values: one more than they fill, because the first may be cut.
    expect([2016, 2017, 3024, 3025, Infinity].map(kept)).toEqual([3, 4, 4, 5, Infinity]);
  });

  test("which values of a hold-out serve what", () => {
    const parts = (change: object) => {
      const {
        holdout: { choosing, probing, warming, idle },
      } = settings(change);
      return [choosing, probing, warming, idle];
    };
    expect(parts({ holdout: 1000, tuning: { skipLevels: 0 } })).toEqual([1000, 0, 0, 0]);
    expect(parts({ holdout: 1000, threshold: 5 })).toEqual([0, 0, 1000, 0]);
    expect(parts({ holdout: 1000, threshold: 5, tuning: { warmStart: false } })).toEqual([0, 0, 0, 1000]);
    expect(parts({ holdout: 1000, variant: "paper" })).toEqual([1000, 0, 0, 0]);
    expect(parts({ holdout: 1007, variant: "paper", tuning: { warmStart: true } })).toEqual([882, 0, 125, 0]);
    // A probe has b^(h−2) values, if sixteen probes and more are held out; one level is skipped here.
    expect(settings({ epsilon: 0.2, holdout: 256 })).toMatchObject({
      tree: { skipped: 1 },
      holdout: { choosing: 240, probing: 16 },
    });
    expect(settings({ epsilon: 0.2, holdout: 255 })).toMatchObject({
      tree: { skipped: 1 },
      holdout: { choosing: 255, probing: 0 },
    });
    expect(parts({ epsilon: 0.2, holdout: 256, tuning: { skipLevels: 1 } })).toEqual([256, 0, 0, 0]);
    expect(parts({ epsilon: 0.2, holdout: 256, threshold: 4 })).toEqual([0, 0, 256, 0]);
    expect(parts({})).toEqual([65_536 - 16, 16, 0, 0]);
    expect(parts({ threshold: 4 })).toEqual([0, 0, 0, 0]);
  });

  test("the first prediction is a mean of values at positions 15 mod 32", () => {
    for (const holdout of [16, 47, 48, 79, 80, 1000]) {
      const made = settings({ holdout, tuning: { skipLevels: 0 } });
      const own = Array.from({ length: holdout }, (_, i) => i).filter((i) => i % 32 === 15).length;
      expect(warmValues(made)).toBe(own);
    }
    expect(warmValues(settings({ tuning: { warmStart: false } }))).toBe(0);
    expect(warmValues(settings({ threshold: 4, holdout: 77 }))).toBe(77);
    expect(warmValues(settings({ variant: "paper", holdout: 80, tuning: { warmStart: true } }))).toBe(10);
  });

  test("θ follows the stream from 320/ε values a tree on, unless it is public or the paper's", () => {
    const follows = (change: object) =>
      settings({ tuning: { fanout: 2 }, maxRange: 1024, ...change }).privacy.follow;
    expect([0.625, 0.62].map((epsilon) => follows({ epsilon }))).toEqual([true, false]);
    expect(follows({ threshold: 5 })).toBe(false);
    expect(follows({ variant: "paper" })).toBe(false);
    expect(follows({ epsilon: 0.1, tuning: { fanout: 2, follow: true } })).toBe(true);
    expect(follows({ tuning: { fanout: 2, follow: false } })).toBe(false);
  });

  test("a plan of θ: halvings of max, twelve at most, none below sixteen steps of the grid", () => {
    const list = (change: object) =>
      plan({ ...base, ...change } as StreamOptions).thresholds.map((t) => t.threshold);
    expect(list({})).toEqual([256, 128, 64, 32, 16]);
    expect(list({ max: 8, tuning: { resolution: 1 } })).toEqual([8]);
    expect(list({ max: 2 ** 20 })).toHaveLength(12);
    expect(list({ threshold: 7 })).toEqual([7]);
  });
});
