/**
 * Text, record by record, with care: what a record means, and what is wrong with it. The kernels read most records
 * faster, and leave to this file those that they are not certain of. Messages name places and quote nothing.
 */
import type { Scan, Table, Texts } from "../core/core.js";
import { readRow, type Row } from "./csv.js";
import { TextError } from "./textError.js";

/** Reads records of one format. */
export interface RecordReader {
  /** Reads what is certain, by a kernel. */
  scan(core: Texts, bytes: Uint8Array, out: Float64Array): Scan;
  /**
   * Reads the record that `bytes` begin with; `undefined` if its end is not there yet.
   * @param line the record's first line, from 1
   * @param last whether the text ends with `bytes`
   * @throws TextError
   */
  read(bytes: Uint8Array, line: number, last: boolean): Reading | undefined;
}

export interface Reading {
  /** Bytes and lines read. */
  readonly next: number;
  readonly lines: number;
  /** The record's number; a header or an empty line of CSV has none. */
  readonly value?: number;
  /** The reader of the records after this one, if it is another. */
  readonly then?: RecordReader;
}

const NEWLINE = 10;
/** Lines of NDJSON that a kernel reads at a time: room for numbers that no line will give would be wiped all the same. */
const LINES = 1024;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** For records that no kernel knows: every one is read with care. */
const scanNothing = (): Scan => ({ count: 0, next: 0, lines: 0 });

/** A line's number, or what is wrong with it. */
type ReadLine = (line: string) => number | string;

/* @__NO_SIDE_EFFECTS__ */
function lineReader(read: ReadLine, scan: RecordReader["scan"]): RecordReader {
  return {
    scan,
    read(bytes, line) {
      const end = bytes.indexOf(NEWLINE);
      if (end < 0) return undefined;
      const value = read(decoder.decode(bytes.subarray(0, end)));
      if (typeof value === "string") throw new TextError(value, line);
      return { next: end + 1, lines: 1, value };
    },
  };
}

/** A number as JavaScript reads it, blanks around it allowed. */
function numberOf(text: string): number | string {
  if (text.trim() === "") return "expected a finite number, got nothing";
  const value = Number(text);
  return Number.isFinite(value) ? value : "expected a finite number";
}

/** One number a line. */
export const plainLines: RecordReader = lineReader(numberOf, (core, bytes, out) =>
  core.scanLines(bytes, out),
);

/** A set of items a line, blanks between them, as the Frequent Itemset Mining repository has them: their number. */
export const itemLines: RecordReader = lineReader(
  (line) =>
    line
      .trim()
      .split(/\s+/)
      .filter((item) => item !== "").length || "expected at least one item",
  scanNothing,
);

/** One field of a JSON object a line. @param field its name, or names with dots between: an object inside an object */
export function jsonLines(field: string): RecordReader {
  const names = field.split(".");
  const path = names.map((name) => new TextEncoder().encode(name));
  // Damaged UTF-8 reads as U+FFFD: a kernel cannot see by its bytes that such a name is meant.
  const certain = names.every((name, i) => !name.includes("\uFFFD") && decoder.decode(path[i]) === name);
  return lineReader(
    (line) => fieldOf(line, names, field),
    (core, bytes, out) => (certain ? core.scanJson(bytes, path, out.subarray(0, LINES)) : scanNothing()),
  );
}

function fieldOf(line: string, names: readonly string[], field: string): number | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return "expected a JSON object"; // the platform's message quotes the line
  }
  if (typeof value !== "object" || value === null) return "expected a JSON object";
  for (const name of names) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name))
      return `there is no field "${field}"`;
    value = (value as Record<string, unknown>)[name];
  }
  const number = typeof value === "string" ? numberOf(value) : value;
  return Number.isFinite(number) ? (number as number) : `field "${field}" is not a number`;
}

/** Gets a row's fields, as they are read: first the header, if there is one. */
export type OnRow = (cells: readonly string[], isHeader: boolean) => void;

/**
 * One column of CSV (RFC 4180): quotes around fields, doubled inside them; a line's end inside quotes is text. Empty
 * lines are left out. The first row is a header unless all its fields are numbers.
 * @param column its name in the header, or its number from 1; may be left out if there is only one
 */
export function csvRows(column: string | undefined, delimiter: number, onRow?: OnRow): RecordReader {
  return {
    scan: scanNothing,
    read(bytes, line, last) {
      const row = readRow(bytes, line, delimiter, last);
      if (row === undefined || row.cells.length === 0) return row;
      const table = { delimiter, column: columnOf(row.cells, column), fields: row.cells.length };
      const isHeader = row.cells.some((cell) => typeof numberOf(cell) === "string");
      const then = dataRows(table, onRow);
      if (!isHeader) return { ...valueOf(row, table, onRow), then };
      onRow?.(row.cells, true);
      return { next: row.next, lines: row.lines, then };
    },
  };
}

function dataRows(table: Table, onRow: OnRow | undefined): RecordReader {
  return {
    scan: onRow === undefined ? (core, bytes, out) => core.scanCsv(bytes, table, out) : scanNothing,
    read(bytes, line, last) {
      const row = readRow(bytes, line, table.delimiter, last);
      return row === undefined || row.cells.length === 0 ? row : valueOf(row, table, onRow);
    },
  };
}

function valueOf({ cells, cellLines, next, lines }: Row, { column, fields }: Table, onRow?: OnRow): Reading {
  if (cells.length !== fields) {
    const at = Math.min(cells.length, fields + 1); // the last field there is, or the first that is too many
    throw new TextError(
      "expected valid CSV, got a row with more or fewer fields than the first row",
      cellLines[at - 1]!,
      at,
    );
  }
  const value = numberOf(cells[column]!);
  if (typeof value === "string") throw new TextError(`${value} in column ${column + 1}`, cellLines[column]!);
  onRow?.(cells, false);
  return { next, lines, value };
}

/**
 * A column by its name in the first row, or by its number from 1.
 * @param option that names it, for the message
 */
export function columnOf(first: readonly string[], column: string | undefined, option = "column"): number {
  const expected = `a name in the header or a number from 1 to ${first.length}`;
  if (column === undefined) {
    if (first.length === 1) return 0;
    throw new RangeError(`${option}: missing; expected ${expected}`);
  }
  const named = first.findIndex((cell) => cell.trim() === column);
  if (named >= 0) return named;
  const number = Number(column);
  if (Number.isInteger(number) && number >= 1 && number <= first.length) return number - 1;
  throw new RangeError(`${option}: expected ${expected}, got "${column}"`);
}
