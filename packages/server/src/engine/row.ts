/**
 * A row of the journal: everything that was received between two commits, in bytes. Every event takes the same number of
 * bytes, whether or not it counts, and rows are padded to a power of two: lengths tell the order of magnitude of the load.
 *
 *     row    = time (8) · time that ticks are closed at (8) · number of request keys (4) · number of records (4) · request keys (16 each) · records (40 each)
 *     record = stream (4) · metric (2) · kind (1) · 0 · value (8) · time (8) · keyed hash of the person (16)
 */

/** What happened to an event. A report belongs to the local model. */
export const Kind = { dropped: 0, taken: 1, report: 2 } as const;

/** Stands for a key that the config does not list. */
export const NO_STREAM = 0xffffffff;

const HEAD = 24;
const KEY = 16;
const RECORD = 40;
const SMALLEST = 4096;

export class RowWriter {
  readonly #bytes: Buffer;
  #at: number;

  /**
   * @param closed ticks that are due at this time are closed
   * @param keys keyed hashes of idempotency keys, 16 bytes each
   */
  constructor(time: number, closed: number, keys: readonly Uint8Array[], records: number) {
    const used = HEAD + KEY * keys.length + RECORD * records;
    let size = SMALLEST;
    while (size < used) size *= 2;
    this.#bytes = Buffer.alloc(size);
    this.#bytes.writeDoubleLE(time, 0);
    this.#bytes.writeDoubleLE(closed, 8);
    this.#bytes.writeUInt32LE(keys.length, 16);
    this.#bytes.writeUInt32LE(records, 20);
    keys.forEach((key, i) => this.#bytes.set(key, HEAD + KEY * i));
    this.#at = HEAD + KEY * keys.length;
  }

  add(
    stream: number,
    metric: number,
    kind: number,
    value: number,
    at: number,
    hash: Uint32Array | undefined,
  ): void {
    const [bytes, start] = [this.#bytes, this.#at];
    bytes.writeUInt32LE(stream, start);
    bytes.writeUInt16LE(metric, start + 4);
    bytes[start + 6] = kind;
    bytes.writeDoubleLE(value, start + 8);
    bytes.writeDoubleLE(at, start + 16);
    if (hash !== undefined) for (let i = 0; i < 4; i++) bytes.writeUInt32LE(hash[i]!, start + 24 + 4 * i);
    this.#at += RECORD;
  }

  /** @param packed 8 bytes, which stand where the hash of an event stands */
  addReport(metric: number, packed: Uint8Array): void {
    this.#bytes.set(packed, this.#at + 24);
    this.add(NO_STREAM, metric, Kind.report, 0, 0, undefined);
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }
}

/** One record, valid until the next one is read. */
export interface RowRecord {
  stream: number;
  metric: number;
  kind: number;
  value: number;
  at: number;
  readonly hash: Uint32Array;
}

export interface Row {
  readonly time: number;
  readonly closed: number;
  readonly keys: readonly Uint8Array[];
  forEach(take: (record: RowRecord) => void): void;
}

export function readRow(plain: Uint8Array): Row {
  const bytes = Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength);
  const [keyCount, records] = [bytes.readUInt32LE(16), bytes.readUInt32LE(20)];
  const first = HEAD + KEY * keyCount;
  return {
    time: bytes.readDoubleLE(0),
    closed: bytes.readDoubleLE(8),
    keys: Array.from({ length: keyCount }, (_, i) => bytes.subarray(HEAD + KEY * i, HEAD + KEY * (i + 1))),
    forEach(take) {
      const record: RowRecord = { stream: 0, metric: 0, kind: 0, value: 0, at: 0, hash: new Uint32Array(4) };
      for (let i = 0; i < records; i++) {
        const start = first + RECORD * i;
        record.stream = bytes.readUInt32LE(start);
        record.metric = bytes.readUInt16LE(start + 4);
        record.kind = bytes[start + 6]!;
        record.value = bytes.readDoubleLE(start + 8);
        record.at = bytes.readDoubleLE(start + 16);
        for (let w = 0; w < 4; w++) record.hash[w] = bytes.readUInt32LE(start + 24 + 4 * w);
        take(record);
      }
    },
  };
}
