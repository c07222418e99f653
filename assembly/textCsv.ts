/** One column of CSV (text.ts says what a scan is). Twin: src/core/js/textCsv.ts. */
import { decimal, lineEnd, number, stopped, UNCERTAIN } from "./text";

const QUOTE: u8 = 34;
const NEWLINE: u8 = 10;

/** The first of three bytes from `p` on, or a place from `end` on: sixteen at a time. */
// @ts-ignore: decorator
@inline
function find(p: usize, end: usize, a: v128, b: v128, c: v128): usize {
  for (; p < end; p += 16) {
    const text = v128.load(p);
    const hits = i8x16.bitmask(v128.or(v128.or(i8x16.eq(text, a), i8x16.eq(text, b)), i8x16.eq(text, c)));
    if (hits != 0) return p + ctz(hits);
  }
  return p;
}

/**
 * The numbers of one column.
 * @param delimiter between fields: one byte that is part of no number
 * @param column of the numbers, from 0
 * @param fields that every row has
 */
export function scanCsv(
  text: usize,
  end: usize,
  delimiter: u8,
  column: i32,
  fields: i32,
  out: usize,
  room: i32,
  result: usize,
): i32 {
  const quotes = i8x16.splat(QUOTE);
  const newlines = i8x16.splat(NEWLINE);
  const delimiters = i8x16.splat(delimiter);
  let count = 0;
  let lines = 0;
  let at = text;
  while (count < room) {
    let p = at;
    let next = lineEnd(p);
    if (next != UNCERTAIN && next <= end) {
      at = next; // an empty line is no row
      lines++;
      continue;
    }
    let broken = 0; // line ends inside quotes
    let field = 0;
    for (next = UNCERTAIN; ; field++, p++) {
      const quoted = load<u8>(p) == QUOTE;
      if (quoted) p++;
      if (field == column) {
        p = decimal(p);
        if (p == UNCERTAIN || (quoted && load<u8>(p) != QUOTE)) break;
        if (quoted) p++;
      } else if (quoted) {
        for (
          p = find(p, end, quotes, newlines, newlines);
          p < end;
          p = find(p, end, quotes, newlines, newlines)
        ) {
          if (load<u8>(p) == NEWLINE) broken++;
          else if (load<u8>(p, 1) != QUOTE) break;
          else p++; // a doubled quote stands for one
          p++;
        }
        if (p >= end) break;
        p++;
      } else {
        p = find(p, end, delimiters, newlines, quotes);
        if (p >= end || load<u8>(p) == QUOTE) break;
      }
      if (load<u8>(p) != delimiter) {
        next = lineEnd(p);
        break;
      }
    }
    if (next == UNCERTAIN || next > end || field + 1 != fields) break;
    store<f64>(out + ((<usize>count) << 3), number);
    count++;
    lines += broken + 1;
    at = next;
  }
  stopped(result, at - text, lines);
  return count;
}
