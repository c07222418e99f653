/**
 * The bytes of a log file (file.ts): appends, one after the other. An append is complete or it does not count.
 *
 *     append = length of the content (8 bytes) · SHA-256 of the content (32 bytes) · content
 *     content = entries: length of the name · name · sequence (8 bytes) · length of the bytes · bytes
 *
 * The first append of a file says how much of each older file counts: entries whose names are file numbers.
 */
import { createHash } from "node:crypto";

export interface Entry {
  readonly name: string;
  /** 0: the stream was removed. */
  readonly sequence: number;
  /** Where its bytes are in the file, and how many. */
  readonly start: number;
  readonly length: number;
}

/** Entries that one write appended to a file. */
export interface Append {
  readonly entries: readonly Entry[];
  /** Where the next append begins. */
  readonly end: number;
}

const HEADER = 40;
const EMPTY = new Uint8Array(0);

export interface LogRecord {
  readonly name: string;
  readonly sequence: number;
  readonly bytes?: Uint8Array;
}

/** @param start where the append will stand in the file */
export function encodeAppend(
  records: readonly LogRecord[],
  start: number,
): { bytes: Buffer; append: Append } {
  const named = records.map(({ name, sequence, bytes = EMPTY }) => ({
    name: Buffer.from(name),
    sequence,
    bytes,
  }));
  const size = named.reduce((sum, { name, bytes }) => sum + 16 + name.length + bytes.length, HEADER);
  const out = Buffer.allocUnsafe(size);
  const entries: Entry[] = [];
  let at = HEADER;
  named.forEach(({ name, sequence, bytes }, i) => {
    at = out.writeUInt32LE(name.length, at);
    at += name.copy(out, at);
    at = out.writeDoubleLE(sequence, at);
    at = out.writeUInt32LE(bytes.length, at);
    out.set(bytes, at);
    entries.push({ name: records[i]!.name, sequence, start: start + at, length: bytes.length });
    at += bytes.length;
  });
  out.writeDoubleLE(size - HEADER, 0);
  checksum(out.subarray(HEADER)).copy(out, 8);
  return { bytes: out, append: { entries, end: start + size } };
}

/**
 * The complete appends of a piece of a file, up to the first that is not complete.
 * @param start where the piece begins in the file
 */
export function readAppends(piece: Buffer, start: number): Append[] {
  const appends: Append[] = [];
  for (let at = 0; at + HEADER <= piece.length;) {
    const size = piece.readDoubleLE(at);
    const end = at + HEADER + size;
    if (!(Number.isInteger(size) && size >= 0 && end <= piece.length)) break;
    const content = piece.subarray(at + HEADER, end);
    if (!checksum(content).equals(piece.subarray(at + 8, at + HEADER))) break;
    appends.push({ entries: readEntries(content, start + at + HEADER), end: start + end });
    at = end;
  }
  return appends;
}

/** Bytes of an entry without name and bytes. */
const LEAST_ENTRY = 16;

/**
 * Whether an append with entries begins anywhere from a place on. Each append is flushed before the next, so one that a crash
 * cut short is the last of its file: whole ones behind it say that the file was damaged later.
 */
export function hasAppend(piece: Buffer, from: number): boolean {
  for (let at = from; at + HEADER + LEAST_ENTRY <= piece.length; at++) {
    if ((piece[at + 7]! & 0xfe) !== 0x40) continue; // no double from 16 to 2³²: most places end here
    const end = at + HEADER + piece.readDoubleLE(at);
    // Entries are measured before they are hashed: content of plain numbers looks like sizes everywhere.
    if (
      end <= piece.length &&
      hasEntries(piece, at + HEADER, end) &&
      readAppends(piece.subarray(at, end), 0).length > 0
    )
      return true;
  }
  return false;
}

/** Whether the lengths of entries fill [from, end). */
function hasEntries(piece: Buffer, from: number, end: number): boolean {
  let at = from;
  while (at + LEAST_ENTRY <= end) {
    const bytesAt = at + 4 + piece.readUInt32LE(at) + 12;
    if (bytesAt > end) return false;
    at = bytesAt + piece.readUInt32LE(bytesAt - 4);
  }
  return at === end;
}

function readEntries(content: Buffer, start: number): Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; at < content.length;) {
    const nameEnd = at + 4 + content.readUInt32LE(at);
    const name = content.toString("utf8", at + 4, nameEnd);
    const sequence = content.readDoubleLE(nameEnd);
    const length = content.readUInt32LE(nameEnd + 8);
    entries.push({ name, sequence, start: start + nameEnd + 12, length });
    at = nameEnd + 12 + length;
  }
  return entries;
}

const checksum = (content: Uint8Array): Buffer => createHash("sha256").update(content).digest();
