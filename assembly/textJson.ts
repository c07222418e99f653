/**
 * One field of NDJSON, an object a line (text.ts says what a scan is). The whole line is checked against the grammar of
 * JSON (RFC 8259), because JSON.parse would refuse it as a whole. Lines like the one before are read by their pattern
 * (textPattern.ts). Twin: src/core/js/textJson.ts.
 */
import * as layout from "../src/core/layout";
import { number, stopped, UNCERTAIN } from "./text";
import {
  beginPattern,
  endPattern,
  FIELD,
  FIELD_TEXT,
  learn,
  likeBefore,
  NUMBER,
  TEXT,
  WORD,
} from "./textPattern";
import { endOfNumber, endOfString, endOfWord, escaped, fieldNumber, fieldText, QUOTE } from "./textValues";

/** Containers inside each other; deeper lines are for the careful reader. */
const DEEPEST: i32 = layout.TEXT_DEPTH;
/** After as many lines unlike the one before, only one line in as many is tried by the pattern. A power of two. */
const PATIENCE: i32 = 8;

/** The field's path: per name its length in bytes as an u32, then its bytes, up to the next whole word. */
let path: usize = 0;
let names: i32 = 0;
/** How many names of the path this line has had. */
let found: i32 = 0;

/** The blanks of JSON; but a line's end is none. */
// @ts-ignore: decorator
@inline
function skipSpace(p: usize): usize {
  for (let c = load<u8>(p); c == 32 || c == 9 || c == 13; c = load<u8>(p)) p++;
  return p;
}

/** Behind the value at `p`, with at most `depth` containers inside each other; 0 if it is not certainly one. */
function endOfValue(p: usize, depth: i32): usize {
  const c = load<u8>(p);
  if (c == QUOTE) return learn(p + 1, endOfString(p + 1), TEXT);
  if (c == 123) return endOfObject(p + 1, names, depth);
  if (c == 91) return endOfArray(p + 1, depth);
  const word = endOfWord(p);
  return word != UNCERTAIN ? learn(p, word, WORD) : learn(p, endOfNumber(p), NUMBER);
}

function endOfArray(p: usize, depth: i32): usize {
  if (depth == 0) return UNCERTAIN;
  p = skipSpace(p);
  if (load<u8>(p) == 93) return p + 1;
  while (true) {
    p = endOfValue(p, depth - 1);
    if (p == UNCERTAIN) return UNCERTAIN;
    p = skipSpace(p);
    const c = load<u8>(p);
    if (c == 93) return p + 1;
    if (c != 44) return UNCERTAIN;
    p = skipSpace(p + 1);
  }
}

/** @param level the name of the path that this object may have; `names` for an object that is not on the path */
function endOfObject(p: usize, level: i32, depth: i32): usize {
  if (depth == 0) return UNCERTAIN;
  p = skipSpace(p);
  if (load<u8>(p) == 125) return p + 1;
  while (true) {
    if (load<u8>(p) != QUOTE) return UNCERTAIN;
    const name = p + 1;
    p = endOfString(name);
    if (p == UNCERTAIN) return UNCERTAIN;
    if (level < names && escaped) return UNCERTAIN;
    const onPath = level < names && isName(name, p - 1, level);
    p = skipSpace(p);
    if (load<u8>(p) != 58) return UNCERTAIN;
    p = skipSpace(p + 1);
    if (onPath) {
      if (found > level) return UNCERTAIN; // a second time: the last one counts, which the careful reader knows
      found = level + 1;
      if (found == names) p = endOfField(p);
      else p = load<u8>(p) == 123 ? endOfObject(p + 1, found, depth - 1) : UNCERTAIN;
    } else p = endOfValue(p, depth - 1);
    if (p == UNCERTAIN) return UNCERTAIN;
    p = skipSpace(p);
    const c = load<u8>(p);
    if (c == 125) return p + 1;
    if (c != 44) return UNCERTAIN;
    p = skipSpace(p + 1);
  }
}

/** The field's value, a number or a string that holds one, into `number`; returns where it ends, or 0. */
function endOfField(p: usize): usize {
  return load<u8>(p) == QUOTE ? learn(p + 1, fieldText(p + 1), FIELD_TEXT) : learn(p, fieldNumber(p), FIELD);
}

/** Whether the bytes from `p` to `end` are name `level` of the path. */
function isName(p: usize, end: usize, level: i32): bool {
  let entry = path;
  for (; level > 0; level--) entry += 4 + ((load<u32>(entry) + 3) & ~3);
  const length = load<u32>(entry);
  return end - p == length && memory.compare(p, entry + 4, length) == 0;
}

/** Behind the line at `at`, read by the grammar, with the field's value in `number`; 0 if it is not certain. */
function endOfLine(at: usize, pattern: usize): usize {
  let p = skipSpace(at);
  if (load<u8>(p) != 123) return UNCERTAIN;
  found = 0;
  beginPattern(pattern, at);
  p = endOfObject(p + 1, 0, DEEPEST);
  if (p == UNCERTAIN || found != names) return UNCERTAIN;
  p = skipSpace(p);
  if (load<u8>(p) != 10) return UNCERTAIN;
  endPattern(p + 1);
  return p + 1;
}

/**
 * The numbers of one field.
 * @param field the path's names, as above
 * @param count of names
 * @param pattern room for TEXT_PATTERN bytes, zero at first
 */
export function scanJson(
  text: usize,
  end: usize,
  field: usize,
  count: i32,
  pattern: usize,
  out: usize,
  room: i32,
  result: usize,
): i32 {
  path = field;
  names = count;
  let lines = 0;
  let at = text;
  let misses = 0; // lines read by the grammar since one was like the one before it
  for (; lines < room; lines++) {
    let next = UNCERTAIN;
    if (misses < PATIENCE || (misses & (PATIENCE - 1)) == 0) next = likeBefore(pattern, at);
    if (next != UNCERTAIN) misses = 0;
    else {
      misses++;
      next = endOfLine(at, pattern);
    }
    if (next == UNCERTAIN || next > end) break;
    store<f64>(out + ((<usize>lines) << 3), number);
    at = next;
  }
  stopped(result, at - text, lines);
  return lines;
}
