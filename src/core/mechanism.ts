/**
 * A local mechanism as the kernels read it: an integer 0 … N goes in, a cell of a public grid comes out.
 *
 * One uniform number of 192 bits falls into one of four sectors, which end at `ends` (the last at 1):
 *
 *     0  in the window    cell = x + below(W)
 *     1  outside of it    u = below(N), cell = u < x ? u : u + W
 *     2  rounded, kept    cell = cells − 2 + [below(N) < x]
 *     3  rounded, flipped cell = cells − 1 − [below(N) < x]
 *
 * Sectors 0 and 1 are Square Wave and Piecewise, 2 and 3 Stochastic Rounding, all four Hybrid. Which sector is drawn
 * does not depend on x, nor does how many words are read.
 */
import { COIN_BITS, fixedCoin } from "./coin.js";

export interface Mechanism {
  readonly epsilon: number;
  /** N, at most 2²⁰. */
  readonly top: number;
  /** W, at most 2²⁰; 0 without a window. */
  readonly width: number;
  /** A report is one of 0 … cells − 1. */
  readonly cells: number;
  /** Where sectors 0, 1 and 2 end, in units of 2⁻¹⁹². */
  readonly ends: readonly [bigint, bigint, bigint];
  /** The same as three coins of 8 words each. */
  readonly coins: Uint32Array;
}

/** How a value becomes an input: min(⌊max(v, 0)·scale + shift⌋, N). The last float operation on it. */
export interface Quantiser {
  readonly scale: number;
  readonly shift: number;
}

/** A certain sector, in units of 2⁻¹⁹². */
export const WHOLE = 1n << BigInt(COIN_BITS);

export function makeMechanism(
  epsilon: number,
  top: number,
  width: number,
  ends: Mechanism["ends"],
): Mechanism {
  const cells = (width > 0 ? top + width : 0) + (ends[1] < WHOLE ? 2 : 0);
  const coins = new Uint32Array(24);
  ends.forEach((end, i) => coins.set(fixedCoin(end).words, 8 * i));
  return { epsilon, top, width, cells, ends, coins };
}
