/** The law of a mechanism, counted from the very words its kernels read, and its draws told plainly, in BigInt. */
import {
  MECHANISM_FACTORS,
  MECHANISM_FIRSTS,
  MECHANISM_SLACK,
  MECHANISM_TOP,
  MECHANISM_WEIGHTS,
  MECHANISM_WIDTH,
} from "../../src/core/layout.js";
import { type Mechanism } from "../../src/core/tables/sectors.js";

export interface Shares {
  /** One cell in the window, one outside, and the two cells of Stochastic Rounding; in units of 1/unit. */
  readonly inside: bigint;
  readonly outside: bigint;
  readonly zero: bigint;
  readonly one: bigint;
  readonly unit: bigint;
}

/** The weight of a place in each sector, in units of 2⁻¹⁹². */
const weightsOf = ({ words }: Mechanism): bigint[] =>
  [0, 1, 2, 3].map((sector) =>
    words
      .subarray(MECHANISM_WEIGHTS + 8 * sector, MECHANISM_WEIGHTS + 8 * (sector + 1))
      .reduce((value, word) => (value << 32n) | BigInt(word), 0n),
  );

/** Sector by sector (src/core/tables/sectors.ts): how many places give each cell, times what they weigh. */
export function sharesOf(mechanism: Mechanism, x: number): Shares {
  const [inside, outside, kept, flipped] = weightsOf(mechanism) as [bigint, bigint, bigint, bigint];
  const [n, w, at] = [
    BigInt(mechanism.words[MECHANISM_TOP]!),
    BigInt(mechanism.words[MECHANISM_WIDTH]!),
    BigInt(x),
  ];
  return {
    inside,
    outside,
    zero: kept * (n - at) + flipped * at,
    one: kept * at + flipped * (n - at),
    unit: w * inside + n * (outside + kept + flipped),
  };
}

/** The probability of every cell, given x. */
export function cellShares(mechanism: Mechanism, x: number): bigint[] {
  const { cells, width, top } = mechanism;
  const { inside, outside, zero, one } = sharesOf(mechanism, x);
  const shares: bigint[] = [];
  if (width > 0)
    for (let cell = 0; cell < top + width; cell++)
      shares.push(cell >= x && cell < x + width ? inside : outside);
  if (zero > 0n) shares.push(zero, one);
  if (shares.length !== cells) throw new RangeError(`cells: expected ${shares.length}, got ${cells}`);
  return shares;
}

/** A place of a sector, or `undefined` where there is none. */
export function placeOf(mechanism: Mechanism, u: bigint): { sector: number; place: number } | undefined {
  const { width, top, words } = mechanism;
  const starts = [0, 1, 2, 3, 4].map((sector) => BigInt(words[MECHANISM_FIRSTS + sector]!) << 160n);
  const weights = weightsOf(mechanism);
  for (const sector of [0, 1, 2, 3]) {
    const [start, weight, places] = [starts[sector]!, weights[sector]!, sector === 0 ? width : top];
    if (u < start || u >= start + BigInt(places) * weight) continue;
    return { sector, place: Number((u - start) / weight) };
  }
  return undefined;
}

/** Whether the first word alone decides, by the rule of src/core/tables/sectors.ts. */
export function isDecided({ words }: Mechanism, word: number): boolean {
  const first = words.subarray(MECHANISM_FIRSTS, MECHANISM_FIRSTS + 5).findLastIndex((w) => w <= word);
  if (first === 4) return true; // that there is no place
  const m = BigInt(words[MECHANISM_FACTORS + first]!);
  const product = BigInt(word + 1 - words[MECHANISM_FIRSTS + first]!) * m;
  return (product % 2n ** 40n) >> 8n >= (m >> 8n) + BigInt(words[MECHANISM_SLACK]!);
}

/** Draws from a list of words; `used` counts them. */
export class PlainReporter {
  used = 0;

  constructor(
    readonly words: Uint32Array,
    readonly mechanism: Mechanism,
  ) {}

  report(x: number): number {
    const { width, cells } = this.mechanism;
    for (;;) {
      const count = isDecided(this.mechanism, this.words[this.used]!) ? 1 : 6;
      let u = 0n;
      for (let i = 0; i < 6; i++) u = (u << 32n) | BigInt(i < count ? this.words[this.used + i]! : 0);
      this.used += count;
      const drawn = placeOf(this.mechanism, u);
      if (drawn === undefined) continue;
      const { sector, place } = drawn;
      if (sector === 0) return x + place;
      if (sector === 1) return place < x ? place : place + width;
      const rounded = place < x ? 1 : 0;
      return cells - 2 + (sector === 2 ? rounded : 1 - rounded);
    }
  }
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
