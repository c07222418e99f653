/** Uniform integers for experiments: which ranges are asked for, which values a made-up stream has. */
import { WordReader } from "../src/core/js/reader.js";
import type { Random } from "../src/core/random.js";

/**
 * Fills `out` with integers from 0 to n − 1, all equally likely; 1 ≤ n ≤ 2⁵³. Takes as many bits as n − 1 has and draws again
 * while they are n or more: no word for n = 1, the top bits of one word up to n = 2³², else the top bits of one and all of
 * another.
 */
export function uniformBelow(random: Random, n: number, out: Float64Array): void {
  if (!(Number.isInteger(n) && n >= 1 && n <= 2 ** 53))
    throw new RangeError(`n: expected an integer 1 ≤ n ≤ 2⁵³, got ${n}`);
  const reader = new WordReader(random);
  for (let i = 0; i < out.length; i++) out[i] = below(reader, n);
  reader.finish();
}

function below(reader: WordReader, n: number): number {
  if (n === 1) return 0;
  const high = Math.floor((n - 1) / 2 ** 32);
  const unused = Math.clz32(high > 0 ? high : n - 1);
  for (;;) {
    const top = reader.next() >>> unused;
    const x = high > 0 ? top * 2 ** 32 + reader.next() : top;
    if (x < n) return x;
  }
}
