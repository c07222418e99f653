/**
 * Walks the headers of the pages of a Parquet column and checks what they say about themselves: a header of 20 bytes may ask
 * for gigabytes. Headers are structs of Thrift's compact protocol.
 */

/** Fields of a header: numbers and structs; lists and texts are passed over. */
interface Fields {
  [field: number]: number | Fields;
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
const MOST_DEPTH = 8;

/** @param rows of the row group; a column without lists has as many values. @param most bytes of a page */
export function checkPages(chunk: Uint8Array, rows: number, most: number): void {
  const reader = new Reader(chunk);
  let values = 0;
  let unpacked = 0;
  while (reader.left > 0 && values < rows) {
    const header = reader.struct(0);
    const [size, packed] = [header[2], header[3]];
    const page = (header[5] ?? header[8] ?? header[7]) as Fields | undefined;
    const count = page?.[1];
    if (typeof size !== "number" || typeof packed !== "number" || typeof count !== "number") throw wrong();
    unpacked += size;
    if (size < 0 || packed < 0 || packed > reader.left || unpacked > most) throw wrong();
    if (count < 0 || count > Math.max(rows, 8 * size)) throw wrong();
    if (header[7] === undefined) values += count;
    if (values > rows) throw wrong();
    reader.skip(packed);
  }
  if (values !== rows) throw wrong();
}

const wrong = (): RangeError => new RangeError("parquet: pages that do not fit their row group");

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  skip(bytes: number): void {
    if (!(bytes >= 0 && bytes <= this.left)) throw wrong();
    this.#at += bytes;
  }

  #byte(): number {
    if (this.left === 0) throw wrong();
    return this.#bytes[this.#at++]!;
  }

  #varint(): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** 63; scale *= 128) {
      const byte = this.#byte();
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
    throw wrong();
  }

  #signed(): number {
    const folded = this.#varint();
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

  #value(type: number, depth: number): number | Fields | undefined {
    if (type === Type.true || type === Type.false) return undefined;
    if (type === Type.struct) return this.struct(depth + 1);
    if (type === Type.i16 || type === Type.i32 || type === Type.i64) return this.#signed();
    if (type === Type.byte) this.skip(1);
    else if (type === Type.double) this.skip(8);
    else if (type === Type.binary) this.skip(this.#varint());
    else if (type === Type.list) this.#skipList(depth);
    else throw wrong();
    return undefined;
  }

  #skipList(depth: number): void {
    const byte = this.#byte();
    const type = byte % 16;
    const length = byte >> 4 === 15 ? this.#varint() : byte >> 4;
    for (let i = 0; i < length; i++)
      if (type === Type.true || type === Type.false) this.skip(1);
      else this.#value(type, depth + 1);
  }
}
