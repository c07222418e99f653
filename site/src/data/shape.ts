/** Detects the shape of a visitor's file: format, columns, first rows. Runs in a Worker; nothing is sent anywhere. */
import Papa from "papaparse";
import { cellNumber, type DecimalMark, type Kind, kindOf } from "./cells.js";

export interface Column {
  /** How it is found: a position in CSV, a dotted path in JSON. */
  readonly key: string;
  readonly name: string;
  readonly kind: Kind;
  /** Smallest and largest value among the first rows. */
  readonly least: number | undefined;
  readonly most: number | undefined;
}

export interface FileShape {
  readonly format: "csv" | "ndjson" | "json";
  readonly zipped: boolean;
  readonly hasHeader: boolean;
  readonly delimiter: string;
  readonly mark: DecimalMark;
  readonly columns: readonly Column[];
  /** The first 20 rows, as text. */
  readonly rows: readonly (readonly string[])[];
}

const PREVIEW_BYTES = 2 ** 16;
const PREVIEW_ROWS = 100;
const SHOWN_ROWS = 20;
const EXPECTED = "Expected one number per line, a CSV table, or JSON; each may be gzipped (.gz).";

/** The file's text as it streams in, gunzipped where it is a .gz. */
export function textStream(file: Blob, zipped: boolean): ReadableStream<string> {
  const bytes = file.stream() as ReadableStream<BufferSource>;
  const plain = zipped ? bytes.pipeThrough(new DecompressionStream("gzip")) : bytes;
  return plain.pipeThrough(new TextDecoderStream());
}

/** Looks at the beginning of a file. */
export async function inspect(file: Blob): Promise<FileShape> {
  const magic = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const zipped = magic[0] === 0x1f && magic[1] === 0x8b;
  const { text, whole } = await beginning(file, zipped);
  if (text.trim() === "") throw new Error(`The file is empty. ${EXPECTED}`);
  if (text.includes("\0")) throw new Error(`This is not a text file. ${EXPECTED}`);
  const lines = whole ? text : text.slice(0, text.lastIndexOf("\n") + 1) || text;
  const shape = /^\s*\[/.test(text)
    ? fromRows("json", await jsonArray(file, zipped))
    : /^\s*\{/.test(text)
      ? fromRows("ndjson", ndjson(lines))
      : csvShape(lines);
  if (!shape.columns.some(({ kind }) => kind !== "text" && kind !== "person"))
    throw new Error(`No column of numbers found. ${EXPECTED}`);
  return { ...shape, zipped };
}

async function beginning(file: Blob, zipped: boolean): Promise<{ text: string; whole: boolean }> {
  const reader = textStream(file, zipped).getReader();
  let text = "";
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      text += chunk.value;
      if (text.length >= PREVIEW_BYTES) {
        await reader.cancel();
        return { text: text.slice(0, PREVIEW_BYTES), whole: false };
      }
    }
  } catch {
    throw new Error("The file could not be unpacked: it is damaged or cut off.");
  }
  return { text, whole: true };
}

/** Rows of a file that is one JSON array. */
export async function jsonArray(file: Blob, zipped: boolean): Promise<unknown[]> {
  let text = "";
  const reader = textStream(file, zipped).getReader();
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) text += chunk.value;
  try {
    return JSON.parse(text) as unknown[];
  } catch {
    throw new Error(`The file begins like a JSON array but is not one. ${EXPECTED}`);
  }
}

function csvShape(text: string): Omit<FileShape, "zipped"> {
  const { data, meta } = Papa.parse<string[]>(text, { skipEmptyLines: "greedy", preview: PREVIEW_ROWS });
  const [first = [], ...rest] = data;
  const mark = meta.delimiter === "," ? "." : markOf(data.flat());
  const hasHeader = first.every((cell) => cellNumber(cell, mark) === undefined);
  const rows = hasHeader ? rest : data;
  const columns = first.map((cell, i) => {
    const name = (hasHeader && cell.trim()) || (first.length === 1 ? "value" : `column ${i + 1}`);
    return columnOf(
      String(i),
      name,
      rows.map((row) => row[i]),
      mark,
    );
  });
  const shown = rows.slice(0, SHOWN_ROWS).map((row) => first.map((_, i) => row[i] ?? ""));
  return { format: "csv", hasHeader, delimiter: meta.delimiter, mark, columns, rows: shown };
}

function markOf(cells: readonly string[]): DecimalMark {
  const like = (pattern: RegExp) => cells.filter((cell) => pattern.test(cell.trim())).length;
  return like(/^-?[\d.]*\d,\d+$/) > like(/^-?\d+\.\d+$/) ? "," : ".";
}

function ndjson(text: string): unknown[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(0, PREVIEW_ROWS)
    .map(parseLine);
}

/** @param all plain numbers, or objects */
function fromRows(format: "ndjson" | "json", all: readonly unknown[]): Omit<FileShape, "zipped"> {
  const rows = all.slice(0, PREVIEW_ROWS);
  const paths = [...new Set(rows.flatMap((row) => (isObject(row) ? pathsOf(row) : [""])))];
  const columns = paths.map((path) =>
    columnOf(
      path,
      path || "value",
      rows.map((row) => at(row, path)),
      ".",
    ),
  );
  const shown = rows
    .slice(0, SHOWN_ROWS)
    .map((row) => paths.map((path) => JSON.stringify(at(row, path)) ?? ""));
  return { format, hasHeader: false, delimiter: "", mark: ".", columns, rows: shown };
}

function columnOf(key: string, name: string, cells: readonly unknown[], mark: DecimalMark): Column {
  const numbers = cells.map((cell) => cellNumber(cell, mark)).filter((n) => n !== undefined);
  const ends = numbers.length === 0 ? [undefined, undefined] : [Math.min(...numbers), Math.max(...numbers)];
  return { key, name, kind: kindOf(name, cells, mark), least: ends[0], most: ends[1] };
}

export function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // counted as a row without a number
  }
}

const isObject = (row: unknown): row is object => typeof row === "object" && row !== null;

/** Dotted paths of everything in an object that is not an object itself. */
function pathsOf(row: unknown, prefix = ""): string[] {
  if (!isObject(row)) return prefix === "" ? [] : [prefix];
  return Object.entries(row).flatMap(([key, inner]) =>
    pathsOf(inner, prefix === "" ? key : `${prefix}.${key}`),
  );
}

/** The cell at a dotted path; the row itself at "". */
export function at(row: unknown, path: string): unknown {
  if (path === "") return row;
  return path
    .split(".")
    .reduce<unknown>(
      (inner, key) => (isObject(inner) ? (inner as Record<string, unknown>)[key] : undefined),
      row,
    );
}
