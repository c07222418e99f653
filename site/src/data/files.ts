/**
 * A visitor's own file as a stream of numbers. Runs in a Worker; nothing is sent anywhere.
 * CSV with or without a header (a plain list is a CSV of one column), or NDJSON: a number or an object per line.
 */
import Papa from "papaparse";

export interface Column {
  /** How `readColumn` finds it: a position in CSV, a dotted path in NDJSON. */
  readonly key: string;
  readonly name: string;
  /** Whether its first cells are numbers. */
  readonly numeric: boolean;
}

export interface FileShape {
  readonly format: "csv" | "ndjson";
  readonly hasHeader: boolean;
  readonly columns: readonly Column[];
}

export interface Read {
  readonly values: Float64Array;
  /** Rows left out because this column holds no number there. */
  readonly skipped: number;
  /** Whether the file has more values than the page takes. */
  readonly cut: boolean;
}

/** Values taken from one file: 64 MB of them. */
export const MOST_VALUES = 2 ** 23;

const PREVIEW_BYTES = 2 ** 16;
const EXPECTED = "Expected one number per line, a CSV table, or NDJSON.";

/** Looks at the beginning of a file. */
export async function inspect(file: Blob): Promise<FileShape> {
  const start = await file.slice(0, PREVIEW_BYTES).text();
  if (start.trim() === "") throw new Error(`The file is empty. ${EXPECTED}`);
  if (start.includes("\0")) throw new Error(`This is not a text file. ${EXPECTED}`);
  const whole = file.size <= PREVIEW_BYTES ? start : start.slice(0, start.lastIndexOf("\n") + 1) || start;
  const shape = /^\s*\{/.test(start) ? ndjsonShape(whole) : csvShape(whole);
  if (!shape.columns.some((column) => column.numeric))
    throw new Error(`No column of numbers found. ${EXPECTED}`);
  return shape;
}

/** Reads one column, in order. */
export async function readColumn(
  file: Blob,
  shape: FileShape,
  column: Column,
  onProgress: (share: number) => void,
): Promise<Read> {
  const sink = new Sink();
  if (shape.format === "ndjson") await readLines(file, column.key.split("."), sink, onProgress);
  else await readCells(file, shape.hasHeader, Number(column.key), sink, onProgress);
  if (sink.length === 0) throw new Error(`Column “${column.name}” holds no numbers. Choose another one.`);
  return { values: sink.values(), skipped: sink.skipped, cut: sink.full };
}

/** A number as files write it: "12", " 3.5 ", "1e3". Everything else is no number. */
export function cellNumber(cell: unknown): number | undefined {
  if (typeof cell === "number") return Number.isFinite(cell) ? cell : undefined;
  if (typeof cell !== "string" || cell.trim() === "") return undefined;
  const value = Number(cell);
  return Number.isFinite(value) ? value : undefined;
}

/** Values in an array that doubles. */
class Sink {
  #values = new Float64Array(2 ** 12);
  length = 0;
  skipped = 0;
  full = false;

  add(cell: unknown): void {
    const value = cellNumber(cell);
    if (value === undefined) this.skipped++;
    else if (this.length === MOST_VALUES) this.full = true;
    else {
      if (this.length === this.#values.length) {
        const larger = new Float64Array(2 * this.length);
        larger.set(this.#values);
        this.#values = larger;
      }
      this.#values[this.length++] = value;
    }
  }

  values(): Float64Array {
    return this.#values.slice(0, this.length);
  }
}

function csvShape(text: string): FileShape {
  const { data } = Papa.parse<string[]>(text, { skipEmptyLines: "greedy", preview: 100 });
  const [first = [], ...rest] = data;
  const hasHeader = first.every((cell) => cellNumber(cell) === undefined);
  const rows = hasHeader ? rest : data;
  const columns = first.map((cell, i) => ({
    key: String(i),
    name: (hasHeader && cell.trim()) || (first.length === 1 ? "value" : `column ${i + 1}`),
    numeric: mostlyNumbers(rows.map((row) => row[i])),
  }));
  return { format: "csv", hasHeader, columns };
}

function ndjsonShape(text: string): FileShape {
  const rows = text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(0, 100)
    .map(parseLine);
  const paths = new Set(rows.flatMap((row) => pathsOf(row)));
  const columns = [...paths].map((path) => ({
    key: path,
    name: path,
    numeric: mostlyNumbers(rows.map((row) => at(row, path.split(".")))),
  }));
  return { format: "ndjson", hasHeader: false, columns };
}

const mostlyNumbers = (cells: readonly unknown[]): boolean =>
  2 * cells.filter((cell) => cellNumber(cell) !== undefined).length > cells.length;

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // counted as a row without a number
  }
}

/** Dotted paths of everything in an object that is not an object itself. */
function pathsOf(row: unknown, prefix = ""): string[] {
  if (typeof row !== "object" || row === null) return prefix === "" ? [] : [prefix];
  return Object.entries(row).flatMap(([key, inner]) =>
    pathsOf(inner, prefix === "" ? key : `${prefix}.${key}`),
  );
}

function at(row: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>)[key] : undefined,
    row,
  );
}

async function readLines(
  file: Blob,
  path: readonly string[],
  sink: Sink,
  onProgress: (share: number) => void,
): Promise<void> {
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let read = 0;
  const take = (line: string) => line.trim() !== "" && sink.add(at(parseLine(line), path));
  for (let chunk = await reader.read(); !chunk.done && !sink.full; chunk = await reader.read()) {
    const lines = (rest + chunk.value).split("\n");
    rest = lines.pop()!;
    lines.forEach(take);
    read += chunk.value.length;
    onProgress(Math.min(1, read / file.size));
  }
  take(rest);
}

function readCells(
  file: Blob,
  hasHeader: boolean,
  column: number,
  sink: Sink,
  onProgress: (share: number) => void,
): Promise<void> {
  let header = hasHeader;
  return new Promise((resolve, reject) => {
    Papa.parse<string[], File>(file as File, {
      skipEmptyLines: "greedy",
      chunkSize: 2 ** 20,
      chunk({ data, meta }, parser) {
        for (const row of data) {
          if (header) header = false;
          else sink.add(row[column]);
        }
        onProgress(Math.min(1, meta.cursor / file.size));
        if (sink.full) parser.abort();
      },
      complete: () => resolve(),
      error: (error: Error) => reject(new Error(`The file could not be read: ${error.message}`)),
    });
  });
}
