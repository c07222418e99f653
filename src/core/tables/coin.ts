/**
 * Coins: probabilities of 192 bits. Heads iff a uniform number of 192 bits is smaller, compared lazily word by
 * word, so that one 32-bit word decides all but one toss in 2³².
 */
import { expFixed } from "./fixedPoint.js";

export const COIN_BITS = 192;
const ONE = 1n << BigInt(COIN_BITS);

export interface Coin {
  /**
   * 8 words, as the kernels read them: the threshold, most significant word first (6); what a complete tie
   * means (1 for heads: only the certain coin, which has no threshold of 192 bits); 0.
   */
  readonly words: Uint32Array;
}

/** The coin with probability threshold/2¹⁹². */
export function fixedCoin(threshold: bigint): Coin {
  if (threshold < 0n || threshold > ONE) throw new RangeError("threshold: expected 0 ≤ threshold ≤ 2¹⁹²");
  const words = new Uint32Array(8);
  const certain = threshold === ONE;
  let rest = certain ? ONE - 1n : threshold;
  for (let i = 5; i >= 0; i--, rest >>= 32n) words[i] = Number(rest & 0xffffffffn);
  words[6] = certain ? 1 : 0;
  return { words };
}

/** The coin with probability numerator/denominator, rounded down to 192 bits. */
export function ratioCoin(numerator: bigint, denominator: bigint): Coin {
  if (denominator <= 0n || numerator < 0n || numerator > denominator)
    throw new RangeError(
      `ratioCoin: expected a probability between 0 and 1, got ${numerator}/${denominator}`,
    );
  return fixedCoin((numerator << BigInt(COIN_BITS)) / denominator);
}

/** The coin with probability exp(−numerator/denominator), off by less than 2⁻¹⁹². */
export function expCoin(numerator: bigint, denominator: bigint): Coin {
  if (denominator <= 0n || numerator < 0n)
    throw new RangeError(`expCoin: expected an exponent ≥ 0, got ${numerator}/${denominator}`);
  return fixedCoin(expFixed(numerator, denominator, COIN_BITS));
}
