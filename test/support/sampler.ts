/** The sampler as docs/noise.md tells it, plainly: BigInt, one comparison of whole numbers per digit, nothing lazy. */
import { fillDigit } from "../../src/core/js/digit.js";
import { SCALE_COLUMNS, TAIL_WORDS } from "../../src/core/layout.js";
import { columnsBefore, type Scale } from "../../src/core/tables/scale.js";

export interface Column {
  readonly own: number;
  readonly alias: number;
  /** Bits of the threshold's head: 7 for H, 8 for other digits. */
  readonly headBits: number;
  /** Head and tail together, at most 2^(headBits + 160). */
  readonly threshold: bigint;
}

/** The columns of one digit, read back from a scale. */
export function columnsOf(scale: Scale, digit: number): Column[] {
  const outcomeBits = digit === 0 ? 9 : 8;
  const words = scale.words(fillDigit);
  return Array.from({ length: 2 ** outcomeBits }, (_, i) => {
    const column = columnsBefore(digit) + i;
    const entry = words[SCALE_COLUMNS + column]!;
    const at = scale.tails + TAIL_WORDS * column;
    const threshold = words
      .subarray(at, at + TAIL_WORDS)
      .reduce((sum, word) => (sum << 32n) | BigInt(word), BigInt(entry >>> (2 * outcomeBits)));
    const [own, alias] = [entry % 2 ** outcomeBits, (entry >>> outcomeBits) % 2 ** outcomeBits];
    return { own, alias, headBits: 16 - outcomeBits, threshold };
  });
}

/** The exact weight of each outcome of a digit, in units of 2⁻¹⁷⁶. Of H: first those of G, then those of −1 − G. */
export function weightsOf(scale: Scale, digit: number): bigint[] {
  const columns = columnsOf(scale, digit);
  const weights = columns.map(() => 0n);
  for (const { own, alias, headBits, threshold } of columns) {
    weights[own]! += threshold;
    weights[alias]! += (1n << BigInt(headBits + 160)) - threshold;
  }
  return weights;
}

/** Draws from a list of words; `used` counts them. */
export class PlainSampler {
  used = 0;
  readonly #tables: Column[][];

  constructor(
    readonly words: Uint32Array,
    readonly scale: Scale,
  ) {
    this.#tables = scale.weights.map((_, digit) => columnsOf(scale, digit));
  }

  laplace(): number {
    if (this.scale.divisor !== 1) return this.geometric() - this.geometric();
    const { magnitude, negative } = this.#signed();
    return negative ? -1 - magnitude : magnitude;
  }

  geometric(): number {
    return Math.floor(this.#signed().magnitude / this.scale.divisor);
  }

  #signed(): { magnitude: number; negative: boolean } {
    const { weights, escape } = this.scale;
    let magnitude = 0;
    let negative = false;
    for (let digit = 0; digit < weights.length; digit += 2) {
      const word = this.words[this.used++]!;
      let high = this.#digit(digit, Math.floor(word / 2 ** 16));
      if (digit === 0) {
        negative = high >= 256;
        for (; high % 256 === escape; high = this.#digit(0, Math.floor(this.words[this.used++]! / 2 ** 16)))
          magnitude += escape * weights[0]!;
        high %= 256;
      }
      magnitude += high * weights[digit]!;
      magnitude += this.#digit(digit + 1, word % 2 ** 16) * weights[digit + 1]!;
    }
    return { magnitude, negative };
  }

  /** `bits` holds 16 bits, the column and then the fraction; 160 more are looked at, and counted if needed. */
  #digit(digit: number, bits: number): number {
    const fractionBits = digit === 0 ? 7 : 8;
    const { own, alias, threshold } = this.#tables[digit]![Math.floor(bits / 2 ** fractionBits)]!;
    const fraction = bits % 2 ** fractionBits;
    if (fraction !== Number(threshold >> 160n)) return BigInt(fraction) < threshold >> 160n ? own : alias;
    const rest = [0, 1, 2, 3, 4].map((i) => this.words[this.used + i]!);
    const tail = Array.from({ length: 5 }, (_, i) =>
      Number((threshold >> BigInt(32 * (4 - i))) & 0xffffffffn),
    );
    const differs = rest.findIndex((word, i) => word !== tail[i]);
    this.used += differs === -1 ? 5 : differs + 1;
    const number = rest.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n);
    return number < (threshold & ((1n << 160n) - 1n)) ? own : alias;
  }
}
