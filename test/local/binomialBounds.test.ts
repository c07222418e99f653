/** Bounds on a share, by adding up the binomial distribution: no draw, no chance. */
import { expect, test } from "vitest";
import { normalQuantile } from "../../src/core/normal.js";
import { BinomialBounds } from "../../src/local/binomialBounds.js";
import { upperBound } from "../support/binomial.js";

const SIZES = [1, 2, 3, 5, 10, 20, 50, 200];
/** One interval; 4 bins and 32 bins that hold at once; 32 bins at 99.9 %. */
const CONFIDENCES = [0.95, 1 - 0.05 / 3, 1 - 0.05 / 31, 1 - 0.001 / 31];

test("no report of one, and one of one", () => {
  const bounds = new BinomialBounds(1, 0.95);
  expect(bounds.upper(0)).toBeCloseTo(0.975, 12);
  expect(bounds.lower(1)).toBeCloseTo(0.025, 12);
  expect([bounds.upper(1), bounds.lower(0)]).toEqual([1, 0]);
});

test("as the incomplete beta function has them, at any size", () => {
  for (const confidence of [0.5, ...CONFIDENCES])
    for (const n of [...SIZES, 65_536, 1e7]) {
      const bounds = new BinomialBounds(n, confidence);
      const all = [0, 1, 2, 3, 5, 8, 13, n >> 2, n >> 1, n - 13, n - 5, n - 2, n - 1, n];
      for (const k of all.filter((count) => count >= 0 && count <= n)) {
        const [found, exact] = [bounds.upper(k), upperBound(k, n, (1 - confidence) / 2)];
        expect(Math.abs(found - exact)).toBeLessThanOrEqual(0.06 * Math.min(exact, 1 - exact + 1e-9));
        expect(bounds.lower(n - k)).toBe(1 - found);
      }
    }
});

/** Probabilities of 0 … n successes. */
function binomial(n: number, p: number): Float64Array {
  const found = new Float64Array(n + 1);
  let logarithm = n * Math.log1p(-p);
  for (let k = 0; k <= n; k++) {
    found[k] = Math.exp(logarithm);
    logarithm += Math.log((n - k) / (k + 1)) + Math.log(p / (1 - p));
  }
  return found;
}

/** How often an upper bound is below the share, at most, in units of the odds that it promises. */
const worst = (n: number, confidence: number, upper: (k: number) => number): number => {
  const bounds = Array.from({ length: n + 1 }, (_, k) => upper(k));
  const shares = Array.from({ length: 999 }, (_, i) => (i + 1) / 1000);
  const missed = [...shares, 0.9995, 0.9998].map((p) =>
    binomial(n, p).reduce((sum, chance, k) => sum + (bounds[k]! < p ? chance : 0), 0),
  );
  return Math.max(...missed) / ((1 - confidence) / 2);
};

test.each(CONFIDENCES)(
  "%d: one side alone is wrong as seldom as it says, whatever the share",
  (confidence) => {
    for (const n of SIZES) {
      const bounds = new BinomialBounds(n, confidence);
      expect(worst(n, confidence, (k) => bounds.upper(k))).toBeLessThan(1.02);
    }
  },
);

test("Wilson's bound is wrong twice as often near 1, and many times as often where many hold at once", () => {
  const wilson = (n: number, confidence: number) => (k: number) => {
    const [z, p] = [normalQuantile(confidence), k / n];
    const square = z * z + 2 - 1 / n + 4 * p * (n * (1 - p) - 1);
    const reach = 1 + z * Math.sqrt(Math.max(0, square));
    return k >= n ? 1 : Math.min(1, (2 * k + z * z + reach) / (2 * (n + z * z)));
  };
  expect(worst(10, 0.95, wilson(10, 0.95))).toBeGreaterThan(1.8);
  expect(worst(10, CONFIDENCES[2]!, wilson(10, CONFIDENCES[2]!))).toBeGreaterThan(20);
});
