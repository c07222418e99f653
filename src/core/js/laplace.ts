/** Random bits → exact integer noise: twin of assembly/laplace.ts. src/core/tables/scale.ts says how a scale draws. */
import { SCALE_COLUMNS, TAIL_WORDS } from "../layout.js";
import type { Sampling } from "../core.js";
import { columnsBefore, type Scale, SIGN } from "../tables/scale.js";
import { WordReader } from "./reader.js";

/** A geometric sample: an integer k ≥ 0 with P(k) ∝ exp(−k/t). */
export function drawGeometric(reader: WordReader, scale: Scale): number {
  const word = reader.next() | 0;
  return geometricFrom(reader, scale, word, drawTop(reader, scale, word));
}

/** A discrete Laplace sample: an integer k with P(k) ∝ exp(−|k|/t). */
export function drawLaplace(reader: WordReader, scale: Scale): number {
  // Below 1 the sign would be too one-sided for a table. The difference of two geometric samples needs none.
  if (scale.divisor !== 1) return drawGeometric(reader, scale) - drawGeometric(reader, scale);
  const word = reader.next() | 0;
  const top = drawTop(reader, scale, word);
  const negative = top >>> 8;
  return (1 - 2 * negative) * geometricFrom(reader, scale, word, top) - negative;
}

/**
 * A geometric sample whose first word has been taken, and H and sign drawn. Words are made signed (| 0) before they are
 * cut up: engines keep unsigned ones as doubles, which is four times slower.
 */
function geometricFrom(reader: WordReader, scale: Scale, word: number, top: number): number {
  const { weights, escape, divisor } = scale;
  let sum = 0;
  let high = top % SIGN;
  while (high === escape) {
    sum += escape * weights[0]!;
    high = drawTop(reader, scale, reader.next() | 0) % SIGN;
  }
  sum += high * weights[0]! + drawDigit(reader, scale, 1, word) * weights[1]!;
  for (let digit = 2; digit < weights.length; digit += 2) {
    word = reader.next() | 0;
    sum += drawDigit(reader, scale, digit, word >>> 16) * weights[digit]!;
    sum += drawDigit(reader, scale, digit + 1, word) * weights[digit + 1]!;
  }
  return divisor === 1 ? sum : Math.floor(sum / divisor);
}

/** H and sign, from the upper half of a word: 9 bits of column, 7 of fraction. A tie takes further words. */
function drawTop(reader: WordReader, scale: Scale, word: number): number {
  const column = word >>> 23;
  const entry = scale.words[SCALE_COLUMNS + column]!;
  const over = ((word >>> 16) & 127) - (entry >>> 18);
  // A choice that nobody can foresee, made by a shift: by 0 for the column's own outcome, by 9 for its alias.
  const by = over !== 0 ? ~(over >> 31) & 9 : breakTie(reader, scale, column, 9);
  return (entry >>> by) & 511;
}

/** Another digit, from 16 bits: 8 of column, 8 of fraction. */
function drawDigit(reader: WordReader, scale: Scale, digit: number, half: number): number {
  const column = columnsBefore(digit) + ((half >>> 8) & 255);
  const entry = scale.words[SCALE_COLUMNS + column]!;
  const over = (half & 255) - (entry >>> 16);
  const by = over !== 0 ? ~(over >> 31) & 8 : breakTie(reader, scale, column, 8);
  return (entry >>> by) & 255;
}

/** 0 if the words that come are below the column's tail, else `alias`. */
function breakTie(reader: WordReader, scale: Scale, column: number, alias: number): number {
  return reader.tailBelow(scale.words, scale.tails + TAIL_WORDS * column, TAIL_WORDS, false) ? 0 : alias;
}

export const geometric: Sampling["geometric"] = (random, scale, out) => {
  const reader = new WordReader(random);
  for (let i = 0; i < out.length; i++) out[i] = drawGeometric(reader, scale);
  reader.finish();
};

export const laplace: Sampling["laplace"] = (random, scale, out) => {
  const reader = new WordReader(random);
  for (let i = 0; i < out.length; i++) out[i] = drawLaplace(reader, scale);
  reader.finish();
};
