/** Numbers straight from bytes: twin of assembly/text.ts, which has the argument why they are exact. */
import type { Scan } from "../core.js";

/** 10⁰ … 10²²: the powers of ten that a double holds exactly. */
const POWERS = Float64Array.from({ length: 23 }, (_, k) => Number(`1e${k}`));

/** A place before all others: what is there is not certain. */
export const UNCERTAIN = -1;

/** A place in a text, and what was read last. */
export class Cursor {
  readonly bytes: Uint8Array;
  number = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  isDigit(p: number): boolean {
    const c = this.bytes[p]!;
    return c >= 48 && c < 58;
  }

  skipBlanks(p: number): number {
    while (this.bytes[p] === 32) p++;
    return p;
  }

  /** A decimal number into `number`, exactly as Number(text) reads it; returns where it ends, or {@link UNCERTAIN}. */
  decimal(p: number): number {
    const { bytes } = this;
    p = this.skipBlanks(p);
    const sign = bytes[p];
    // Multiplied in the end: code that negated in a branch gave, on Node 20 after long runs, now and then a wrong sign.
    const factor = sign === 45 ? -1 : 1;
    if (sign === 45 || sign === 43) p++;
    let w = 0; // above 2⁵³ no longer exact, but never again below
    let from = p;
    for (; this.isDigit(p); p++) w = w * 10 + (bytes[p]! - 48);
    let digits = p - from;
    let k = 0;
    if (bytes[p] === 46) {
      from = ++p;
      for (; this.isDigit(p); p++) w = w * 10 + (bytes[p]! - 48);
      k = from - p;
      digits -= k;
    }
    if (digits === 0 || digits > 19 || w >= 2 ** 53) return UNCERTAIN;
    if ((bytes[p]! | 32) === 101) {
      const minus = bytes[++p] === 45;
      if (minus || bytes[p] === 43) p++;
      let exponent = 0;
      from = p;
      for (; this.isDigit(p) && p - from < 4; p++) exponent = exponent * 10 + (bytes[p]! - 48);
      if (p === from) return UNCERTAIN;
      k += minus ? -exponent : exponent;
    }
    if (k < -22 || k > 22) return UNCERTAIN;
    const size = k < 0 ? w / POWERS[-k]! : w * POWERS[k]!;
    this.number = factor * size;
    return this.skipBlanks(p);
  }

  /** Behind the line's end that `p` is at; {@link UNCERTAIN} if it is at none. */
  lineEnd(p: number): number {
    const c = this.bytes[p];
    if (c === 10) return p + 1;
    return c === 13 && this.bytes[p + 1] === 10 ? p + 2 : UNCERTAIN;
  }
}

export function scanLines(bytes: Uint8Array, out: Float64Array): Scan {
  const cursor = new Cursor(bytes);
  let count = 0;
  let at = 0;
  for (; count < out.length; count++) {
    const p = cursor.decimal(at);
    if (p === UNCERTAIN) break;
    const next = cursor.lineEnd(p);
    if (next === UNCERTAIN || next > bytes.length) break;
    out[count] = cursor.number;
    at = next;
  }
  return { count, next: at, lines: count };
}
