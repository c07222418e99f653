/** Random bits → exact integer noise: twin of assembly/laplace.ts. src/core/tables/scale.ts says how a scale draws. */
import { SCALE_COLUMNS, TAIL_WORDS } from "../layout.js";
import type { Sampling } from "../core.js";
import { columnsBefore, type Scale, SIGN } from "../tables/scale.js";
import { fillDigit } from "./digit.js";
import { WordReader } from "./reader.js";

/** A scale with its tables at hand. */
export interface Tables extends Omit<Scale, "words"> {
  readonly words: Uint32Array;
}

export const tablesOf = (scale: Scale): Tables => ({ ...scale, words: scale.words(fillDigit) });

/** A geometric sample: an integer k ≥ 0 with P(k) ∝ exp(−k/t). */
export function drawGeometric(reader: WordReader, tables: Tables): number {
  const word = reader.next() | 0;
  return geometricFrom(reader, tables, word, drawTop(reader, tables, word));
}

/** A discrete Laplace sample: an integer k with P(k) ∝ exp(−|k|/t). */
export function drawLaplace(reader: WordReader, tables: Tables): number {
  // Below 1 the sign would be too one-sided for a table. The difference of two geometric samples needs none.
  if (tables.divisor !== 1) return drawGeometric(reader, tables) - drawGeometric(reader, tables);
  const word = reader.next() | 0;
  const top = drawTop(reader, tables, word);
  const negative = top >>> 8;
  return (1 - 2 * negative) * geometricFrom(reader, tables, word, top) - negative;
}

/**
 * A geometric sample whose first word has been taken, and H and sign drawn. Words are made signed (| 0) before they are
 * cut up: engines keep unsigned ones as doubles, which is four times slower.
 */
function geometricFrom(reader: WordReader, tables: Tables, word: number, top: number): number {
  const { weights, escape, divisor } = tables;
  let sum = 0;
  let high = top % SIGN;
  while (high === escape) {
    sum += escape * weights[0]!;
    high = drawTop(reader, tables, reader.next() | 0) % SIGN;
  }
  sum += high * weights[0]! + drawDigit(reader, tables, 1, word) * weights[1]!;
  for (let digit = 2; digit < weights.length; digit += 2) {
    word = reader.next() | 0;
    sum += drawDigit(reader, tables, digit, word >>> 16) * weights[digit]!;
    sum += drawDigit(reader, tables, digit + 1, word) * weights[digit + 1]!;
  }
  return divisor === 1 ? sum : Math.floor(sum / divisor);
}

/** H and sign, from the upper half of a word: 9 bits of column, 7 of fraction. A tie takes further words. */
function drawTop(reader: WordReader, tables: Tables, word: number): number {
  const column = word >>> 23;
  const entry = tables.words[SCALE_COLUMNS + column]!;
  const over = ((word >>> 16) & 127) - (entry >>> 18);
  // A choice that nobody can foresee, made by a shift: by 0 for the column's own outcome, by 9 for its alias.
  const by = over !== 0 ? ~(over >> 31) & 9 : breakTie(reader, tables, column, 9);
  return (entry >>> by) & 511;
}

/** Another digit, from 16 bits: 8 of column, 8 of fraction. */
function drawDigit(reader: WordReader, tables: Tables, digit: number, half: number): number {
  const column = columnsBefore(digit) + ((half >>> 8) & 255);
  const entry = tables.words[SCALE_COLUMNS + column]!;
  const over = (half & 255) - (entry >>> 16);
  const by = over !== 0 ? ~(over >> 31) & 8 : breakTie(reader, tables, column, 8);
  return (entry >>> by) & 255;
}

/** 0 if the words that come are below the column's tail, else `alias`. */
function breakTie(reader: WordReader, tables: Tables, column: number, alias: number): number {
  return reader.tailBelow(tables.words, tables.tails + TAIL_WORDS * column, TAIL_WORDS, false) ? 0 : alias;
}

export const geometric: Sampling["geometric"] = (random, scale, out) => {
  const tables = tablesOf(scale);
  const reader = new WordReader(random);
  for (let i = 0; i < out.length; i++) out[i] = drawGeometric(reader, tables);
  reader.finish();
};

export const laplace: Sampling["laplace"] = (random, scale, out) => {
  const tables = tablesOf(scale);
  const reader = new WordReader(random);
  for (let i = 0; i < out.length; i++) out[i] = drawLaplace(reader, tables);
  reader.finish();
};
