/** Reads columns of a visitor's file: values with the times beside them, or events with their people. Runs in a Worker. */
import Papa from "papaparse";
import { cellNumber, cellTime, type DecimalMark, hasZone } from "./cells.js";
import { type Log, sortedLog } from "./log.js";
import { at, type Column, type FileShape, jsonArray, parseLine, textStream } from "./shape.js";

export interface Read {
  readonly values: Float64Array;
  /** Rows left out because this column holds no number there. */
  readonly skipped: number;
  /** Values below 0, which are clamped to 0. */
  readonly negative: number;
  /** Whether the file has more values than the page takes. */
  readonly cut: boolean;
  readonly largest: number;
  /** Time of the first row, in milliseconds since 1970, and mean seconds between rows; omitted without a time column. */
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
  await eachRow(file, shape, onProgress, sink, (cell) => sink.add(cell(column.key), time && cell(time.key)));
  if (sink.length === 0) throw new Error(`Column “${column.name}” holds no numbers. Choose another one.`);
  return sink.read();
}

/** Which columns of a file make its events. */
export interface LogColumns {
  readonly time: Column;
  readonly person: Column | undefined;
  /** The number that each event carries; events are only counted without it. */
  readonly value: Column | undefined;
}

export interface ReadLog {
  readonly log: Log;
  /** Rows left out because they have no time, no person or no number. */
  readonly skipped: number;
  /** Values below 0, which are clamped to 0. */
  readonly negative: number;
  readonly cut: boolean;
  readonly largest: number;
  /** How many different people there are. */
  readonly people: number;
  /** Whether the times say which moment they mean. If not, they are taken as those of UTC. */
  readonly zoned: boolean;
}

/** Events taken from one file. */
export const MOST_EVENTS = 2 ** 21;

export async function readLog(
  file: Blob,
  shape: FileShape,
  columns: LogColumns,
  onProgress: (share: number) => void,
): Promise<ReadLog> {
  const sink = new LogSink(shape.mark, columns);
  const { time, person, value } = columns;
  await eachRow(file, shape, onProgress, sink, (cell) =>
    sink.add(cell(time.key), person && cell(person.key), value && cell(value.key)),
  );
  if (sink.length === 0) throw new Error(`Column “${time.name}” holds no times. Choose another one.`);
  return sink.read();
}

/** Events in arrays that double. Ids become numbers in the order in which they come, and are forgotten. */
class LogSink {
  readonly #mark: DecimalMark;
  readonly #columns: LogColumns;
  readonly #numbers = new Map<string, number>();
  #times = new Float64Array(2 ** 12);
  #people = new Uint32Array(2 ** 12);
  #values = new Float64Array(2 ** 12);
  #skipped = 0;
  #negative = 0;
  #zoned = 0;
  length = 0;
  full = false;

  constructor(mark: DecimalMark, columns: LogColumns) {
    this.#mark = mark;
    this.#columns = columns;
  }

  add(when: unknown, who: unknown, amount: unknown): void {
    const { person, value } = this.#columns;
    const time = cellTime(when);
    const number = value === undefined ? 0 : cellNumber(amount, this.#mark);
    const id = typeof who === "string" ? who.trim() : typeof who === "number" ? String(who) : "";
    if (time === undefined || number === undefined || (person !== undefined && id === "")) this.#skipped++;
    else if (this.length === MOST_EVENTS) this.full = true;
    else {
      if (this.length === this.#times.length) this.#grow();
      if (person !== undefined) {
        let known = this.#numbers.get(id);
        if (known === undefined) this.#numbers.set(id, (known = this.#numbers.size));
        this.#people[this.length] = known;
      }
      if (number < 0) this.#negative++;
      if (hasZone(when)) this.#zoned++;
      this.#values[this.length] = Math.max(0, number);
      this.#times[this.length++] = time;
    }
  }

  #grow(): void {
    const doubled = <T extends Float64Array | Uint32Array>(from: T, to: T): T => (to.set(from), to);
    this.#times = doubled(this.#times, new Float64Array(2 * this.length));
    this.#people = doubled(this.#people, new Uint32Array(2 * this.length));
    this.#values = doubled(this.#values, new Float64Array(2 * this.length));
  }

  read(): ReadLog {
    const { person, value } = this.#columns;
    const values = this.#values.slice(0, this.length);
    return {
      log: sortedLog({
        times: this.#times.slice(0, this.length),
        ...(person === undefined ? {} : { people: this.#people.slice(0, this.length) }),
        ...(value === undefined ? {} : { values }),
      }),
      skipped: this.#skipped,
      negative: this.#negative,
      cut: this.full,
      largest: values.reduce((a, b) => Math.max(a, b), 0),
      people: this.#numbers.size,
      zoned: 2 * this.#zoned > this.length,
    };
  }
}

/** Calls back with each row, as a function that gives its cells, until the sink is full. */
async function eachRow(
  file: Blob,
  shape: FileShape,
  onProgress: (share: number) => void,
  sink: { readonly full: boolean },
  hear: (cell: (key: string) => unknown) => void,
): Promise<void> {
  const take = (row: unknown) =>
    hear((key) => (shape.format === "csv" ? (row as string[])[Number(key)] : at(row, key)));
  if (shape.format === "json") for (const row of await jsonArray(file, shape.zipped)) take(row);
  else if (shape.format === "ndjson") await readLines(file, shape.zipped, take, sink, onProgress);
  else await readCells(file, shape, take, sink, onProgress);
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
  sink: { readonly full: boolean },
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
  sink: { readonly full: boolean },
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
