/** Thresholds of discovery: the table of least k, and that δ is an upper bound by less than a digit of 60. */
import { describe, expect, test } from "vitest";
import { exactRational, expFixed } from "../../src/core/tables/fixedPoint.js";
import { leastTruncation, truncatedDelta } from "../../src/core/tables/truncated.js";

/** ε, k for δ = 10⁻⁶, 10⁻⁹ and 10⁻¹², and the exact δ at 10⁻⁹. */
const TABLE = [
  [0.1, 109, 178, 247, 9.293227e-10],
  [0.25, 47, 75, 103, 8.94612e-10],
  [0.5, 25, 39, 53, 8.322992e-10],
  [1, 14, 20, 27, 9.524945e-10],
  [2, 7, 11, 14, 2.124443e-10],
] as const;

/** δ(k) at 1024 bits, from the sum of all atoms: another way to write Z. */
function reference(epsilon: number, k: number): bigint {
  const { numerator, denominator } = exactRational(epsilon);
  const atom = (x: number): bigint => expFixed(numerator * BigInt(x), denominator, 1024);
  let sum = atom(0);
  for (let x = 1; x <= k; x++) sum += 2n * atom(x);
  return (atom(k) << 256n) / sum;
}

describe("the least threshold", () => {
  test.each(TABLE)("ε = %d", (epsilon, a, b, c, delta) => {
    expect([1e-6, 1e-9, 1e-12].map((asked) => leastTruncation(epsilon, asked).k)).toEqual([a, b, c]);
    const found = leastTruncation(epsilon, 1e-9);
    expect(Number(found.delta.toPrecision(7))).toBe(delta);
    expect(truncatedDelta(epsilon, b)).toBeLessThanOrEqual(truncatedDelta(epsilon, b - 1));
  });

  test("δ is above the law and close to it", () => {
    for (const epsilon of [0.01, 0.3, 1, 4.7])
      for (const k of [1, 2, 7, 40]) {
        const [bound, exact] = [truncatedDelta(epsilon, k), reference(epsilon, k)];
        expect(bound).toBeGreaterThan(exact);
        expect(bound - exact).toBeLessThan(exact / 10n ** 60n + 2n ** 16n);
      }
  });

  test("a bound from a q that is rounded down lies below the law: the comparison sees it", () => {
    const { numerator, denominator } = exactRational(0.3);
    const one = 1n << 256n;
    const q = expFixed(numerator, denominator, 256) - 2n ** 40n;
    let power = one;
    for (let i = 0; i < 40; i++) power = (power * q) / one;
    const wrong = (power * (one - q)) / (one + q - (2n * power * q) / one);
    expect(wrong).toBeLessThan(reference(0.3, 40));
  });

  test("no threshold is enough: told", () => {
    expect(() => leastTruncation(1e-9, 1e-12)).toThrow(/^delta: expected one that a threshold below 2\^24/);
  });
});
