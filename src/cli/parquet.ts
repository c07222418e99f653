/**
 * Parquet files as lines of JSON, one row group after the other, so that everything that reads NDJSON reads them too. The
 * package hyparquet does the work; what a file says about its own sizes is checked before memory is taken for it.
 */
import { type FileHandle, open } from "node:fs/promises";
import zlib from "node:zlib";
import { DataError, UsageError } from "./command.js";
import { checkPages } from "./parquetPages.js";

/** "PAR1", at both ends of a file. */
const MAGIC = 0x31524150;
/** Bytes of a footer: that of a file with 100 columns and 100 row groups has less than 2 MB. */
const MOST_FOOTER = 2 ** 23;
/** Rows of a row group, and bytes of the columns of it that are read, as they are and unpacked. */
const MOST_ROWS = 2 ** 22;
const MOST_BYTES = 2 ** 29;
/** Characters of a text: many rows may share one that stands in the file once. */
const LONGEST_TEXT = 2 ** 14;
/** Rows that are made at a time. */
const ROWS = 2 ** 14;

interface ColumnChunk {
  readonly path_in_schema: readonly string[];
  readonly codec: string;
  readonly total_compressed_size: bigint;
  readonly total_uncompressed_size: bigint;
  readonly data_page_offset: bigint;
  readonly dictionary_page_offset?: bigint;
}
interface SchemaElement {
  readonly name: string;
  readonly repetition_type?: string;
  readonly num_children?: number;
}
interface Metadata {
  readonly schema: readonly SchemaElement[];
  readonly row_groups: readonly {
    readonly num_rows: bigint;
    readonly columns: readonly { readonly meta_data?: ColumnChunk }[];
  }[];
}
interface File {
  readonly byteLength: number;
  slice(start: number, end?: number): Promise<ArrayBuffer>;
}
type Unpack = (input: Uint8Array, length: number) => Uint8Array;
/** As much of hyparquet as is used. */
interface Hyparquet {
  snappyUncompress(input: Uint8Array, output: Uint8Array): void;
  parquetMetadata(footer: ArrayBuffer, options: { geoparquet: boolean }): Metadata;
  parquetReadObjects(options: {
    readonly file: File;
    readonly metadata: Metadata;
    readonly columns: readonly string[];
    readonly rowStart: number;
    readonly rowEnd: number;
    readonly compressors: Readonly<Record<string, Unpack>>;
  }): Promise<Record<string, unknown>[]>;
}

const PACKAGE = "hyparquet"; // a name, not an import: it may be missing

async function load(): Promise<Hyparquet> {
  try {
    return (await import(PACKAGE)) as Hyparquet;
  } catch (cause) {
    if ((cause as { code?: string }).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new UsageError(
      "expected the package hyparquet, which reads Parquet, got none; run: npm install hyparquet",
      { cause },
    );
  }
}

/** Whether a file begins like Parquet. */
export async function isParquet(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return bytesRead === 4 && buffer.readUInt32LE() === MAGIC;
  } finally {
    await file.close();
  }
}

/** Names of the columns at the top of a file. */
export async function parquetColumns(path: string): Promise<readonly string[]> {
  const library = await load();
  const handle = await open(path);
  try {
    return columnsOf(await footerOf(library, await fileOf(handle), path), undefined);
  } finally {
    await handle.close();
  }
}

/**
 * Rows as lines of JSON.
 * @param wanted the columns that are read ("a.b" is b inside a); undefined for all
 * @param onRead told how many bytes of the file have been used
 */
export async function* parquetLines(
  path: string,
  wanted: readonly string[] | undefined,
  onRead: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const library = await load();
  const handle = await open(path);
  try {
    const file = await fileOf(handle);
    const metadata = await footerOf(library, file, path);
    const columns = columnsOf(metadata, wanted);
    let start = 0;
    for (const [index, { num_rows }] of metadata.row_groups.entries()) {
      const rows = Number(num_rows);
      onRead(await checkGroup(library, file, metadata, index, columns, path));
      for (let row = 0; row < rows; row += ROWS) {
        const [rowStart, rowEnd] = [start + row, start + Math.min(rows, row + ROWS)];
        const options = { file, metadata, columns, rowStart, rowEnd, compressors: COMPRESSORS };
        const made = await library.parquetReadObjects(options).catch((cause: unknown) => {
          throw damaged(path, cause);
        });
        if (made.length !== rowEnd - rowStart) throw damaged(path);
        yield Buffer.from(made.map((one) => `${JSON.stringify(one, plain)}\n`).join(""));
      }
      start += rows;
    }
  } finally {
    await handle.close();
  }
}

async function fileOf(handle: FileHandle): Promise<File> {
  const { size } = await handle.stat();
  return {
    byteLength: size,
    async slice(start, end = size) {
      if (!(start >= 0 && start <= end && end <= size && end - start <= MOST_BYTES))
        throw new RangeError("parquet: a range outside of the file");
      const bytes = new Uint8Array(end - start);
      for (let at = 0; at < bytes.length;) {
        const { bytesRead } = await handle.read(bytes, at, bytes.length - at, start + at);
        if (bytesRead === 0) throw new RangeError("parquet: the file has become shorter");
        at += bytesRead;
      }
      return bytes.buffer;
    },
  };
}

/** The messages of the library may quote what is in the file: none of them is shown. */
const damaged = (path: string, cause?: unknown): Error =>
  cause instanceof DataError || cause instanceof UsageError
    ? cause
    : new DataError(`${path}: damaged Parquet, or a kind that is not read`, { cause });

async function footerOf(library: Hyparquet, file: File, path: string): Promise<Metadata> {
  const { byteLength: size } = file;
  if (size < 12) throw damaged(path);
  const end = new DataView(await file.slice(size - 8));
  const length = end.getUint32(0, true);
  if (end.getUint32(4, true) !== MAGIC || length > size - 12) throw damaged(path);
  if (length > MOST_FOOTER)
    throw new DataError(
      `${path}: expected a footer of at most ${MOST_FOOTER} bytes, got ${length}; write the file with fewer row groups`,
    );
  try {
    return library.parquetMetadata(await file.slice(size - 8 - length), { geoparquet: false });
  } catch (cause) {
    throw damaged(path, cause);
  }
}

/** Names of the columns at the top, or those of them that hold what is wanted. */
function columnsOf({ schema }: Metadata, wanted: readonly string[] | undefined): string[] {
  const names = childrenOf(schema, 0).map((place) => schema[place]!.name);
  if (wanted === undefined) return names;
  const found = wanted.map((column) => {
    const name = names.find((top) => top === column) ?? column.split(".")[0]!;
    if (!names.includes(name))
      throw new UsageError(
        `columns: expected columns of the file (${names.slice(0, 40).join(", ")}), got "${column}"`,
      );
    return name;
  });
  return [...new Set(found)];
}

/** The places of the children of an element; the schema is a tree, written depth first. */
function childrenOf(schema: readonly SchemaElement[], parent: number): number[] {
  const places: number[] = [];
  let at = parent + 1;
  for (let left = schema[parent]?.num_children ?? 0; left > 0 && at < schema.length; left--) {
    places.push(at);
    for (let open = 1; open > 0 && at < schema.length; at++) open += (schema[at]!.num_children ?? 0) - 1;
  }
  return places;
}

/** Checks the sizes of what is read of a row group. Gives the bytes of the file up to its end. */
async function checkGroup(
  library: Hyparquet,
  file: File,
  { row_groups, schema }: Metadata,
  index: number,
  columns: readonly string[],
  path: string,
): Promise<number> {
  const { num_rows, columns: chunks } = row_groups[index]!;
  const rows = Number(num_rows);
  if (!(rows >= 0 && rows <= MOST_ROWS))
    throw new DataError(
      `${path}: expected row groups of at most ${MOST_ROWS} rows, got ${rows}; write it with smaller ones (pandas: row_group_size=1_000_000)`,
    );
  let [bytes, last] = [0, 0];
  for (const { meta_data: chunk } of chunks) {
    if (chunk === undefined) throw damaged(path);
    if (!columns.includes(chunk.path_in_schema[0]!)) continue;
    const levels = levelsOf(schema, chunk.path_in_schema);
    if (levels === undefined)
      throw new DataError(
        `${path}: expected plain columns, got a list in "${chunk.path_in_schema.join(".")}"; name others`,
      );
    const start = Number(chunk.dictionary_page_offset || chunk.data_page_offset);
    const packed = Number(chunk.total_compressed_size);
    bytes += Math.max(packed, Number(chunk.total_uncompressed_size));
    if (!(packed >= 0 && bytes <= MOST_BYTES))
      throw new DataError(
        `${path}: expected row groups of at most ${MOST_BYTES / 2 ** 20} MB in the columns that are read; write it with smaller ones (pandas: row_group_size=100_000)`,
      );
    try {
      const unpack = unpackerOf(library, chunk.codec);
      const pages = new Uint8Array(await file.slice(start, start + packed));
      checkPages(pages, { rows, levels, unpack, most: MOST_BYTES });
    } catch (cause) {
      throw damaged(path, cause);
    }
    last = Math.max(last, start + packed);
  }
  return last;
}

/** The highest definition level of a column; undefined if it may have several values in a row. */
function levelsOf(schema: readonly SchemaElement[], path: readonly string[]): number | undefined {
  let [at, levels]: [number | undefined, number] = [0, 0];
  for (const name of path) {
    at = childrenOf(schema, at).find((place) => schema[place]!.name === name);
    if (at === undefined || schema[at]!.repetition_type === "REPEATED") return undefined;
    if (schema[at]!.repetition_type === "OPTIONAL") levels++;
  }
  return levels;
}

function unpackerOf(library: Hyparquet, codec: string): Unpack {
  if (codec === "UNCOMPRESSED") return (bytes) => bytes;
  if (codec === "SNAPPY")
    return (bytes, length) => {
      const page = new Uint8Array(length);
      library.snappyUncompress(bytes, page);
      return page;
    };
  const unpack = COMPRESSORS[codec];
  if (unpack === undefined)
    throw new UsageError(
      `expected Parquet in snappy, gzip, brotli, zstd (from Node 22.15 on) or not compressed, got ${codec.toLowerCase()}; write it with snappy`,
    );
  return unpack;
}

/** Turns values that JSON has no form for into text. A whole number that a double cannot hold stays text: two people must not become one. */
function plain(_: string, value: unknown): unknown {
  if (typeof value === "string" && value.length > LONGEST_TEXT)
    throw new DataError(`expected texts of at most ${LONGEST_TEXT} characters in the columns that are read`);
  if (typeof value !== "bigint") return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

const unpackWith =
  (unpack: (input: Uint8Array, options: { maxOutputLength: number }) => Uint8Array): Unpack =>
  (input, length) =>
    unpack(input, { maxOutputLength: Math.max(1, length) });

/** Codecs that Node has; Snappy is part of the package. Zstandard came with Node 22.15. */
const COMPRESSORS: Readonly<Record<string, Unpack>> = {
  GZIP: unpackWith(zlib.gunzipSync),
  BROTLI: unpackWith(zlib.brotliDecompressSync),
  ...("zstdDecompressSync" in zlib
    ? { ZSTD: unpackWith(zlib.zstdDecompressSync as typeof zlib.gunzipSync) }
    : {}),
};
