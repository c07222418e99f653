/** One column of CSV: twin of assembly/textCsv.ts. */
import type { Scan, Table } from "../core.js";
import { Cursor, UNCERTAIN } from "./text.js";

const QUOTE = 34;
const NEWLINE = 10;

/** The first of three bytes from `p` on, or `end`. */
function find(bytes: Uint8Array, p: number, end: number, a: number, b: number, c: number): number {
  for (; p < end; p++) {
    const byte = bytes[p];
    if (byte === a || byte === b || byte === c) return p;
  }
  return p;
}

export function scanCsv(bytes: Uint8Array, { delimiter, column, fields }: Table, out: Float64Array): Scan {
  const cursor = new Cursor(bytes);
  const end = bytes.length;
  let count = 0;
  let lines = 0;
  let at = 0;
  while (count < out.length) {
    let p = at;
    let next = cursor.lineEnd(p);
    if (next !== UNCERTAIN && next <= end) {
      at = next; // an empty line is no row
      lines++;
      continue;
    }
    let broken = 0; // line ends inside quotes
    let field = 0;
    for (next = UNCERTAIN; ; field++, p++) {
      const quoted = bytes[p] === QUOTE;
      if (quoted) p++;
      if (field === column) {
        p = cursor.decimal(p);
        if (p === UNCERTAIN || (quoted && bytes[p] !== QUOTE)) break;
        if (quoted) p++;
      } else if (quoted) {
        const toEnd = (from: number) => find(bytes, from, end, QUOTE, NEWLINE, NEWLINE);
        for (p = toEnd(p); p < end; p = toEnd(p)) {
          if (bytes[p] === NEWLINE) broken++;
          else if (bytes[p + 1] !== QUOTE) break;
          else p++; // a doubled quote stands for one
          p++;
        }
        if (p >= end) break;
        p++;
      } else {
        p = find(bytes, p, end, delimiter, NEWLINE, QUOTE);
        if (p >= end || bytes[p] === QUOTE) break;
      }
      if (bytes[p] !== delimiter) {
        next = cursor.lineEnd(p);
        break;
      }
    }
    if (next === UNCERTAIN || next > end || field + 1 !== fields) break;
    out[count++] = cursor.number;
    lines += broken + 1;
    at = next;
  }
  return { count, next: at, lines };
}
