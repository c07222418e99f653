/**
 * A local mechanism as the kernels read it: an integer x = 0 … N goes in, a cell of a public grid comes out.
 *
 * Four sectors lie behind each other on a line. Each is a row of places, all of one integer weight:
 *
 *     sector               places   place j gives to x the cell
 *     0  in the window       W      x + j
 *     1  outside of it       N      j < x ? j : j + W
 *     2  rounded, kept       N      cells − 2 + [j < x]
 *     3  rounded, flipped    N      cells − 1 − [j < x]
 *
 * A uniform integer u of 192 bits falls into a place with its weight times 2⁻¹⁹²; where there is none, it is drawn again.
 * So places, and with them cells, have probabilities in proportion to integers, exactly. Sectors 0 and 1 are Square Wave
 * and Piecewise, 2 and 3 Stochastic Rounding, all four Hybrid. Neither the place nor how many words are read depends on x.
 *
 * **One word is mostly enough.** Let U be the first of u's six words, and lengths be counted in words, 2¹⁶⁰. A sector
 * begins with a whole word w (which leaves less than a word free before the next) and has places p long: u has the place
 * ⌊R⌋, R = (u − w)/p. With M = ⌈2⁴⁰/p⌉ and D = U + 1 − w, from U ≤ u < U + 1 follows
 *
 *     D·M − (D + M) < 2⁴⁰·R < D·M
 *
 * so unless D·M mod 2⁴⁰ is less than D + M, the place is ⌊D·M/2⁴⁰⌋, whatever the other five words are. If it is less, they
 * decide between that place and the one before; the sector's end counts as a place, and means: draw again.
 */
import {
  MECHANISM_FACTORS,
  MECHANISM_FIRSTS,
  MECHANISM_SLACK,
  MECHANISM_WEIGHTS,
  MECHANISM_WORDS,
} from "../layout.js";
import { COIN_BITS } from "./coin.js";

export interface Mechanism {
  readonly epsilon: number;
  /** N, at most 2²⁰. */
  readonly top: number;
  /** W, at most 2²⁰; 0 without a window. */
  readonly width: number;
  /** A report is one of 0 … cells − 1. */
  readonly cells: number;
  /** Weights of a place in the window, outside, kept, flipped: in units of 2⁻¹⁹². */
  readonly weights: Weights;
  /** Weight of all places. */
  readonly total: bigint;
  /** Where the four sectors begin, at whole words, and where nothing is left. */
  readonly starts: readonly bigint[];
  /**
   * All of it for the kernels (layout.ts): top, width, cells; slack, at least D/2⁸ + 2, which with M/2⁸ more is the margin in
   * units of 2⁻³² places; w of the sectors and of the end; M of the sectors, 0 where one word is never enough; the weights, 8
   * words each, most significant first; room for u.
   */
  readonly words: Uint32Array;
}

export type Weights = readonly [inside: bigint, outside: bigint, kept: bigint, flipped: bigint];

/** How a value becomes an input: min(⌊max(v, 0)·scale + shift⌋, N). The last float operation on it. */
export interface Quantiser {
  readonly scale: number;
  readonly shift: number;
}

/** Bits of u behind its first word. */
const REST = BigInt(COIN_BITS - 32);
/** Largest sum of the weights of all places: 2¹⁹², less a word for each sector to begin at a whole one. */
export const WHOLE = (2n ** 32n - 4n) << REST;

export function makeMechanism(epsilon: number, top: number, width: number, weights: Weights): Mechanism {
  const cells = (width > 0 ? top + width : 0) + (weights[2] > 0n ? 2 : 0);
  const lengths = weights.map((weight, sector) => weight * BigInt(sector === 0 ? width : top));
  const total = lengths.reduce((sum, length) => sum + length);
  const firsts = [0n];
  for (const length of lengths)
    firsts.push(firsts[firsts.length - 1]! + ((length + (1n << REST) - 1n) >> REST));
  const words = new Uint32Array(MECHANISM_WORDS);
  words.set([top, width, cells]);
  words.set(firsts.map(Number), MECHANISM_FIRSTS);
  writeFactors(words, firsts, weights);
  weights.forEach((weight, sector) => {
    for (let word = 7; word >= 0; word--, weight >>= 32n)
      words[MECHANISM_WEIGHTS + 8 * sector + word] = Number(weight & 0xffffffffn);
  });
  const starts = firsts.map((first) => first << REST);
  return { epsilon, top, width, cells, weights, total, starts, words };
}

/** Places of 2⁸ words and more have an M that fits a word. */
function writeFactors(words: Uint32Array, firsts: readonly bigint[], weights: Weights): void {
  const factors = weights.map((weight) =>
    weight > 1n << (REST + 8n) ? Number(((1n << (REST + 40n)) + weight - 1n) / weight) : 0,
  );
  const lengths = factors.map((factor, i) => (factor > 0 ? Number(firsts[i + 1]! - firsts[i]!) : 0));
  words.set(factors, MECHANISM_FACTORS);
  words[MECHANISM_SLACK] = (Math.max(...lengths) >>> 8) + 2;
}
