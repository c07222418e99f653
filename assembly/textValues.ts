/**
 * The scalars of JSON (RFC 8259), for textJson.ts and textPattern.ts: each function returns the place behind one, or 0 if
 * it is not certainly one.
 */
import { decimal, digit, UNCERTAIN } from "./text";

export const QUOTE: u8 = 34;
const BACKSLASH: u8 = 92;

/** Whether the last string had an escape: then its letters are not what they look like. */
export let escaped: bool = false;

/** Which of the sixteen bytes from `p` on end a run of plain letters: a quote, a backslash, a control character. */
// @ts-ignore: decorator
@inline
function stops(p: usize): i32 {
  const text = v128.load(p);
  const ends = v128.or(i8x16.eq(text, i8x16.splat(QUOTE)), i8x16.eq(text, i8x16.splat(BACKSLASH)));
  return i8x16.bitmask(v128.or(ends, i8x16.lt_u(text, i8x16.splat(32))));
}

/** Behind the string whose text begins at `p`. */
export function endOfString(p: usize): usize {
  escaped = false;
  while (true) {
    const hits = stops(p);
    if (hits == 0) {
      p += 16;
      continue;
    }
    p += ctz(hits);
    const c = load<u8>(p);
    if (c == QUOTE) return p + 1;
    if (c != BACKSLASH) return UNCERTAIN; // a control character, a line's end, or the end of the text
    escaped = true;
    p = endOfEscape(p + 1);
    if (p == UNCERTAIN) return UNCERTAIN;
  }
}

/** Behind a string, as `endOfString`; at once for a short one without escapes. */
// @ts-ignore: decorator
@inline
export function endOfShortString(p: usize): usize {
  const hits = stops(p);
  const end = p + ctz(hits);
  return hits != 0 && load<u8>(end) == QUOTE ? end + 1 : endOfString(p);
}

/** Behind an escape, of which `p` is the letter. */
function endOfEscape(p: usize): usize {
  const c = load<u8>(p);
  // b f n r t
  if (c == QUOTE || c == BACKSLASH || c == 47 || c == 98 || c == 102 || c == 110 || c == 114 || c == 116)
    return p + 1;
  if (c != 117) return UNCERTAIN;
  for (let i = 0; i < 4; i++) {
    p++;
    if (digit(p) >= 10 && ((<u32>load<u8>(p)) | 32) - 97 >= 6) return UNCERTAIN;
  }
  return p + 1;
}

/** Behind true, null or false. */
export function endOfWord(p: usize): usize {
  const word = load<u32>(p);
  if (word == 0x65757274 || word == 0x6c6c756e) return p + 4; // true, null
  return word == 0x736c6166 && load<u8>(p, 4) == 101 ? p + 5 : UNCERTAIN; // false
}

/** Behind a number as JSON writes it. */
export function endOfNumber(p: usize): usize {
  if (load<u8>(p) == 45) p++;
  if (digit(p) >= 10) return UNCERTAIN;
  if (load<u8>(p) == 48) p++;
  else while (digit(p) < 10) p++;
  if (load<u8>(p) == 46) {
    if (digit(++p) >= 10) return UNCERTAIN;
    while (digit(p) < 10) p++;
  }
  if ((load<u8>(p) | 32) == 101) {
    p++;
    if (load<u8>(p) == 45 || load<u8>(p) == 43) p++;
    if (digit(p) >= 10) return UNCERTAIN;
    while (digit(p) < 10) p++;
  }
  return p;
}

/** Behind a number, as `endOfNumber`; at once for digits, perhaps with a point between them, that sixteen bytes hold with what follows. */
// @ts-ignore: decorator
@inline
export function endOfShortNumber(p: usize): usize {
  const digits = i8x16.bitmask(i8x16.lt_u(i8x16.sub(v128.load(p), i8x16.splat(48)), i8x16.splat(10)));
  let length = ctz(~digits);
  if (length > 1 && load<u8>(p) == 48) return UNCERTAIN;
  if (length > 0 && length < 15 && load<u8>(p + length) == 46) {
    const fraction = ctz(~digits >> (length + 1));
    length = fraction == 0 ? 0 : length + 1 + fraction;
  }
  if (length == 0 || length > 15 || (load<u8>(p + length) | 32) == 101) return endOfNumber(p);
  return p + length;
}

/** The field's value as a number, into `number` of text.ts. */
// @ts-ignore: decorator
@inline
export function fieldNumber(p: usize): usize {
  const end = endOfShortNumber(p);
  return end != UNCERTAIN && decimal(p) != UNCERTAIN ? end : UNCERTAIN;
}

/** The field's value as a string whose text begins at `p` and holds a number. */
export function fieldText(p: usize): usize {
  p = decimal(p);
  return p != UNCERTAIN && load<u8>(p) == QUOTE ? p + 1 : UNCERTAIN;
}
