/**
 * Lines of a file mostly have the same names in the same order. The pattern of a line is its bytes without its scalar
 * values. A line that has, around values of the same kinds, the very bytes of a line that was read by the grammar, takes
 * the same way through the grammar: same names, same nesting, same field. So it is enough to compare these bytes, sixteen
 * at a time, and to check the values. Any other line is read by the grammar, and gives the next pattern.
 *
 * A pattern is a list of parts: bytes that stand in the text (where, how many), and the kind of value behind them.
 */
import * as layout from "../src/core/layout";
import { UNCERTAIN } from "./text";
import { endOfShortNumber, endOfShortString, endOfWord, fieldNumber, fieldText } from "./textValues";

/** Kinds of values: NONE stands behind the line's end. */
const NONE: u32 = 0;
export const TEXT: u32 = 1;
export const NUMBER: u32 = 2;
export const WORD: u32 = 3;
export const FIELD: u32 = 4;
export const FIELD_TEXT: u32 = 5;

/** A pattern: whether it is whole (an u32), padding, parts. A part: where its bytes stand, how many, the kind of value. */
const PARTS: usize = 16;
const LENGTH: usize = 4;
const KIND: usize = 8;
const PART: usize = 12;
const BYTES: usize = layout.TEXT_PATTERN;

let pattern: usize = 0;
let part: usize = 0;
/** Where the bytes of the next part begin. */
let fixed: usize = 0;

/** Starts the pattern of the line at `line`. */
export function beginPattern(at: usize, line: usize): void {
  pattern = at;
  part = at + PARTS;
  fixed = line;
}

/** Adds a value from `value` to `end`, which it returns. A line of too many values has no pattern. */
export function learn(value: usize, end: usize, kind: u32): usize {
  if (part + PART <= pattern + BYTES) {
    store<u32>(part, <u32>fixed);
    store<u32>(part, <u32>(value - fixed), LENGTH);
    store<u32>(part, kind, KIND);
  }
  part += PART;
  fixed = end;
  return end;
}

/** Ends the pattern of a line that was read, of which `next` is the place behind it. */
export function endPattern(next: usize): void {
  learn(next, next, NONE);
  store<u32>(pattern, <u32>(part <= pattern + BYTES));
}

/** Whether `length` bytes are the same; both places have sixteen readable bytes more. */
// @ts-ignore: decorator
@inline
function same(p: usize, q: usize, length: u32): bool {
  for (; length > 16; length -= 16, p += 16, q += 16)
    if (i8x16.bitmask(i8x16.eq(v128.load(p), v128.load(q))) != 0xffff) return false;
  return (i8x16.bitmask(i8x16.eq(v128.load(p), v128.load(q))) | (-1 << length)) == -1;
}

/** Behind the line at `p`, with the field's value in `number` of text.ts, if it is like the pattern's line; else 0. */
export function likeBefore(pattern: usize, p: usize): usize {
  if (load<u32>(pattern) == 0) return UNCERTAIN;
  let part = pattern + PARTS;
  while (true) {
    const length = load<u32>(part, LENGTH);
    if (!same(p, load<u32>(part), length)) return UNCERTAIN;
    p += length;
    const kind = load<u32>(part, KIND);
    if (kind == TEXT) p = endOfShortString(p);
    else if (kind == NUMBER) p = endOfShortNumber(p);
    else if (kind == FIELD) p = fieldNumber(p);
    else if (kind == WORD) p = endOfWord(p);
    else if (kind == FIELD_TEXT) p = fieldText(p);
    else return p;
    if (p == UNCERTAIN) return UNCERTAIN;
    part += PART;
  }
}
