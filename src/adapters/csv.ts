/** One row of CSV after another (RFC 4180), with care; quotes that stand wrong are refused, not guessed at. */
import { TextError } from "./textError.js";

export interface Row {
  /** None for an empty line. */
  readonly cells: readonly string[];
  /** The line each cell begins on, from 1. */
  readonly cellLines: readonly number[];
  /** Bytes and lines read. */
  readonly next: number;
  readonly lines: number;
}

const QUOTE = 34;
const NEWLINE = 10;
const RETURN = 13;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * The row that `bytes` begin with; `undefined` if its end is not there yet.
 * @param line its first line, from 1
 * @param last whether the text ends with `bytes`
 */
export function readRow(bytes: Uint8Array, line: number, delimiter: number, last: boolean): Row | undefined {
  const cells: string[] = [];
  const cellLines: number[] = [];
  const refuse = (fault: string): never => {
    throw new TextError(`expected valid CSV, got ${fault}`, cellLines.at(-1)!, cellLines.length);
  };
  if (lineEnd(bytes, 0) > 0) return { cells, cellLines, next: lineEnd(bytes, 0), lines: 1 };
  for (let p = 0, now = line; ; p++) {
    const start = p;
    cellLines.push(now);
    if (bytes[start] === QUOTE) {
      const end = closingQuote(bytes, start + 1);
      if (end < 0) return last ? refuse("a quote that is never closed") : undefined;
      const text = decoder.decode(bytes.subarray(start + 1, end));
      cells.push(text.replaceAll('""', '"'));
      now += text.split("\n").length - 1;
      p = end + 1;
    } else {
      for (; p < bytes.length && bytes[p] !== delimiter && bytes[p] !== NEWLINE; p++)
        if (bytes[p] === QUOTE) refuse("a quote inside a field that does not begin with one");
      if (p === bytes.length) return undefined;
      if (bytes[p] === NEWLINE && p > start && bytes[p - 1] === RETURN) p--;
      cells.push(decoder.decode(bytes.subarray(start, p)));
    }
    if (bytes[p] === delimiter) continue;
    const next = lineEnd(bytes, p);
    if (next > 0) return { cells, cellLines, next, lines: now - line + 1 };
    if (bytes[p] === RETURN && p + 1 === bytes.length) return undefined;
    refuse("text after the closing quote of a field");
  }
}

/** Where the quote is that closes a field, or −1 if it is not there, or not certain yet: a doubled quote stands for one. */
function closingQuote(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(QUOTE, from); at >= 0; at = bytes.indexOf(QUOTE, at + 2)) {
    if (at + 1 === bytes.length) return -1;
    if (bytes[at + 1] !== QUOTE) return at;
  }
  return -1;
}

/** Behind the line's end at `p`, or −1 if there is none. */
function lineEnd(bytes: Uint8Array, p: number): number {
  if (bytes[p] === NEWLINE) return p + 1;
  return bytes[p] === RETURN && bytes[p + 1] === NEWLINE ? p + 2 : -1;
}
