/** Local reports: twin of assembly/reports.ts. */
import type { Reports } from "../core.js";
import type { Mechanism, Quantiser } from "../mechanism.js";
import { WordReader } from "./reader.js";

/** The sector that a uniform number of 192 bits falls into: one word, or all six after a tie. */
function drawSector(reader: WordReader, coins: Uint32Array): number {
  const word = reader.next();
  const [first, second, third] = [coins[0]!, coins[8]!, coins[16]!];
  if (word !== first && word !== second && word !== third)
    return word < second ? (word < first ? 0 : 1) : word < third ? 2 : 3;
  const number = Uint32Array.of(
    word,
    reader.next(),
    reader.next(),
    reader.next(),
    reader.next(),
    reader.next(),
  );
  return [0, 8, 16].filter((coin) => !isBelow(number, coins, coin)).length;
}

function isBelow(number: Uint32Array, coins: Uint32Array, coin: number): boolean {
  for (let i = 0; i < 6; i++) if (number[i] !== coins[coin + i]) return number[i]! < coins[coin + i]!;
  return coins[coin + 6] === 1;
}

/** Uniform on 0 … n − 1, n ≤ 2²¹, so that word·n is exact. */
function belowOnce(reader: WordReader, n: number): number {
  for (;;) {
    const product = reader.next() * n;
    const u = Math.floor(product / 2 ** 32);
    const low = product - u * 2 ** 32;
    if (low >= n || low >= 2 ** 32 % n) return u;
  }
}

export const quantised = (value: number, { scale, shift }: Quantiser, top: number): number =>
  Math.min(Math.floor(Math.max(value, 0) * scale + shift), top);

/** The report of input x. */
export function drawReport(reader: WordReader, mechanism: Mechanism, x: number): number {
  const { top, width, cells, coins } = mechanism;
  const sector = drawSector(reader, coins);
  const u = belowOnce(reader, sector === 0 ? width : top);
  if (sector === 0) return x + u;
  const under = u < x;
  if (sector === 1) return under ? u : u + width;
  return cells - (under === (sector === 2) ? 1 : 2);
}

export const reports: Reports = {
  fillReports(random, mechanism, quantiser, values, out) {
    const reader = new WordReader(random);
    for (let i = 0; i < out.length; i++)
      out[i] = drawReport(reader, mechanism, quantised(values[i]!, quantiser, mechanism.top));
    reader.finish();
  },
};
