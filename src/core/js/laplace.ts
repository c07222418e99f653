/** Random bits → exact integer noise: twin of assembly/laplace.ts. src/core/scale.ts says how a scale draws. */
import type { Sampling } from "../core.js";
import { Layout, TAIL_WORDS, type Scale } from "../scale.js";
import { WordReader } from "./reader.js";

/** A geometric sample: an integer k ≥ 0 with P(k) ∝ exp(−k/t). */
export function drawGeometric(reader: WordReader, scale: Scale): number {
  return geometricFrom(reader, scale, reader.next());
}

/** A discrete Laplace sample: an integer k with P(k) ∝ exp(−|k|/t). */
export function drawLaplace(reader: WordReader, scale: Scale): number {
  for (;;) {
    const word = reader.next();
    const magnitude = geometricFrom(reader, scale, word);
    // Zero would have two signs: the negative one is drawn again, which leaves P(0) right, and no −0.
    if (magnitude !== 0) return (word & 1) === 1 ? -magnitude : magnitude;
    if ((word & 1) === 0) return 0;
  }
}

function geometricFrom(reader: WordReader, scale: Scale, word: number): number {
  const { weights, escape, divisor } = scale;
  let sum = 0;
  let top = drawHigh(reader, scale, 0, word);
  while (top === escape) {
    sum += escape * weights[0]!;
    top = drawHigh(reader, scale, 0, reader.next());
  }
  sum += top * weights[0]! + drawLow(reader, scale, 1, word) * weights[1]!;
  for (let digit = 2; digit < weights.length; digit += 2) {
    word = reader.next();
    sum += drawHigh(reader, scale, digit, word) * weights[digit]!;
    sum += drawLow(reader, scale, digit + 1, word) * weights[digit + 1]!;
  }
  return divisor === 1 ? sum : Math.floor(sum / divisor);
}

/** The digit in the upper half of a word: 8 bits of column, 8 of fraction. */
function drawHigh(reader: WordReader, scale: Scale, digit: number, word: number): number {
  return drawDigit(reader, scale, 256 * digit + (word >>> 24), (word >>> 16) & 255);
}

/** The digit in the lower half of a word: 8 bits of column, 7 of fraction. */
function drawLow(reader: WordReader, scale: Scale, digit: number, word: number): number {
  return drawDigit(reader, scale, 256 * digit + ((word >>> 8) & 255), (word >>> 1) & 127);
}

/** The outcome of a column, counted through all digits; a tie takes further words. */
function drawDigit(reader: WordReader, scale: Scale, column: number, fraction: number): number {
  const entry = scale.words[Layout.columns + column]!;
  const head = entry >>> 16;
  const own =
    fraction === head
      ? reader.tailBelow(scale.words, scale.tails + TAIL_WORDS * column, TAIL_WORDS, false)
      : fraction < head;
  return (own ? entry : entry >>> 8) & 255;
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
