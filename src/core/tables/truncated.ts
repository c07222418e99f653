/**
 * Truncated discrete Laplace noise on [−k, k]: P(X = x) = q^|x|/Z with q = e^(−ε), Z = (1 + q − 2q^(k+1))/(1 − q). Added to
 * a count that one person moves by 1, it hides whether the count is 0 but for the atom at its end:
 *
 *     δ(k) = P(X = k) = q^k·(1 − q)/(1 + q − 2q^(k+1))
 *
 * δ is bounded from above in integers: q⁻ < q < q⁺ by one unit of 2⁻²⁵⁶, and every quotient and power is rounded up.
 */
import { exactRational, expFixed } from "./fixedPoint.js";

const BITS = 256;
const ONE = 1n << BigInt(BITS);
/** Larger thresholds are mistakes: no day has so many people that name a key first. */
const MOST = 2 ** 24;

/** ε as the exact rational that noise is drawn with, or the double that stands for one. */
export type ExactEpsilon = number | { readonly numerator: bigint; readonly denominator: bigint };

/** 2²⁵⁶·δ(k), rounded up. */
export function truncatedDelta(epsilon: ExactEpsilon, k: number): bigint {
  const { numerator, denominator } = typeof epsilon === "number" ? exactRational(epsilon) : epsilon;
  const nearest = expFixed(numerator, denominator, BITS); // off by less than one
  const [low, high] = [nearest > 0n ? nearest - 1n : 0n, nearest + 1n];
  const power = powerUp(high, k);
  const bottom = ONE + low - 2n * timesUp(power, high);
  // Written for ε > 0 and k ≥ 1: the bottom is then positive, but for an ε below 2⁻²⁰⁰ or so.
  if (bottom <= 0n) return ONE;
  return divideUp(power * (ONE - low), bottom);
}

/** The least k with δ(k) ≤ δ, by the bound; and the bound of δ(k) as a number that is not below it. */
export function leastTruncation(
  epsilon: ExactEpsilon,
  delta: number,
): { readonly k: number; readonly delta: number } {
  const { numerator, denominator } = exactRational(delta);
  const asked = (numerator << BigInt(BITS)) / denominator;
  const fits = (k: number): boolean => truncatedDelta(epsilon, k) <= asked;
  let high = 1;
  while (!fits(high)) {
    if (high >= MOST)
      throw new RangeError(
        `delta: expected one that a threshold below 2^24 reaches at this ε, got ${delta}; raise ε or δ`,
      );
    high *= 2;
  }
  let low = high === 1 ? 0 : high / 2;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) high = middle;
    else low = middle;
  }
  return { k: high, delta: (Number(truncatedDelta(epsilon, high)) / 2 ** BITS) * (1 + 2 ** -51) };
}

const divideUp = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;
const timesUp = (a: bigint, b: bigint): bigint => divideUp(a * b, ONE);

/** base^exponent in fixed point, rounded up. */
function powerUp(base: bigint, exponent: number): bigint {
  let [power, square] = [ONE, base];
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) power = timesUp(power, square);
    square = timesUp(square, square);
  }
  return power;
}
