/** Numbers from a file or standard input: plain lines, a column of CSV or NDJSON, sizes of transactions, gzip or not. */
import { createReadStream } from "node:fs";
import { pipeline, Readable, type Transform } from "node:stream";
import { createGunzip } from "node:zlib";
import { CsvError, parse as csvParser } from "csv-parse";
import { DataError, UsageError } from "./command.js";
import { inWords, isSystemError } from "./systemErrors.js";

/** "fimi": a transaction a line, items with blanks between, as in the Frequent Itemset Mining repository; its size is the number. */
const FORMATS = ["plain", "csv", "ndjson", "fimi"] as const;
export type Format = (typeof FORMATS)[number];

export interface Source {
  /** Numbers as they come in, in chunks. */
  readonly chunks: AsyncIterable<Float64Array>;
  /** Bytes read from the file so far: for progress. */
  bytesRead(): number;
  /** Reads no further. */
  close(): void;
}

/** By name unless said: .csv, .ndjson or .jsonl, .dat for fimi, else plain; .gz in front of nothing changes that. */
export function formatOf(path: string, asked: string | undefined): Format {
  if (asked !== undefined) {
    const found = FORMATS.find((format) => format === asked);
    if (found === undefined)
      throw new UsageError(`--format: expected plain, csv, ndjson or fimi, got "${asked}"`);
    return found;
  }
  const name = path.replace(/\.gz$/i, "");
  if (/\.csv$/i.test(name)) return "csv";
  if (/\.dat$/i.test(name)) return "fimi";
  return /\.(ndjson|jsonl)$/i.test(name) ? "ndjson" : "plain";
}

/** @param path a file, or "-" for standard input */
export function openNumbers(path: string, format: Format, column: string | undefined): Source {
  if (format === "ndjson" && column === undefined)
    throw new UsageError("--column: missing; expected the name of a field, because the format is ndjson");
  let bytes = 0;
  const raw: Readable = path === "-" ? process.stdin : createReadStream(path);
  raw.on("data", (chunk: Buffer) => (bytes += chunk.length));
  raw.pause();
  const text = () => unzipped(raw, path);
  return {
    chunks:
      format === "csv"
        ? csvNumbers(text(), column)
        : lineNumbers(text(), format === "plain" ? plain : format === "fimi" ? basket : fieldOf(column!)),
    bytesRead: () => bytes,
    close: () => raw.destroy(),
  };
}

/** All numbers of a file. */
export async function readNumbers(
  path: string,
  format: Format,
  column: string | undefined,
): Promise<Float64Array> {
  const chunks: Float64Array[] = [];
  for await (const chunk of openNumbers(path, format, column).chunks) chunks.push(chunk);
  const all = new Float64Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

/** The stream itself, or its contents if it begins like gzip (RFC 1952: 1f 8b). */
async function* unzipped(raw: Readable, path: string): AsyncGenerator<Buffer> {
  try {
    const source = raw[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    const first = await source.next();
    if (first.done === true) return;
    const rest = (async function* () {
      yield first.value;
      for (let next = await source.next(); next.done !== true; next = await source.next()) yield next.value;
    })();
    if (first.value[0] === 0x1f && first.value[1] === 0x8b) yield* through(rest, createGunzip());
    else yield* rest;
  } catch (reason) {
    const { code } = reason as NodeJS.ErrnoException;
    if (code?.startsWith("Z_")) throw new DataError(`${path}: damaged gzip (${code})`, { cause: reason });
    if (isSystemError(reason)) throw new DataError(`${path}: ${inWords(reason)}`, { cause: reason });
    throw reason;
  }
}

/** A source through a transform; what goes wrong in either is thrown where the result is read. */
function through<T extends Transform>(source: AsyncIterable<Buffer>, transform: T): T {
  pipeline(Readable.from(source), transform, () => undefined);
  return transform;
}

/** Gives a line's number, or a reason without the value. */
type ReadLine = (line: string) => number | string;

const plain: ReadLine = (line) => numberOf(line);

const basket: ReadLine = (line) => {
  const items = line.trim();
  return items === "" ? "expected at least one item" : items.split(/\s+/).length;
};

const fieldOf =
  (column: string): ReadLine =>
  (line) => {
    let record: unknown;
    try {
      record = JSON.parse(line);
    } catch {
      return "expected a JSON object";
    }
    if (typeof record !== "object" || record === null) return "expected a JSON object";
    if (!Object.hasOwn(record, column)) return `there is no field "${column}"`;
    const value = (record as Record<string, unknown>)[column];
    return typeof value === "number" ? value : `field "${column}" is not a number`;
  };

function numberOf(text: string): number | string {
  if (text.trim() === "") return "expected a finite number, got nothing";
  const value = Number(text);
  return Number.isFinite(value) ? value : "expected a finite number";
}

async function* lineNumbers(text: AsyncIterable<Buffer>, read: ReadLine): AsyncGenerator<Float64Array> {
  const decoder = new TextDecoder();
  let rest = "";
  let line = 0;
  const numbers = (lines: string[]): Float64Array =>
    Float64Array.from(lines, (content) => {
      line++;
      const value = read(content);
      if (typeof value === "string") throw new DataError(`line ${line}: ${value}`);
      return value;
    });
  for await (const chunk of text) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    if (lines.length > 0) yield numbers(lines);
  }
  rest += decoder.decode();
  if (rest !== "") yield numbers([rest]);
}

const CSV_CHUNK = 4096;

async function* csvNumbers(
  text: AsyncIterable<Buffer>,
  column: string | undefined,
): AsyncGenerator<Float64Array> {
  const parser = through(text, csvParser({ info: true, bom: true, skip_empty_lines: true }));
  let index: number | undefined;
  let chunk: number[] = [];
  try {
    for await (const { record, info } of parser as AsyncIterable<{
      record: string[];
      info: { lines: number };
    }>) {
      if (index === undefined) {
        index = columnOf(record, column);
        if (record.some((cell) => typeof numberOf(cell) === "string")) continue; // a header
      }
      const value = numberOf(record[index]!);
      if (typeof value === "string")
        throw new DataError(`line ${info.lines}: ${value} in column ${index + 1}`);
      chunk.push(value);
      if (chunk.length === CSV_CHUNK) {
        yield Float64Array.from(chunk);
        chunk = [];
      }
    }
  } catch (reason) {
    if (reason instanceof CsvError) throw csvFailure(reason);
    throw reason;
  }
  if (chunk.length > 0) yield Float64Array.from(chunk);
}

/** What is wrong with a table, by the parser's code. The parser's own messages quote cells, which are private. */
const CSV_FAULTS: Readonly<Partial<Record<CsvError["code"], string>>> = {
  INVALID_OPENING_QUOTE: "a quote inside a field that does not begin with one",
  CSV_INVALID_CLOSING_QUOTE: "text after the closing quote of a field",
  CSV_QUOTE_NOT_CLOSED: "a quote that is never closed",
  CSV_RECORD_INCONSISTENT_FIELDS_LENGTH: "a row with more or fewer fields than the first row",
};

/** Without `cause`: the parser's error carries the field it failed on. */
function csvFailure({ code, lines, column }: CsvError): DataError {
  const where = `line ${String(lines)}, column ${Number(column) + 1}`;
  return new DataError(`${where}: expected valid CSV, got ${CSV_FAULTS[code] ?? "something else"}`);
}

/** A column by its name in the header or by its number from 1; the only one if none is named. */
function columnOf(first: readonly string[], column: string | undefined): number {
  if (column === undefined) {
    if (first.length === 1) return 0;
    throw new UsageError(
      `--column: missing; expected a name in the header or a number from 1 to ${first.length}`,
    );
  }
  const named = first.findIndex((cell) => cell.trim() === column);
  if (named >= 0) return named;
  const number = Number(column);
  if (Number.isInteger(number) && number >= 1 && number <= first.length) return number - 1;
  throw new UsageError(
    `--column: expected a name in the header or a number from 1 to ${first.length}, got "${column}"`,
  );
}
