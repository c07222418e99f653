/**
 * The scale t of a geometric or discrete Laplace distribution, P(G = k) ∝ exp(−k/t), with the tables that draw
 * from it. docs/noise.md has the argument; in short:
 *
 *     G = low digits + 2^J·H,   J = max(0, ⌈log2 t⌉ − 4)
 *
 * The binary digits of a geometric variable are independent, and so are groups of them: each is a geometric cut
 * off at its width. A word of keystream draws two digits by alias tables. The first word draws H together with the
 * sign of a discrete Laplace variable, G or −1 − G:
 *
 *     first word   9 bits column, 7 bits fraction │ 8 bits column, 8 bits fraction
 *     others       8 bits column, 8 bits fraction │ 8 bits column, 8 bits fraction
 *
 * A fraction that ties with the head of its column's threshold is followed by up to five words, compared with
 * the tail. The last outcome of H means "at least": it is added, and H drawn again.
 *
 * A scale below 1 uses m = ⌈1/t⌉ and the tables of m·t, which is in [1, 2): ⌊G/m⌋ has scale t, exactly.
 */
import {
  COLUMNS,
  MAX_SCALE_BITS,
  MIN_SCALE_BITS,
  SCALE_COLUMNS,
  SCALE_DIVISOR,
  SCALE_DRAWS,
  SCALE_ESCAPE,
  SCALE_ESCAPE_STEP,
  SCALE_SHIFTS,
  TAIL_WORDS,
  TOP_COLUMNS,
} from "../layout.js";
import {
  aliasTable,
  type Column,
  escapingGeometric,
  powersOf,
  truncatedGeometric,
  withSigns,
} from "./alias.js";
import { expFixed } from "./fixedPoint.js";

export interface Scale {
  /** t = numerator/denominator, in lowest terms. */
  readonly numerator: bigint;
  readonly denominator: bigint;
  /** m: draws are divided by it. 1 unless t < 1. */
  readonly divisor: number;
  /** The outcome of H that means "at least". */
  readonly escape: number;
  /** What a unit of each digit is worth, a power of two; H is the first digit. Two digits to a word. */
  readonly weights: readonly number[];
  /**
   * All of it for the kernels (layout.ts). Words: how many words of keystream a sample takes, half as many as digits; escape;
   * divisor and what an escape adds (escape times the first weight), an f64 each; log2 of each weight, at most 6; columns:
   * of H, 512: threshold's head ≪ 18 | alias ≪ 9 | own outcome, each outcome H plus 256 for the sign;
   * of every other digit, 256: threshold's head ≪ 16 | alias ≪ 8 | own outcome. After them the tails.
   */
  readonly words: Uint32Array;
  /** Where the thresholds' tails begin in `words`: 5 words per digit and column. */
  readonly tails: number;
}

/** How many columns there are before those of a digit. */
export const columnsBefore = (digit: number): number => (digit === 0 ? 0 : COLUMNS * (digit + 1));
/** Added to H where the sign is negative. */
export const SIGN = 256;

const TAIL_BITS = 32n * BigInt(TAIL_WORDS);
/** Column and fraction, which are half a word, and the tail: probabilities are multiples of 2⁻¹⁷⁶. */
const WEIGHT_BITS = 16n + TAIL_BITS;
/** Precision of exp(−2^o/t) and its powers. */
const EXP_BITS = 256;
/** H escapes with probability about exp(−16). */
const ESCAPE_AT = 16n;
/** Tables take a millisecond to make and up to 43 KB: a process with many streams has many thresholds. */
const CACHED_SCALES = 1024;
/** Least recently asked for first. */
const cache = new Map<string, Scale>();

/** The scale numerator/denominator, from 2⁻³² to 2⁴⁰. Equal scales share their tables. */
export function makeScale(numerator: bigint, denominator: bigint): Scale {
  if (numerator <= 0n || denominator <= 0n)
    throw new RangeError(`scale: expected a fraction above 0, got ${numerator}/${denominator}`);
  if (numerator > denominator << BigInt(MAX_SCALE_BITS) || numerator << BigInt(MIN_SCALE_BITS) < denominator)
    throw new RangeError(`scale: expected 2⁻³² ≤ scale ≤ 2⁴⁰, got ${numerator}/${denominator}`);
  const common = gcd(numerator, denominator);
  numerator /= common;
  denominator /= common;
  const name = `${numerator}/${denominator}`;
  const scale = cache.get(name) ?? buildScale(numerator, denominator);
  cache.delete(name);
  if (cache.size === CACHED_SCALES) cache.delete(cache.keys().next().value!);
  cache.set(name, scale);
  return scale;
}

function gcd(a: bigint, b: bigint): bigint {
  while (b > 0n) [a, b] = [b, a % b];
  return a;
}

function buildScale(numerator: bigint, denominator: bigint): Scale {
  const divisor = numerator < denominator ? ceilDivide(denominator, numerator) : 1n;
  const t = { numerator: numerator * divisor, denominator };
  let lowBits = 0;
  while (t.numerator > t.denominator << BigInt(lowBits + 4)) lowBits++;
  const draws = lowBits <= 8 ? 1 : lowBits <= 24 ? 2 : 3;
  // escape·2^J/t is 16, or little less where 255 outcomes do not reach that far.
  const atLeast = ceilDivide(ESCAPE_AT * t.numerator, t.denominator << BigInt(lowBits));
  const escape = atLeast < 255n ? Number(atLeast) : 255;

  const digits = 2 * draws;
  const tails = SCALE_COLUMNS + columnsBefore(digits);
  const words = new Uint32Array(tails + columnsBefore(digits) * TAIL_WORDS);
  const view = new DataView(words.buffer);
  words[SCALE_DRAWS] = draws;
  words[SCALE_ESCAPE] = escape;
  view.setFloat64(4 * SCALE_DIVISOR, Number(divisor), true);
  view.setFloat64(4 * SCALE_ESCAPE_STEP, escape * 2 ** lowBits, true);
  // Where the other digits have room for all low bits the third has none, and kernels need not look it up.
  const spared = draws > 1 && lowBits <= 8 * (digits - 2) ? 2 : -1;
  const weights: number[] = [];
  for (let digit = 0, shift = lowBits; digit < digits; digit++) {
    // The low bits are shared out evenly, from the highest down.
    const sharing = digits - digit - (digit < spared ? 1 : 0);
    const width = digit === 0 || digit === spared ? 0 : Math.ceil(shift / sharing);
    shift -= width;
    words[SCALE_SHIFTS + digit] = shift;
    weights.push(2 ** shift);
    const rho = expFixed(t.denominator << BigInt(shift), t.numerator, EXP_BITS);
    if (digit === 0) {
      const chances = escapingGeometric(powersOf(rho, escape, EXP_BITS), WEIGHT_BITS);
      const padded = Array.from({ length: SIGN }, (_, k) => chances[k] ?? 0n);
      const odds = expFixed(t.denominator, t.numerator, EXP_BITS); // of −1 − G against G
      const signed = withSigns(padded, odds, 1n << BigInt(EXP_BITS));
      writeColumns(words, tails, digit, aliasTable(signed, TOP_COLUMNS, WEIGHT_BITS));
    } else {
      const chances = truncatedGeometric(powersOf(rho, 2 ** width, EXP_BITS), WEIGHT_BITS);
      writeColumns(words, tails, digit, aliasTable(chances, COLUMNS, WEIGHT_BITS));
    }
  }
  return { numerator, denominator, divisor: Number(divisor), escape, weights, words, tails };
}

const ceilDivide = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;

/** A threshold in pieces: from its lowest bits up, as words of 64 and of 32 bits. */
const longPieces = new BigUint64Array(3);
const pieces = new Uint32Array(longPieces.buffer);
/** The pieces in the order of their worth, where a machine has the higher word of a long one first. */
const order = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 0 : 1;

function writeColumns(words: Uint32Array, tails: number, digit: number, columns: Column[]): void {
  const outcomeBits = digit === 0 ? 9 : 8;
  const before = columnsBefore(digit);
  for (let i = 0; i < columns.length; i++) {
    const { own, alias, threshold } = columns[i]!;
    for (let k = 0, rest = threshold; k < 3; k++, rest >>= 64n) longPieces[k] = rest; // the lowest 64 bits of it
    const head = pieces[TAIL_WORDS ^ order]!;
    const column = before + i;
    words[SCALE_COLUMNS + column] = (((head << outcomeBits) | alias) << outcomeBits) | own;
    for (let k = 0; k < TAIL_WORDS; k++)
      words[tails + column * TAIL_WORDS + TAIL_WORDS - 1 - k] = pieces[k ^ order]!;
  }
}
