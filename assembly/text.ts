/**
 * Numbers straight from bytes. A kernel reads whole records (lines, rows of a table) for as long as it is certain of
 * them, and stops in front of the first one that it is not certain of: the careful reader in
 * src/adapters/textRecords.ts decides about that one. Twin: src/core/js/text.ts.
 *
 * At least TEXT_PADDING zero bytes follow the text, so that no loop asks at every byte whether the text has ended:
 * a zero byte is part of no number, and it ends no record.
 */
import * as layout from "../src/core/layout";

const NEXT: usize = layout.TEXT_NEXT;
const LINES: usize = layout.TEXT_LINES;

/** 10⁰ … 10²²: the powers of ten that a double holds exactly (5²² < 2⁵³). */
const POWERS: usize = memory.data<f64>([
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
  1e20, 1e21, 1e22,
]);

/** No place of a text: what was asked for is not certainly there. */
export const UNCERTAIN: usize = 0;

/** The number that {@link decimal} read last. */
export let number: f64 = 0;

/** Ends a scan: says where it stopped, and forgets the last number, which is secret. */
export function stopped(result: usize, next: usize, lines: u32): void {
  store<u32>(result, <u32>next, NEXT);
  store<u32>(result, lines, LINES);
  number = 0;
}

// @ts-ignore: decorator
@inline
export function digit(p: usize): u32 {
  return <u32>load<u8>(p) - 48;
}

// @ts-ignore: decorator
@inline
export function skipBlanks(p: usize): usize {
  while (load<u8>(p) == 32) p++;
  return p;
}

/**
 * A decimal number from `p` on, with blanks around it, into {@link number}, exactly as Number(text) reads it; returns
 * where it ends, or 0 where the platform has to read it.
 *
 * Digits w and a power of ten k stand for w·10^k. Fewer than 20 digits fit into 64 bits. If w < 2⁵³ and |k| ≤ 22, then
 * w and 10^|k| are doubles, and the one product or quotient of two doubles is rounded correctly by IEEE 754: it is the
 * double nearest to w·10^k, ties to even, which is what ECMAScript asks of Number(text). (Clinger 1990.)
 */
export function decimal(p: usize): usize {
  p = skipBlanks(p);
  const sign = load<u8>(p);
  const factor: f64 = sign == 45 ? -1 : 1; // multiplied in the end, as in the twin
  if (sign == 45 || sign == 43) p++;
  let w: u64 = 0;
  let from = p;
  for (let d = digit(p); d < 10; d = digit(++p)) w = w * 10 + d;
  let digits = <i32>(p - from);
  let k = 0;
  if (load<u8>(p) == 46) {
    from = ++p;
    for (let d = digit(p); d < 10; d = digit(++p)) w = w * 10 + d;
    k = -(<i32>(p - from));
    digits -= k;
  }
  if (digits == 0 || digits > 19 || w >= 1 << 53) return UNCERTAIN;
  if ((load<u8>(p) | 32) == 101) {
    const minus = load<u8>(++p) == 45;
    if (minus || load<u8>(p) == 43) p++;
    let exponent = 0;
    from = p;
    for (let d = digit(p); d < 10 && p - from < 4; d = digit(++p)) exponent = exponent * 10 + <i32>d;
    if (p == from) return UNCERTAIN;
    k += minus ? -exponent : exponent;
  }
  if (k < -22 || k > 22) return UNCERTAIN;
  const size =
    k < 0 ? <f64>w / load<f64>(POWERS + ((<usize>-k) << 3)) : <f64>w * load<f64>(POWERS + ((<usize>k) << 3));
  number = factor * size;
  return skipBlanks(p);
}

/** Where the record ends if `p` is at a line's end ("\n" or "\r\n"): behind it; else 0. */
// @ts-ignore: decorator
@inline
export function lineEnd(p: usize): usize {
  const c = load<u8>(p);
  if (c == 10) return p + 1;
  return c == 13 && load<u8>(p, 1) == 10 ? p + 2 : UNCERTAIN;
}

/**
 * A line of 1 to 7 digits, the most common one, without a branch per digit. Eight bytes are read as a word, shifted until
 * the digits stand at its upper end, and filled up with zeros in front; then pairs, fours and all eight are joined.
 * Returns where the line ends, or 0 if it is another kind of line.
 */
// @ts-ignore: decorator
@inline
function shortLine(p: usize): usize {
  const word = load<u64>(p);
  const difference = word ^ 0x0a0a0a0a0a0a0a0a;
  // The lowest bit that is set marks the first newline; bits above it may be wrong.
  const newlines = (difference - 0x0101010101010101) & ~difference & 0x8080808080808080;
  const bits = ctz(newlines) & ~7; // 8 for each byte in front of it; 64 if there is none
  if (bits == 0 || bits == 64) return UNCERTAIN;
  const digits = (word << (64 - bits)) | (0x3030303030303030 >> bits);
  if ((digits & 0xf0f0f0f0f0f0f0f0) != 0x3030303030303030) return UNCERTAIN;
  if (((digits + 0x0606060606060606) & 0xf0f0f0f0f0f0f0f0) != 0x3030303030303030) return UNCERTAIN;
  const values = digits - 0x3030303030303030;
  const pairs = values * 10 + (values >> 8);
  const low = (pairs & 0x000000ff000000ff) * 0x000f424000000064; // 10⁶·2³² + 10²
  const high = ((pairs >> 16) & 0x000000ff000000ff) * 0x0000271000000001; // 10⁴·2³² + 1
  number = <f64>(<u32>((low + high) >> 32));
  return p + <usize>(bits >> 3) + 1;
}

/**
 * One number a line.
 * @param out room for `room` numbers
 * @param result where the scan stopped
 * @returns how many numbers it read
 */
export function scanLines(text: usize, end: usize, out: usize, room: i32, result: usize): i32 {
  let count = 0;
  let at = text;
  for (; count < room; count++) {
    let next = shortLine(at);
    if (next == UNCERTAIN) {
      const p = decimal(at);
      if (p == UNCERTAIN) break;
      next = lineEnd(p);
    }
    if (next == UNCERTAIN || next > end) break;
    store<f64>(out + ((<usize>count) << 3), number);
    at = next;
  }
  stopped(result, at - text, count);
  return count;
}
