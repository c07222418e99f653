/** Random bits → exact integer noise: twin of assembly/laplace.ts. src/core/scale.ts says how a scale draws. */
import { COLUMNS } from "../alias.js";
import type { Sampling } from "../core.js";
import { Layout, TAIL_WORDS, type Scale } from "../scale.js";
import { WordReader } from "./reader.js";

/** A geometric sample: an integer k ≥ 0 with P(k) ∝ exp(−k/t). */
export function drawGeometric(reader: WordReader, scale: Scale): number {
  return geometricFrom(reader, scale, reader.next() | 0);
}

/** A discrete Laplace sample: an integer k with P(k) ∝ exp(−|k|/t). */
export function drawLaplace(reader: WordReader, scale: Scale): number {
  for (;;) {
    const word = reader.next() | 0;
    const magnitude = geometricFrom(reader, scale, word);
    // Zero would have two signs: the negative one is drawn again, which leaves P(0) right, and no −0.
    if (magnitude !== 0) return (1 - 2 * (word & 1)) * magnitude;
    if ((word & 1) === 0) return 0;
  }
}

/**
 * A geometric sample whose first word has been taken already. Words are made signed (| 0) before they are cut up:
 * engines keep unsigned ones as doubles, which is four times slower.
 */
function geometricFrom(reader: WordReader, scale: Scale, word: number): number {
  const { weights, escape, divisor } = scale;
  let sum = 0;
  let top = drawHigh(reader, scale, 0, word);
  while (top === escape) {
    sum += escape * weights[0]!;
    top = drawHigh(reader, scale, 0, reader.next() | 0);
  }
  sum += top * weights[0]! + drawLow(reader, scale, 1, word) * weights[1]!;
  for (let digit = 2; digit < weights.length; digit += 2) {
    word = reader.next() | 0;
    sum += drawHigh(reader, scale, digit, word) * weights[digit]!;
    sum += drawLow(reader, scale, digit + 1, word) * weights[digit + 1]!;
  }
  return divisor === 1 ? sum : Math.floor(sum / divisor);
}

/** The digit in the upper half of a word: 8 bits of column, 8 of fraction. */
function drawHigh(reader: WordReader, scale: Scale, digit: number, word: number): number {
  return drawDigit(reader, scale, COLUMNS * digit + (word >>> 24), (word >>> 16) & 255);
}

/** The digit in the lower half of a word: 8 bits of column, 7 of fraction. */
function drawLow(reader: WordReader, scale: Scale, digit: number, word: number): number {
  return drawDigit(reader, scale, COLUMNS * digit + ((word >>> 8) & 255), (word >>> 1) & 127);
}

/** The outcome of a column, counted through all digits; a tie takes further words. */
function drawDigit(reader: WordReader, scale: Scale, column: number, fraction: number): number {
  const entry = scale.words[Layout.columns + column]!;
  const over = fraction - (entry >>> 16);
  // A choice that nobody can foresee, made by a shift: by 0 for the column's own outcome, by 8 for its alias.
  const by = over !== 0 ? ~(over >> 31) & 8 : breakTie(reader, scale, column);
  return (entry >>> by) & 255;
}

function breakTie(reader: WordReader, scale: Scale, column: number): number {
  return reader.tailBelow(scale.words, scale.tails + TAIL_WORDS * column, TAIL_WORDS, false) ? 0 : 8;
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
