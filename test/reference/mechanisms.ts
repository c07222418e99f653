/** The probabilities that a mechanism draws with, counted from the very words its kernels read. */
import type { Mechanism } from "../../src/core/mechanism.js";

export interface Shares {
  /** One cell in the window, one outside, and the two cells of Stochastic Rounding; in units of 1/unit. */
  readonly inside: bigint;
  readonly outside: bigint;
  readonly zero: bigint;
  readonly one: bigint;
  readonly unit: bigint;
}

/** The threshold of a coin, in units of 2⁻¹⁹². */
function threshold(coins: Uint32Array, at: number): bigint {
  let value = 0n;
  for (let i = 0; i < 6; i++) value = (value << 32n) | BigInt(coins[at + i]!);
  return value + BigInt(coins[at + 6]!); // the certain coin wins the last tie, too
}

/** Sector by sector (src/core/mechanism.ts), each times the chance of the uniform number that follows. */
export function sharesOf(mechanism: Mechanism, x: number): Shares {
  const { top, width, coins } = mechanism;
  const [inside, windowed, kept] = [threshold(coins, 0), threshold(coins, 8), threshold(coins, 16)];
  const [n, w, at] = [BigInt(top), BigInt(Math.max(1, width)), BigInt(x)];
  const whole = 1n << 192n;
  const keep = kept - windowed;
  const flip = whole - kept;
  return {
    inside: inside * n,
    outside: (windowed - inside) * w,
    zero: (keep * (n - at) + flip * at) * w,
    one: (keep * at + flip * (n - at)) * w,
    unit: whole * n * w,
  };
}

/** The probability of every cell, given x. */
export function cellShares(mechanism: Mechanism, x: number): bigint[] {
  const { cells, width, top, ends } = mechanism;
  const { inside, outside, zero, one } = sharesOf(mechanism, x);
  const shares: bigint[] = [];
  if (width > 0)
    for (let cell = 0; cell < top + width; cell++)
      shares.push(cell >= x && cell < x + width ? inside : outside);
  if (ends[1] < 1n << 192n) shares.push(zero, one);
  if (shares.length !== cells) throw new RangeError(`cells: expected ${shares.length}, got ${cells}`);
  return shares;
}

/** low/2^bits ≤ e^ε < (low + 2)/2^bits: Taylor's series of the exact rational, each term cut off. */
export function exponential(epsilon: number): { low: bigint; bits: bigint } {
  const bits = 400n;
  let [numerator, denominator] = [epsilon, 1n];
  for (; !Number.isInteger(numerator); numerator *= 2) denominator *= 2n;
  let low = 0n;
  for (let k = 1n, term = 1n << bits; term > 0n; k++) {
    low += term;
    term = (term * BigInt(numerator)) / (denominator * k);
  }
  return { low, bits };
}
