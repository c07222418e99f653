/** Record batches of Kafka's log (message format 2), to bytes and back. */
import { compressionsAlgorithms, crc32c } from "@platformatic/kafka";

import type { LogBatch, LogRecord, NewRecord } from "../port.js";

/** Bytes before the first record: offsets, checksum, attributes, producer, count. */
const HEADER = 61;
const [TRANSACTIONAL, CONTROL, COMPRESSION] = [1 << 4, 1 << 5, 0b111];
/** Byte at which the checksum begins to count. */
const CHECKED_FROM = 21;

export interface Producer {
  readonly id: bigint;
  readonly epoch: number;
  readonly transactional: boolean;
}

/** At most this many bytes go into a batch: brokers take one megabyte by default, headers included. */
const BATCH_LIMIT = 900_000;

/** Cuts records into runs that fit into a batch each. A record larger than the limit is a run of its own. */
export function runsOf(records: readonly NewRecord[]): NewRecord[][] {
  const runs: NewRecord[][] = [];
  let bytes = Infinity;
  for (const record of records) {
    const size = sizeBound(record);
    if (bytes + size > BATCH_LIMIT) {
      runs.push([]);
      bytes = HEADER;
    }
    runs[runs.length - 1]!.push(record);
    bytes += size;
  }
  return runs;
}

/** @param sequence number of this producer's records before these in the partition */
export function encodeBatch(records: readonly NewRecord[], producer: Producer, sequence: number): Buffer {
  const now = Date.now();
  const first = records[0]!.timestamp ?? now;
  const out = Buffer.allocUnsafe(records.reduce((sum, record) => sum + sizeBound(record), HEADER));
  let at = HEADER;
  let latest = first;
  records.forEach((record, index) => {
    const time = record.timestamp ?? now;
    if (time > latest) latest = time;
    at = writeRecord(out, at, record, index, time - first);
  });
  out.writeBigInt64BE(0n, 0);
  out.writeInt32BE(at - 12, 8);
  out.writeInt32BE(-1, 12); // leader epoch: the broker fills it in
  out.writeInt8(2, 16);
  out.writeInt16BE(producer.transactional ? TRANSACTIONAL : 0, 21);
  out.writeInt32BE(records.length - 1, 23);
  out.writeBigInt64BE(BigInt(first), 27);
  out.writeBigInt64BE(BigInt(latest), 35);
  out.writeBigInt64BE(producer.id, 43);
  out.writeInt16BE(producer.epoch, 51);
  out.writeInt32BE(sequence, 53);
  out.writeInt32BE(records.length, 57);
  const batch = out.subarray(0, at);
  out.writeUInt32BE(crc32c(batch.subarray(CHECKED_FROM)), 17);
  return batch;
}

/** Whole batches at the front of `bytes`; a batch that was cut off at the end is left out. */
export function decodeBatches(bytes: Buffer): LogBatch[] {
  const batches: LogBatch[] = [];
  for (let at = 0; at + HEADER <= bytes.length;) {
    const end = at + 12 + bytes.readInt32BE(at + 8);
    if (end > bytes.length) break;
    batches.push(decodeBatch(bytes.subarray(at, end)));
    at = end;
  }
  return batches;
}

function decodeBatch(bytes: Buffer): LogBatch {
  if (bytes.readInt8(16) !== 2)
    throw new Error(`log: expected message format 2, got ${bytes.readInt8(16)}; this broker is too old`);
  const attributes = bytes.readInt16BE(21);
  const firstOffset = Number(bytes.readBigInt64BE(0));
  const records = decodeRecords(bytes, attributes, firstOffset);
  const isControl = (attributes & CONTROL) !== 0;
  return {
    firstOffset,
    lastOffset: firstOffset + bytes.readInt32BE(23),
    producerId: bytes.readBigInt64BE(43),
    transactional: (attributes & TRANSACTIONAL) !== 0,
    control: isControl ? (records[0]?.key?.readInt16BE(2) === 1 ? "commit" : "abort") : undefined,
    records: isControl ? [] : records,
  };
}

function decodeRecords(bytes: Buffer, attributes: number, firstOffset: number): LogRecord[] {
  const count = bytes.readInt32BE(57);
  const firstTime = Number(bytes.readBigInt64BE(27));
  const reader = new VarReader(decompress(attributes & COMPRESSION, bytes.subarray(HEADER)));
  const records = new Array<LogRecord>(count);
  for (let i = 0; i < count; i++) {
    const length = reader.int();
    const end = reader.at + length;
    reader.at++; // attributes, unused
    const timestamp = firstTime + reader.long();
    const offset = firstOffset + reader.int();
    const [key, value] = [reader.bytes(), reader.bytes()];
    const headers: [string, Buffer][] = [];
    for (let left = reader.int(); left > 0; left--)
      headers.push([reader.bytes()!.toString(), reader.bytes() ?? Buffer.alloc(0)]);
    records[i] = { offset, timestamp, key, value, headers };
    reader.at = end;
  }
  return records;
}

function decompress(kind: number, bytes: Buffer): Buffer {
  if (kind === 0) return bytes;
  const algorithm = Object.values(compressionsAlgorithms).find(({ bitmask }) => bitmask === kind);
  if (algorithm === undefined) throw new Error(`log: expected a known compression, got number ${kind}`);
  return algorithm.decompressSync(bytes);
}

function writeRecord(out: Buffer, at: number, record: NewRecord, index: number, timeDelta: number): number {
  const headers = record.headers ?? [];
  const start = at + 5; // the length is written last, with all five bytes it may need
  let to = start;
  out[to++] = 0;
  to = writeLong(out, to, timeDelta);
  to = writeInt(out, to, index);
  to = writeBytes(out, to, record.key);
  to = writeBytes(out, to, record.value);
  to = writeInt(out, to, headers.length);
  for (const [name, value] of headers) to = writeBytes(out, writeBytes(out, to, Buffer.from(name)), value);
  const after = writeInt(out, at, to - start);
  return after + out.copy(out, after, start, to);
}

function sizeBound({ key, value, headers }: NewRecord): number {
  let size = 40 + (key?.length ?? 0) + (value?.length ?? 0);
  for (const [name, bytes] of headers ?? []) size += 10 + 4 * name.length + bytes.length;
  return size;
}

function writeBytes(out: Buffer, at: number, bytes: Buffer | null): number {
  if (bytes === null) return writeInt(out, at, -1);
  at = writeInt(out, at, bytes.length);
  out.set(bytes, at);
  return at + bytes.length;
}

/** Zigzag, seven bits a byte. */
function writeInt(out: Buffer, at: number, value: number): number {
  let rest = ((value << 1) ^ (value >> 31)) >>> 0;
  for (; rest > 127; rest >>>= 7) out[at++] = (rest & 127) | 128;
  out[at++] = rest;
  return at;
}

function writeLong(out: Buffer, at: number, value: number): number {
  if (value >= -(2 ** 30) && value < 2 ** 30) return writeInt(out, at, value);
  let rest = BigInt.asUintN(64, (BigInt(value) << 1n) ^ (BigInt(value) >> 63n));
  for (; rest > 127n; rest >>= 7n) out[at++] = Number(rest & 127n) | 128;
  out[at++] = Number(rest);
  return at;
}

class VarReader {
  at = 0;

  constructor(readonly buffer: Buffer) {}

  int(): number {
    let [value, shift, byte] = [0, 0, 128];
    for (; byte >= 128; shift += 7) {
      byte = this.buffer[this.at++]!;
      value |= (byte & 127) << shift;
    }
    return (value >>> 1) ^ -(value & 1);
  }

  long(): number {
    let [value, factor, byte] = [0, 1, 128];
    for (; byte >= 128; factor *= 128) {
      byte = this.buffer[this.at++]!;
      value += (byte & 127) * factor;
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  bytes(): Buffer | null {
    const length = this.int();
    if (length < 0) return null;
    this.at += length;
    return this.buffer.subarray(this.at - length, this.at);
  }
}
