/** Reads one column of a visitor's file, and the times beside it. Runs in a Worker. */
import Papa from "papaparse";
import { cellNumber, cellTime, type DecimalMark } from "./cells.js";
import { at, type Column, type FileShape, jsonArray, parseLine, textStream } from "./shape.js";

export interface Read {
  readonly values: Float64Array;
  /** Rows left out because this column holds no number there. */
  readonly skipped: number;
  /** Values below 0, which count as 0. */
  readonly negative: number;
  /** Whether the file has more values than the page takes. */
  readonly cut: boolean;
  readonly largest: number;
  /** Of the first row, in milliseconds since 1970, and seconds between rows on average; none without a time column. */
  readonly start?: number;
  readonly pace?: number;
}

/** Values taken from one file: 64 MB of them. */
export const MOST_VALUES = 2 ** 23;

export async function readColumn(
  file: Blob,
  shape: FileShape,
  column: Column,
  time: Column | undefined,
  onProgress: (share: number) => void,
): Promise<Read> {
  const sink = new Sink(shape.mark);
  const cell = (row: unknown, key: string): unknown =>
    shape.format === "csv" ? (row as string[])[Number(key)] : at(row, key);
  const take = (row: unknown) => sink.add(cell(row, column.key), time && cell(row, time.key));
  if (shape.format === "json") for (const row of await jsonArray(file, shape.zipped)) take(row);
  else if (shape.format === "ndjson") await readLines(file, shape.zipped, take, sink, onProgress);
  else await readCells(file, shape, take, sink, onProgress);
  if (sink.length === 0) throw new Error(`Column “${column.name}” holds no numbers. Choose another one.`);
  return sink.read();
}

/** Values in an array that doubles. */
class Sink {
  readonly #mark: DecimalMark;
  #values = new Float64Array(2 ** 12);
  #skipped = 0;
  #negative = 0;
  #first: number | undefined;
  #last: number | undefined;
  length = 0;
  full = false;

  constructor(mark: DecimalMark) {
    this.#mark = mark;
  }

  add(cell: unknown, time: unknown): void {
    const value = cellNumber(cell, this.#mark);
    if (value === undefined) this.#skipped++;
    else if (this.length === MOST_VALUES) this.full = true;
    else {
      if (this.length === this.#values.length) {
        const larger = new Float64Array(2 * this.length);
        larger.set(this.#values);
        this.#values = larger;
      }
      if (value < 0) this.#negative++;
      this.#values[this.length++] = value;
      if (time !== undefined) this.#last = cellTime(time) ?? this.#last;
      this.#first ??= this.#last;
    }
  }

  read(): Read {
    const values = this.#values.slice(0, this.length);
    const [first, last] = [this.#first, this.#last];
    const timed = first !== undefined && last !== undefined && last > first && this.length > 1;
    return {
      values,
      skipped: this.#skipped,
      negative: this.#negative,
      cut: this.full,
      largest: values.reduce((a, b) => Math.max(a, b), 0),
      ...(timed ? { start: first, pace: (last - first) / 1000 / (this.length - 1) } : {}),
    };
  }
}

async function readLines(
  file: Blob,
  zipped: boolean,
  take: (row: unknown) => void,
  sink: Sink,
  onProgress: (share: number) => void,
): Promise<void> {
  const reader = textStream(file, zipped).getReader();
  let rest = "";
  let read = 0;
  const takeLine = (line: string) => line.trim() !== "" && take(parseLine(line));
  for (let chunk = await reader.read(); !chunk.done && !sink.full; chunk = await reader.read()) {
    const lines = (rest + chunk.value).split("\n");
    rest = lines.pop()!;
    lines.forEach(takeLine);
    read += chunk.value.length;
    onProgress(Math.min(1, read / file.size / (zipped ? 8 : 1)));
  }
  takeLine(rest);
}

/** Pieces that end with a line; Papa parses one after the other. A quoted line break at a seam would split a row. */
async function readCells(
  file: Blob,
  { hasHeader, delimiter, zipped }: FileShape,
  take: (row: unknown) => void,
  sink: Sink,
  onProgress: (share: number) => void,
): Promise<void> {
  let header = hasHeader;
  const reader = textStream(file, zipped).getReader();
  let rest = "";
  let read = 0;
  const parse = (text: string) => {
    for (const row of Papa.parse<string[]>(text, { delimiter, skipEmptyLines: "greedy" }).data)
      if (header) header = false;
      else take(row);
  };
  for (let chunk = await reader.read(); !chunk.done && !sink.full; chunk = await reader.read()) {
    rest += chunk.value;
    read += chunk.value.length;
    if (rest.length < 2 ** 20) continue;
    const end = rest.lastIndexOf("\n") + 1;
    parse(rest.slice(0, end));
    rest = rest.slice(end);
    onProgress(Math.min(1, read / file.size / (zipped ? 8 : 1)));
  }
  parse(rest);
}
