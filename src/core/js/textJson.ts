/** One field of NDJSON: twin of assembly/textJson.ts. */
import type { Scan } from "../core.js";
import { TEXT_DEPTH } from "../layout.js";
import { Cursor, UNCERTAIN } from "./text.js";

const QUOTE = 34;

/** One line at a time; {@link UNCERTAIN} is no place of it. */
class Line extends Cursor {
  readonly #path: readonly Uint8Array[];
  /** How many names of the path this line has had. */
  #found = 0;
  /** Whether the last string had an escape: then its letters are not what they look like. */
  #escaped = false;

  constructor(bytes: Uint8Array, path: readonly Uint8Array[]) {
    super(bytes);
    this.#path = path;
  }

  /** Behind the line from `p` on, with the field's value in `number`; {@link UNCERTAIN} if it is not. */
  read(p: number): number {
    p = this.#skipSpace(p);
    if (this.bytes[p] !== 123) return UNCERTAIN;
    this.#found = 0;
    p = this.#endOfObject(p + 1, 0, TEXT_DEPTH);
    if (p === UNCERTAIN || this.#found !== this.#path.length) return UNCERTAIN;
    p = this.#skipSpace(p);
    return this.bytes[p] === 10 ? p + 1 : UNCERTAIN;
  }

  /** The blanks of JSON; but a line's end is none. */
  #skipSpace(p: number): number {
    for (let c = this.bytes[p]; c === 32 || c === 9 || c === 13; c = this.bytes[p]) p++;
    return p;
  }

  #endOfString(p: number): number {
    this.#escaped = false;
    for (;;) {
      const c = this.bytes[p]!;
      if (c === QUOTE) return p + 1;
      if (!(c >= 32)) return UNCERTAIN; // a control character, a line's end, or the end of the text
      if (c !== 92) p++;
      else {
        this.#escaped = true;
        p = this.#endOfEscape(p + 1);
        if (p === UNCERTAIN) return UNCERTAIN;
      }
    }
  }

  /** Behind an escape, of which `p` is the letter. */
  #endOfEscape(p: number): number {
    const c = this.bytes[p]!;
    // " \ / b f n r t
    if (c === QUOTE || c === 92 || c === 47 || c === 98 || c === 102 || c === 110 || c === 114 || c === 116)
      return p + 1;
    if (c !== 117) return UNCERTAIN;
    for (let i = 0; i < 4; i++) {
      p++;
      const letter = this.bytes[p]! | 32;
      if (!this.isDigit(p) && (letter < 97 || letter > 102)) return UNCERTAIN;
    }
    return p + 1;
  }

  /** Behind a number as JSON writes it. */
  #endOfNumber(p: number): number {
    if (this.bytes[p] === 45) p++;
    if (!this.isDigit(p)) return UNCERTAIN;
    if (this.bytes[p] === 48) p++;
    else while (this.isDigit(p)) p++;
    if (this.bytes[p] === 46) {
      if (!this.isDigit(++p)) return UNCERTAIN;
      while (this.isDigit(p)) p++;
    }
    if ((this.bytes[p]! | 32) === 101) {
      p++;
      if (this.bytes[p] === 45 || this.bytes[p] === 43) p++;
      if (!this.isDigit(p)) return UNCERTAIN;
      while (this.isDigit(p)) p++;
    }
    return p;
  }

  #endOfValue(p: number, depth: number): number {
    const c = this.bytes[p];
    if (c === QUOTE) return this.#endOfString(p + 1);
    if (c === 123) return this.#endOfObject(p + 1, this.#path.length, depth);
    if (c === 91) return this.#endOfArray(p + 1, depth);
    for (const word of ["true", "null", "false"]) if (this.#isWord(p, word)) return p + word.length;
    return this.#endOfNumber(p);
  }

  #isWord(p: number, word: string): boolean {
    for (let i = 0; i < word.length; i++) if (this.bytes[p + i] !== word.charCodeAt(i)) return false;
    return true;
  }

  #endOfArray(p: number, depth: number): number {
    if (depth === 0) return UNCERTAIN;
    p = this.#skipSpace(p);
    if (this.bytes[p] === 93) return p + 1;
    for (;;) {
      p = this.#endOfValue(p, depth - 1);
      if (p === UNCERTAIN) return UNCERTAIN;
      p = this.#skipSpace(p);
      const c = this.bytes[p];
      if (c === 93) return p + 1;
      if (c !== 44) return UNCERTAIN;
      p = this.#skipSpace(p + 1);
    }
  }

  /** @param level the name of the path that this object may have; the path's length for an object that is not on it */
  #endOfObject(p: number, level: number, depth: number): number {
    if (depth === 0) return UNCERTAIN;
    p = this.#skipSpace(p);
    if (this.bytes[p] === 125) return p + 1;
    for (;;) {
      if (this.bytes[p] !== QUOTE) return UNCERTAIN;
      const name = p + 1;
      p = this.#endOfString(name);
      if (p === UNCERTAIN) return UNCERTAIN;
      if (level < this.#path.length && this.#escaped) return UNCERTAIN;
      const onPath = level < this.#path.length && this.#isName(name, p - 1, level);
      p = this.#skipSpace(p);
      if (this.bytes[p] !== 58) return UNCERTAIN;
      p = this.#skipSpace(p + 1);
      if (onPath) {
        if (this.#found > level) return UNCERTAIN; // a second time: the last one counts, which the careful reader knows
        this.#found = level + 1;
        if (this.#found === this.#path.length) p = this.#fieldNumber(p);
        else p = this.bytes[p] === 123 ? this.#endOfObject(p + 1, level + 1, depth - 1) : UNCERTAIN;
      } else p = this.#endOfValue(p, depth - 1);
      if (p === UNCERTAIN) return UNCERTAIN;
      p = this.#skipSpace(p);
      const c = this.bytes[p];
      if (c === 125) return p + 1;
      if (c !== 44) return UNCERTAIN;
      p = this.#skipSpace(p + 1);
    }
  }

  /** The field's value, a number or a string that holds one, into `number`; returns where it ends. */
  #fieldNumber(p: number): number {
    if (this.bytes[p] === QUOTE) {
      p = this.decimal(p + 1);
      return p !== UNCERTAIN && this.bytes[p] === QUOTE ? p + 1 : UNCERTAIN;
    }
    const end = this.#endOfNumber(p);
    return end !== UNCERTAIN && this.decimal(p) !== UNCERTAIN ? end : UNCERTAIN;
  }

  /** Whether the bytes from `p` to `end` are name `level` of the path. */
  #isName(p: number, end: number, level: number): boolean {
    const name = this.#path[level]!;
    if (end - p !== name.length) return false;
    for (let i = 0; i < name.length; i++) if (this.bytes[p + i] !== name[i]) return false;
    return true;
  }
}

export function scanJson(bytes: Uint8Array, path: readonly Uint8Array[], out: Float64Array): Scan {
  const line = new Line(bytes, path);
  let lines = 0;
  let at = 0;
  for (; lines < out.length; lines++) {
    const next = line.read(at);
    if (next === UNCERTAIN) break;
    out[lines] = line.number;
    at = next;
  }
  return { count: lines, next: at, lines };
}
