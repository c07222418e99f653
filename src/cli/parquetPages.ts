/**
 * Walks the pages of a Parquet column before anything is made of them: a header of 20 bytes, or a run of 5, may ask for
 * gigabytes. Headers are structs of Thrift's compact protocol; levels and indices are runs (RLE and bit-packed).
 */

/** A column without lists, in one row group. */
export interface ColumnPages {
  /** How many rows the row group has: the column has as many values. */
  readonly rows: number;
  /** The highest definition level: how many of the column and the structs around it may be missing. */
  readonly levels: number;
  /** Unpacks a page to its length. */
  readonly unpack: (bytes: Uint8Array, length: number) => Uint8Array;
  /** Bytes of all pages together, unpacked, at most. */
  readonly most: number;
}

/** Fields of a header: numbers, truth values and structs; lists and texts are passed over. */
interface Fields {
  [field: number]: number | boolean | Fields;
}

const Type = {
  stop: 0,
  true: 1,
  false: 2,
  byte: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  struct: 12,
};
/** Encodings whose values take no more room than their page, or are indices. Not DELTA_BYTE_ARRAY: it repeats what came before. */
const Encoding = { plain: 0, plainDictionary: 2, rle: 3, delta: 5, deltaLength: 6, dictionary: 8, split: 9 };
const MOST_DEPTH = 8;
/** Values that the last run of a page may have too many: it is filled up to a multiple of 8. */
const SLACK = 512;

export function checkPages(chunk: Uint8Array, column: ColumnPages): void {
  const reader = new Reader(chunk);
  const { rows, most } = column;
  let [values, unpacked] = [0, 0];
  while (reader.left > 0 && values < rows) {
    const header = reader.struct(0);
    const [size, packed] = [numberIn(header, 2), numberIn(header, 3)];
    const [first, second, dictionary] = [header[5], header[8], header[7]] as (Fields | undefined)[];
    const count = numberIn(first ?? second ?? dictionary, 1);
    unpacked += size;
    if (unpacked > most || count > Math.max(rows, 8 * size)) throw wrong();
    const bytes = reader.take(packed);
    if (dictionary !== undefined) continue;
    values += count;
    if (values > rows) throw wrong();
    if (first !== undefined) checkFirst(bytes, size, count, first, column);
    else checkSecond(bytes, size, count, second!, column);
  }
  if (values !== rows) throw wrong();
}

/** A page of the first kind: levels with their length, then values, all packed together. */
function checkFirst(
  bytes: Uint8Array,
  size: number,
  count: number,
  header: Fields,
  column: ColumnPages,
): void {
  const reader = new Reader(column.unpack(bytes, size));
  if (column.levels > 0) checkRuns(reader.take(reader.fourBytes()), bitsOf(column.levels), count);
  checkValues(reader, numberIn(header, 2), count);
}

/** A page of the second kind: levels are not packed, and their length is in the header. */
function checkSecond(
  bytes: Uint8Array,
  size: number,
  count: number,
  header: Fields,
  column: ColumnPages,
): void {
  const [definition, repetition] = [numberIn(header, 5), numberIn(header, 6)];
  const reader = new Reader(bytes);
  reader.take(repetition);
  const levels = reader.take(definition);
  if (column.levels > 0) checkRuns(levels, bitsOf(column.levels), count);
  const rest = reader.take(reader.left);
  const isPacked = header[7] !== false;
  const own = isPacked ? column.unpack(rest, Math.max(0, size - definition - repetition)) : rest;
  checkValues(new Reader(own), numberIn(header, 4), count);
}

function checkValues(reader: Reader, encoding: number, count: number): void {
  if (!Object.values(Encoding).includes(encoding)) throw wrong();
  if (encoding === Encoding.rle) {
    checkRuns(reader.take(reader.fourBytes()), 1, count);
  }
  if (encoding !== Encoding.dictionary && encoding !== Encoding.plainDictionary) return;
  if (reader.left === 0) return; // a page of nothing but missing values
  const bits = reader.take(1)[0]!;
  if (bits > 32) throw wrong();
  if (bits > 0) checkRuns(reader.take(reader.left), bits, count);
}

/** Runs of equal numbers, and of packed ones, for so many values: none is longer than what is left. */
function checkRuns(bytes: Uint8Array, bits: number, count: number): void {
  const reader = new Reader(bytes);
  for (let seen = 0; seen < count && reader.left > 0;) {
    const head = reader.varint();
    const length = head % 2 === 0 ? head / 2 : 8 * ((head - 1) / 2);
    if (length > count - seen + SLACK) throw wrong();
    const packed = head % 2 === 0 ? Math.ceil(bits / 8) : (length / 8) * bits;
    reader.take(Math.min(packed, reader.left)); // the last one may break off
    seen += length;
  }
}

const bitsOf = (most: number): number => 32 - Math.clz32(most);

const wrong = (): RangeError => new RangeError("parquet: pages that do not fit their row group");

function numberIn(fields: Fields | undefined, field: number): number {
  const value = fields?.[field];
  if (typeof value !== "number" || value < 0) throw wrong();
  return value;
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  take(bytes: number): Uint8Array {
    if (!(bytes >= 0 && bytes <= this.left)) throw wrong();
    return this.#bytes.subarray(this.#at, (this.#at += bytes));
  }

  fourBytes(): number {
    const [a, b, c, d] = this.take(4) as unknown as [number, number, number, number];
    return a + 256 * (b + 256 * (c + 256 * d));
  }

  #byte(): number {
    return this.take(1)[0]!;
  }

  varint(): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** 63; scale *= 128) {
      const byte = this.#byte();
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
    throw wrong();
  }

  #signed(): number {
    const folded = this.varint();
    return folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
  }

  struct(depth: number): Fields {
    if (depth > MOST_DEPTH) throw wrong();
    const fields: Fields = {};
    for (let field = 0; ;) {
      const byte = this.#byte();
      const type = byte % 16;
      if (type === Type.stop) return fields;
      field = byte >= 16 ? field + (byte >> 4) : this.#signed();
      const value = this.#value(type, depth);
      if (value !== undefined) fields[field] = value;
    }
  }

  #value(type: number, depth: number): number | boolean | Fields | undefined {
    if (type === Type.true || type === Type.false) return type === Type.true;
    if (type === Type.struct) return this.struct(depth + 1);
    if (type === Type.i16 || type === Type.i32 || type === Type.i64) return this.#signed();
    if (type === Type.byte) this.take(1);
    else if (type === Type.double) this.take(8);
    else if (type === Type.binary) this.take(this.varint());
    else if (type === Type.list) this.#skipList(depth);
    else throw wrong();
    return undefined;
  }

  #skipList(depth: number): void {
    const byte = this.#byte();
    const type = byte % 16;
    const length = byte >> 4 === 15 ? this.varint() : byte >> 4;
    for (let i = 0; i < length; i++)
      if (type === Type.true || type === Type.false) this.take(1);
      else this.#value(type, depth + 1);
  }
}
