/** Local reports: twin of assembly/reports.ts. */
import { MECHANISM_FACTORS, MECHANISM_FIRSTS, MECHANISM_SLACK } from "../layout.js";
import type { Reports } from "../core.js";
import { type Mechanism, type Quantiser } from "../tables/sectors.js";
import { Words } from "./words.js";

export const quantised = (value: number, { scale, shift }: Quantiser, top: number): number =>
  Math.min(Math.floor(Math.max(value, 0) * scale + shift), top);

/** The cell that place j of a sector gives to input x. */
function cellOf({ width, cells }: Mechanism, sector: number, j: number, x: number): number {
  if (sector === 0) return x + j;
  const under = j < x;
  if (sector === 1) return under ? j : j + width;
  return cells - (under === (sector === 2) ? 1 : 2);
}

/** The place in a sector by all six words; the number of its places where u lies behind them. */
function exactPlace(reader: Words, mechanism: Mechanism, sector: number, word: number): number {
  let u = BigInt(word);
  for (let i = 1; i < 6; i++) u = (u << 32n) | BigInt(reader.next());
  return Number((u - mechanism.starts[sector]!) / mechanism.weights[sector]!);
}

/** The report of input x. */
export function drawReport(reader: Words, mechanism: Mechanism, x: number): number {
  const { words, top, width } = mechanism;
  for (;;) {
    const word = reader.next();
    let sector = 0;
    while (sector < 4 && word >= words[MECHANISM_FIRSTS + sector + 1]!) sector++;
    if (sector === 4) continue;
    const distance = word + 1 - words[MECHANISM_FIRSTS + sector]!;
    const factor = words[MECHANISM_FACTORS + sector]!;
    // ⌊distance·factor/2⁸⌋, below 2⁵³: the factor's halves keep both products exact.
    const product = distance * (factor >>> 16) * 256 + Math.floor((distance * (factor & 65535)) / 256);
    let place = Math.floor(product / 2 ** 32);
    if (product - place * 2 ** 32 < (factor >>> 8) + words[MECHANISM_SLACK]!) {
      place = exactPlace(reader, mechanism, sector, word);
      if (place >= (sector === 0 ? width : top)) continue;
    }
    return cellOf(mechanism, sector, place, x);
  }
}

export const fillReports: Reports["fillReports"] = (random, mechanism, quantiser, values, out) => {
  const reader = new Words(random);
  for (let i = 0; i < out.length; i++)
    out[i] = drawReport(reader, mechanism, quantised(values[i]!, quantiser, mechanism.top));
  reader.finish();
};
