/** Events from a CSV, NDJSON or Parquet file: time, value, person and group of every row. Messages name places and quote nothing. */
import { readRow } from "../adapters/csv.js";
import { TextError } from "../adapters/textError.js";
import { columnOf } from "../adapters/textRecords.js";
import { eventTime } from "../events/days/duration.js";
import { UsageError } from "./command.js";
import type { Format, Source } from "./input.js";

/** Which columns of a CSV file, or fields of a JSON object ("a.b" is b inside a), are what. */
export interface Columns {
  readonly time: string;
  readonly value?: string | undefined;
  readonly person?: string | undefined;
  readonly group?: string | undefined;
}

export interface EventRow {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly value: number | undefined;
  readonly person: string | undefined;
  readonly group: string | undefined;
}

const LONGEST = 2 ** 20;
const NEWLINE = 10;

/** By column, the option that named it. */
export const optionsOf = ({ time, value, person, group }: Columns): ReadonlyMap<string, string> =>
  new Map(
    Object.entries({ "group-by": group, person, value, time }).flatMap(([option, column]) =>
      column === undefined ? [] : [[column, option]],
    ),
  );

/** The columns that are read. */
export const namesOf = ({ time, value, person, group }: Columns): string[] =>
  [time, value, person, group].filter((name) => name !== undefined);

/** Gives a column of a row as text; undefined if the row has none. */
export type Cells = (column: string) => string | undefined;

/** A row as it stands in the file. */
export interface LogRow {
  readonly cells: Cells;
  /** From 1. */
  readonly line: number;
}

export async function* eventRows(
  source: Source,
  format: Format,
  columns: Columns,
  delimiter: string | undefined,
  unit: "ms" | "s",
): AsyncGenerator<EventRow> {
  for await (const row of logRows(source, format, delimiter, optionsOf(columns)))
    yield eventOf(row, columns, unit);
}

export function logRows(
  source: Source,
  format: Format,
  delimiter: string | undefined,
  options: ReadonlyMap<string, string>,
): AsyncGenerator<LogRow> {
  if (format !== "csv" && format !== "ndjson")
    throw new UsageError(
      "--input-format: expected csv, ndjson or parquet, with a time in every row; give it, or a FILE that ends so",
    );
  return records(source, format === "csv" ? csvReader(delimiter?.charCodeAt(0) ?? 44, options) : readJson);
}

/** Reads the record that bytes begin with; undefined if its end is not there yet. `cells` is undefined for a header. */
type Read = (
  bytes: Uint8Array,
  line: number,
  last: boolean,
) => { readonly cells: Cells | undefined; readonly next: number; readonly lines: number } | undefined;

async function* records(source: Source, read: Read): AsyncGenerator<LogRow> {
  let pending = new Uint8Array(0);
  let line = 1;
  const pieces = async function* () {
    for await (const piece of source.pieces) yield { piece, last: false };
    yield { piece: Uint8Array.of(NEWLINE), last: true }; // the last record may lack its line's end
  };
  for await (const { piece, last } of pieces()) {
    const bytes = new Uint8Array(pending.length + piece.length);
    bytes.set(pending);
    bytes.set(piece, pending.length);
    let at = 0;
    for (let row; at < bytes.length && (row = read(bytes.subarray(at), line, last)) !== undefined;) {
      if (row.cells !== undefined) yield { cells: row.cells, line };
      at += row.next;
      line += row.lines;
    }
    pending = bytes.slice(at);
    if (pending.length > LONGEST) throw new TextError(`expected rows of at most ${LONGEST} bytes`, line);
  }
}

function csvReader(delimiter: number, options: ReadonlyMap<string, string>): Read {
  let header: readonly string[] | undefined;
  const places = new Map<string, number>();
  return (bytes, line, last) => {
    const row = readRow(bytes, line, delimiter, last);
    if (row === undefined) return undefined;
    const { cells, next, lines } = row;
    if (cells.length === 0) return { cells: undefined, next, lines };
    if (header === undefined) {
      header = cells;
      return { cells: undefined, next, lines };
    }
    if (cells.length !== header.length)
      throw new TextError("expected valid CSV, got a row with more or fewer fields than the first row", line);
    const cellOf = (column: string): string => {
      let place = places.get(column);
      if (place === undefined) places.set(column, (place = columnOf(header!, column, options.get(column))));
      return cells[place]!;
    };
    return { cells: cellOf, next, lines };
  };
}

const decoder = new TextDecoder();

const readJson: Read = (bytes, line) => {
  const end = bytes.indexOf(NEWLINE);
  if (end < 0) return undefined;
  const text = decoder.decode(bytes.subarray(0, end)).trim();
  if (text === "") return { cells: undefined, next: end + 1, lines: 1 };
  let object: unknown;
  try {
    object = JSON.parse(text);
  } catch {
    throw new TextError("expected a JSON object", line); // the platform's message quotes the line
  }
  const field = (path: string): string | undefined => {
    let value = object;
    const isWhole = typeof object === "object" && object !== null && Object.hasOwn(object, path);
    for (const name of isWhole ? [path] : path.split(".")) {
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
      value = (value as Record<string, unknown>)[name];
    }
    return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
  };
  return { cells: field, next: end + 1, lines: 1 };
};

const NUMBER = /^\s*-?\d+(\.\d+)?\s*$/;

export function eventOf({ cells, line }: LogRow, columns: Columns, unit: "ms" | "s"): EventRow {
  const need = (column: string): string => {
    const text = cells(column);
    if (text === undefined || text === "")
      throw new TextError(`expected something in "${column}", got nothing`, line);
    return text;
  };
  const time = need(columns.time);
  let at: number;
  try {
    at = NUMBER.test(time) ? eventTime(Number(time) * (unit === "s" ? 1000 : 1)) : eventTime(time.trim());
  } catch {
    throw new TextError(
      `expected a time in "${columns.time}": ISO text with its time zone, such as 2026-03-01T10:00:00Z or +01:00, or a number of ${unit} since 1970`,
      line,
    );
  }
  const value = columns.value === undefined ? undefined : Number(need(columns.value));
  if (value !== undefined && !Number.isFinite(value))
    throw new TextError(`expected a finite number in "${columns.value}"`, line);
  return {
    at,
    value,
    person: columns.person === undefined ? undefined : need(columns.person),
    group: columns.group === undefined ? undefined : need(columns.group),
  };
}
