/**
 * One field of NDJSON, an object a line (text.ts says what a scan is). The whole line is checked against the grammar of
 * JSON (RFC 8259), because JSON.parse would refuse it as a whole. Twin: src/core/js/textJson.ts.
 */
import * as layout from "../src/core/layout";
import { decimal, digit, number, stopped } from "./text";

const QUOTE: u8 = 34;
/** Containers inside each other; deeper lines are for the careful reader. */
const DEEPEST: i32 = layout.TEXT_DEPTH;

/** The field's path: per name its length in bytes as an u32, then its bytes, up to the next whole word. */
let path: usize = 0;
let names: i32 = 0;
/** How many names of the path this line has had. */
let found: i32 = 0;
/** Whether the last string had an escape: then its letters are not what they look like. */
let escaped: bool = false;

/** The blanks of JSON; but a line's end is none. */
// @ts-ignore: decorator
@inline
function skipSpace(p: usize): usize {
  for (let c = load<u8>(p); c == 32 || c == 9 || c == 13; c = load<u8>(p)) p++;
  return p;
}

/** Behind the string whose text begins at `p`; 0 if it is not certainly one. */
function endOfString(p: usize): usize {
  escaped = false;
  while (true) {
    const text = v128.load(p);
    const ends = v128.or(i8x16.eq(text, i8x16.splat(QUOTE)), i8x16.eq(text, i8x16.splat(92)));
    const hits = i8x16.bitmask(v128.or(ends, i8x16.lt_u(text, i8x16.splat(32))));
    if (hits == 0) {
      p += 16;
      continue;
    }
    p += ctz(hits);
    const c = load<u8>(p);
    if (c == QUOTE) return p + 1;
    if (c != 92) return 0; // a control character, a line's end, or the end of the text
    escaped = true;
    p = endOfEscape(p + 1);
    if (p == 0) return 0;
  }
}

/** Behind an escape, of which `p` is the letter. */
function endOfEscape(p: usize): usize {
  const c = load<u8>(p);
  // b f n r t
  if (c == QUOTE || c == 92 || c == 47 || c == 98 || c == 102 || c == 110 || c == 114 || c == 116)
    return p + 1;
  if (c != 117) return 0;
  for (let i = 0; i < 4; i++) {
    p++;
    if (digit(p) >= 10 && ((<u32>load<u8>(p)) | 32) - 97 >= 6) return 0;
  }
  return p + 1;
}

/** Behind a number as JSON writes it; 0 if it is none. */
function endOfNumber(p: usize): usize {
  if (load<u8>(p) == 45) p++;
  if (digit(p) >= 10) return 0;
  if (load<u8>(p) == 48) p++;
  else while (digit(p) < 10) p++;
  if (load<u8>(p) == 46) {
    if (digit(++p) >= 10) return 0;
    while (digit(p) < 10) p++;
  }
  if ((load<u8>(p) | 32) == 101) {
    p++;
    if (load<u8>(p) == 45 || load<u8>(p) == 43) p++;
    if (digit(p) >= 10) return 0;
    while (digit(p) < 10) p++;
  }
  return p;
}

/** Behind the value at `p`, with at most `depth` containers inside each other; 0 if it is not certainly one. */
function endOfValue(p: usize, depth: i32): usize {
  const c = load<u8>(p);
  if (c == QUOTE) return endOfString(p + 1);
  if (c == 123) return endOfObject(p + 1, names, depth);
  if (c == 91) return endOfArray(p + 1, depth);
  const word = load<u32>(p);
  if (word == 0x65757274 || word == 0x6c6c756e) return p + 4; // true, null
  if (word == 0x736c6166 && load<u8>(p, 4) == 101) return p + 5; // false
  return endOfNumber(p);
}

function endOfArray(p: usize, depth: i32): usize {
  if (depth == 0) return 0;
  p = skipSpace(p);
  if (load<u8>(p) == 93) return p + 1;
  while (true) {
    p = endOfValue(p, depth - 1);
    if (p == 0) return 0;
    p = skipSpace(p);
    const c = load<u8>(p);
    if (c == 93) return p + 1;
    if (c != 44) return 0;
    p = skipSpace(p + 1);
  }
}

/** @param level the name of the path that this object may have; `names` for an object that is not on the path */
function endOfObject(p: usize, level: i32, depth: i32): usize {
  if (depth == 0) return 0;
  p = skipSpace(p);
  if (load<u8>(p) == 125) return p + 1;
  while (true) {
    if (load<u8>(p) != QUOTE) return 0;
    const name = p + 1;
    p = endOfString(name);
    if (p == 0) return 0;
    if (level < names && escaped) return 0;
    const onPath = level < names && isName(name, p - 1, level);
    p = skipSpace(p);
    if (load<u8>(p) != 58) return 0;
    p = skipSpace(p + 1);
    if (onPath) {
      if (found > level) return 0; // a second time: the last one counts, which the careful reader knows
      found = level + 1;
      if (found == names) p = fieldNumber(p);
      else p = load<u8>(p) == 123 ? endOfObject(p + 1, found, depth - 1) : 0;
    } else p = endOfValue(p, depth - 1);
    if (p == 0) return 0;
    p = skipSpace(p);
    const c = load<u8>(p);
    if (c == 125) return p + 1;
    if (c != 44) return 0;
    p = skipSpace(p + 1);
  }
}

/** The field's value, a number or a string that holds one, into `number`; returns where it ends, or 0. */
function fieldNumber(p: usize): usize {
  if (load<u8>(p) == QUOTE) {
    p = decimal(p + 1);
    return p != 0 && load<u8>(p) == QUOTE ? p + 1 : 0;
  }
  const end = endOfNumber(p);
  return end != 0 && decimal(p) != 0 ? end : 0;
}

/** Whether the bytes from `p` to `end` are name `level` of the path. */
function isName(p: usize, end: usize, level: i32): bool {
  let entry = path;
  for (; level > 0; level--) entry += 4 + ((load<u32>(entry) + 3) & ~3);
  const length = load<u32>(entry);
  return end - p == length && memory.compare(p, entry + 4, length) == 0;
}

/**
 * The numbers of one field.
 * @param field the path's names, as above
 * @param count of names
 */
export function scanJson(
  text: usize,
  end: usize,
  field: usize,
  count: i32,
  out: usize,
  room: i32,
  result: usize,
): i32 {
  path = field;
  names = count;
  let lines = 0;
  let at = text;
  for (; lines < room; lines++) {
    let p = skipSpace(at);
    if (load<u8>(p) != 123) break;
    found = 0;
    p = endOfObject(p + 1, 0, DEEPEST);
    if (p == 0 || found != names) break;
    p = skipSpace(p);
    if (load<u8>(p) != 10 || p >= end) break;
    store<f64>(out + ((<usize>lines) << 3), number);
    at = p + 1;
  }
  stopped(result, at - text, lines);
  return lines;
}
