/** The sampler as docs/noise.md tells it, plainly: BigInt, one comparison of whole numbers per digit, nothing lazy. */
import { Layout, TAIL_WORDS, type Scale } from "../../src/core/scale.js";

const COLUMNS = 256;

export interface Column {
  readonly own: number;
  readonly alias: number;
  /** Bits of the threshold's head: 8 or 7. */
  readonly headBits: number;
  /** Head and tail together, at most 2^(headBits + 160). */
  readonly threshold: bigint;
}

/** The columns of one digit, read back from a scale. */
export function columnsOf(scale: Scale, digit: number): Column[] {
  return Array.from({ length: COLUMNS }, (_, i) => {
    const entry = scale.words[Layout.columns + COLUMNS * digit + i]!;
    const at = scale.tails + TAIL_WORDS * (COLUMNS * digit + i);
    const threshold = scale.words
      .subarray(at, at + TAIL_WORDS)
      .reduce((sum, word) => (sum << 32n) | BigInt(word), BigInt(entry >>> 16));
    return { own: entry & 255, alias: (entry >>> 8) & 255, headBits: digit % 2 === 0 ? 8 : 7, threshold };
  });
}

/** The exact weight of each outcome of a digit, in units of 2^−(8 + headBits + 160). */
export function weightsOf(scale: Scale, digit: number): bigint[] {
  const weights = Array.from({ length: COLUMNS }, () => 0n);
  for (const { own, alias, headBits, threshold } of columnsOf(scale, digit)) {
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
    for (;;) {
      const sign = this.words[this.used]! % 2 === 1 ? -1 : 1;
      const magnitude = this.geometric();
      if (magnitude > 0) return sign * magnitude;
      if (sign === 1) return 0;
    }
  }

  geometric(): number {
    const { weights, escape, divisor } = this.scale;
    let sum = 0;
    for (let digit = 0; digit < weights.length; digit += 2) {
      const word = this.words[this.used++]!;
      let high = this.#digit(digit, Math.floor(word / 2 ** 16), 8);
      while (digit === 0 && high === escape) {
        sum += escape * weights[0]!;
        high = this.#digit(0, Math.floor(this.words[this.used++]! / 2 ** 16), 8);
      }
      sum += high * weights[digit]!;
      sum += this.#digit(digit + 1, Math.floor((word % 2 ** 16) / 2), 7) * weights[digit + 1]!;
    }
    return Math.floor(sum / divisor);
  }

  /** `bits` holds 8 bits of column and then the fraction; 160 more bits are looked at, and counted if needed. */
  #digit(digit: number, bits: number, fractionBits: number): number {
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
