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
} from "../layout.js";
import { type DigitLaw, type FillDigit, LAW_BITS } from "./digit.js";
import { expFixed } from "./fixedPoint.js";

export interface Scale {
  /** t = numerator/denominator, in lowest terms. */
  readonly numerator: bigint;
  readonly denominator: bigint;
  /** m: draws are divided by it. 1 unless t < 1. */
  readonly divisor: number;
  /** The outcome of H that means "at least". */
  readonly escape: number;
  /** Weight of a unit of each digit, a power of two; H is the first digit. Two digits to a word. */
  readonly weights: readonly number[];
  /** Where the thresholds' tails begin in `words`: 5 words per digit and column. */
  readonly tails: number;
  /**
   * All of it for the kernels (layout.ts). Words: how many words of keystream a sample takes, half as many as digits; escape;
   * divisor and what an escape adds (escape times the first weight), an f64 each; log2 of each weight, at most 6; columns:
   * of H, 512: threshold's head ≪ 18 | alias ≪ 9 | own outcome, each outcome H plus 256 for the sign;
   * of every other digit, 256: threshold's head ≪ 16 | alias ≪ 8 | own outcome. After them the tails.
   *
   * They are made when they are first asked for.
   * @param fill of the core that asks; all cores make the same
   */
  words(fill: FillDigit): Uint32Array;
}

/** How many columns there are before those of a digit. */
export const columnsBefore = (digit: number): number => (digit === 0 ? 0 : COLUMNS * (digit + 1));
/** Added to H where the sign is negative. */
export const SIGN = 256;

const ONE = 1n << BigInt(LAW_BITS);
/** H escapes with probability about exp(−16). */
const ESCAPE_AT = 16n;
/** Tables take time to make and up to 43 KB: a process with many streams has many thresholds. */
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
  const scale = cache.get(name) ?? describe(numerator, denominator);
  cache.delete(name);
  if (cache.size === CACHED_SCALES) cache.delete(cache.keys().next().value!);
  cache.set(name, scale);
  return scale;
}

function gcd(a: bigint, b: bigint): bigint {
  while (b > 0n) [a, b] = [b, a % b];
  return a;
}

function describe(numerator: bigint, denominator: bigint): Scale {
  const divisor = numerator < denominator ? ceilDivide(denominator, numerator) : 1n;
  const t = { numerator: numerator * divisor, denominator };
  let lowBits = 0;
  while (t.numerator > t.denominator << BigInt(lowBits + 4)) lowBits++;
  // escape·2^J/t is 16, or little less where 255 outcomes do not reach that far.
  const atLeast = ceilDivide(ESCAPE_AT * t.numerator, t.denominator << BigInt(lowBits));
  const escape = atLeast < 255n ? Number(atLeast) : 255;
  const shifts = digitShifts(lowBits);
  const header = { escape, divisor: Number(divisor) };
  let words: Uint32Array | undefined;
  return {
    ...header,
    numerator,
    denominator,
    weights: shifts.map((shift) => 2 ** shift),
    tails: tailsAt(shifts.length),
    words: (fill) => (words ??= makeWords({ ...header, shifts }, digitLaws(t, escape, shifts), fill)),
  };
}

/** log2 of what a unit of each digit is worth: the low bits are shared out evenly, from the highest down. */
function digitShifts(lowBits: number): number[] {
  const draws = lowBits <= 8 ? 1 : lowBits <= 24 ? 2 : 3;
  const digits = 2 * draws;
  // Where the other digits have room for all low bits the third has none, and kernels need not look it up.
  const spared = draws > 1 && lowBits <= 8 * (digits - 2) ? 2 : -1;
  const shifts = [lowBits];
  for (let digit = 1, shift = lowBits; digit < digits; digit++) {
    const sharing = digits - digit - (digit < spared ? 1 : 0);
    if (digit !== spared) shift -= Math.ceil(shift / sharing);
    shifts.push(shift);
  }
  return shifts;
}

/** The laws of all digits of scale t, and of the sign, which comes with the first. */
function digitLaws(
  t: { readonly numerator: bigint; readonly denominator: bigint },
  escape: number,
  shifts: readonly number[],
): DigitLaw[] {
  // exp(−2^k/t): each is the square of the one before.
  const ratios = [expFixed(t.denominator, t.numerator, LAW_BITS)];
  while (ratios.length <= shifts[0]!) ratios.push((ratios.at(-1)! * ratios.at(-1)!) >> BigInt(LAW_BITS));
  return shifts.map((shift, digit) => {
    const ratio = ratios[shift]!;
    if (digit === 0) {
      const negative = (ratios[0]! << BigInt(LAW_BITS)) / (ONE + ratios[0]!); // −1 − G instead of G
      return { outcomes: escape + 1, ratio, first: ONE - ratio, negative };
    }
    const before = shifts[digit - 1]!; // ratio^n is the ratio of the digit before
    const first = ((ONE - ratio) << BigInt(LAW_BITS)) / (ONE - ratios[before]!);
    return { outcomes: 2 ** (before - shift), ratio, first, negative: null };
  });
}

const tailsAt = (digits: number): number => SCALE_COLUMNS + columnsBefore(digits);

function makeWords(
  { escape, divisor, shifts }: { escape: number; divisor: number; shifts: readonly number[] },
  laws: readonly DigitLaw[],
  fill: FillDigit,
): Uint32Array {
  const tails = tailsAt(laws.length);
  const words = new Uint32Array(tails + columnsBefore(laws.length) * TAIL_WORDS);
  const view = new DataView(words.buffer);
  words[SCALE_DRAWS] = laws.length / 2;
  words[SCALE_ESCAPE] = escape;
  view.setFloat64(4 * SCALE_DIVISOR, divisor, true);
  view.setFloat64(4 * SCALE_ESCAPE_STEP, escape * 2 ** shifts[0]!, true);
  words.set(shifts, SCALE_SHIFTS);
  for (const [digit, law] of laws.entries()) {
    const [from, end] = [columnsBefore(digit), columnsBefore(digit + 1)];
    fill(
      law,
      words.subarray(SCALE_COLUMNS + from, SCALE_COLUMNS + end),
      words.subarray(tails + from * TAIL_WORDS, tails + end * TAIL_WORDS),
    );
  }
  return words;
}

const ceilDivide = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;
