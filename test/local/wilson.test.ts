/** Wilson's bounds on a share, by adding up the binomial distribution: no draw, no chance. */
import { expect, test } from "vitest";
import { normalQuantile } from "../../src/core/normal.js";
import { wilsonLower, wilsonUpper } from "../../src/local/wilson.js";

const Z = normalQuantile(0.95);

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

type Interval = (count: number, n: number) => readonly [low: number, high: number];

/** The largest probability that an interval misses the share, over shares. */
const worstMiss = (n: number, interval: Interval): number =>
  Math.max(
    ...Array.from({ length: 999 }, (_, i) => (i + 1) / 1000).map((p) =>
      binomial(n, p).reduce((sum, chance, k) => {
        const [low, high] = interval(k, n);
        return sum + (low <= p && p <= high ? 0 : chance);
      }, 0),
    ),
  );

const SIZES = [1, 2, 3, 5, 10, 20, 50, 200];

test("both bounds together miss in at most 5.5 % from one report on, whatever the share", () => {
  for (const n of SIZES)
    expect(worstMiss(n, (k) => [wilsonLower(k, n, Z), wilsonUpper(k, n, Z)])).toBeLessThan(0.055);
});

test("normal bounds miss far more often", () => {
  const normal: Interval = (k, n) => {
    const reach = Z * Math.sqrt(((k / n) * (1 - k / n)) / n);
    return [k / n - reach, k / n + reach];
  };
  for (const n of SIZES) expect(worstMiss(n, normal)).toBeGreaterThan(0.3);
});
