/** A law of few outcomes → its alias table: twin of assembly/digit.ts. */
import { LOWEST_FIRST } from "../bytes.js";
import { TAIL_WORDS } from "../layout.js";
import { aliasTable } from "../tables/alias.js";
import { type DigitLaw, type FillDigit, LAW_BITS } from "../tables/digit.js";
import { SIGN } from "../tables/scale.js";

/** Column and fraction, which are half a word, and the tail: weights are multiples of 2⁻¹⁷⁶. */
const WEIGHT_BITS = 16n + 32n * BigInt(TAIL_WORDS);
const BITS = BigInt(LAW_BITS);
const HALF = 1n << (BITS - 1n);
/** Bits of a sum that its rounding takes away. */
const CUT = BITS - WEIGHT_BITS;

/** A threshold in pieces: from its lowest bits up, as words of 64 and of 32 bits. */
const longPieces = new BigUint64Array(3);
const pieces = new Uint32Array(longPieces.buffer);
/** The pieces in the order of their worth, where a machine has the higher word of a long one first. */
const order = LOWEST_FIRST ? 0 : 1;

export const fillDigit: FillDigit = (law, columns, tails) => {
  const weights = weightsOf(law);
  const { negative } = law;
  const signed = negative === null ? weights : splitBySign(weights, negative);
  const outcomeBits = negative === null ? 8 : 9;
  const table = aliasTable(signed, columns.length, WEIGHT_BITS);
  for (const [column, { own, alias, threshold }] of table.entries()) {
    for (let k = 0, rest = threshold; k < 3; k++, rest >>= 64n) longPieces[k] = rest; // the lowest 64 bits of it
    const head = pieces[TAIL_WORDS ^ order]!;
    columns[column] = (((head << outcomeBits) | alias) << outcomeBits) | own;
    for (let k = 0; k < TAIL_WORDS; k++) tails[column * TAIL_WORDS + TAIL_WORDS - 1 - k] = pieces[k ^ order]!;
  }
};

/** The weight of every outcome, in units of 2⁻¹⁷⁶. */
function weightsOf({ outcomes, ratio, first }: DigitLaw): bigint[] {
  const weights: bigint[] = [];
  let [chance, sum, below] = [first, 0n, 0n];
  while (weights.length < outcomes - 1) {
    sum += chance;
    const next = (sum + (1n << (CUT - 1n))) >> CUT;
    weights.push(next - below);
    below = next;
    chance = (chance * ratio) >> BITS;
  }
  weights.push((1n << WEIGHT_BITS) - below);
  return weights;
}

/** First the weights of outcomes without a sign, then those with it, each rounded to the nearest unit. */
function splitBySign(weights: readonly bigint[], negative: bigint): bigint[] {
  const signed = Array.from({ length: 2 * SIGN }, () => 0n);
  for (const [k, weight] of weights.entries()) {
    const share = (weight * negative + HALF) >> BITS;
    signed[k] = weight - share;
    signed[k + SIGN] = share;
  }
  return signed;
}
