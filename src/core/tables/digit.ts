/**
 * The law of a digit of noise (scale.ts): a geometric variable that ends with its last outcome,
 *
 *     P(k) = first·ratio^k   for k below the last outcome, which has what is left
 *
 * A digit with all its outcomes from 0 to n − 1 has first = (1 − ratio)/(1 − ratio^n). Where the last outcome means "at least",
 * first = 1 − ratio. The last outcome has more than 2⁻¹⁷⁶ (2⁻²⁸ in any scale): the rounded sum of the others stays below 1.
 * Weights are multiples of 2⁻¹⁷⁶: differences of sums that are rounded, so that they sum to 1 exactly.
 */

/** Bits of `ratio`, `first` and `negative`: 2²⁵⁶ is 1. */
export const LAW_BITS = 256;

export interface DigitLaw {
  /** At least 1, and at most as many as there are columns; half as many where there is a sign. */
  readonly outcomes: number;
  readonly ratio: bigint;
  readonly first: bigint;
  /** The share of every outcome that has a negative sign; null where no sign is drawn. */
  readonly negative: bigint | null;
}

/**
 * Writes the alias table of a law: 512 columns where there is a sign, else 256. scale.ts says what a column is.
 * @param tails 5 words per column
 */
export type FillDigit = (law: DigitLaw, columns: Uint32Array, tails: Uint32Array) => void;
