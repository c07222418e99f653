/**
 * The record that says what a partition's state is. It is written in every transaction, encrypted, and checked when a
 * task opens: a state topic that was rolled back, mixed or recreated is refused, because going on from it would
 * publish positions again with other numbers.
 */
import { Refusal } from "brume/node";
import { createHash, type Hash } from "node:crypto";

import { type Keyring, openBytes, encryptBytes } from "./keyring.js";
import type { LogRecord, NewRecord } from "./port.js";

/** Kafka key of the manifest in the state topic; streams have keys with a prefix. */
const MANIFEST_KEY = "manifest";
const STREAM_PREFIX = "stream/";
const KEY_HEADER = "key";
const VERSION = 1;

export interface Manifest {
  /** Ids of the topics in, state and out, and their number of partitions. */
  readonly topics: readonly string[];
  readonly partitions: number;
  /** First offset of `in` that was not processed. */
  readonly next: number;
  /** Transactions so far. */
  readonly counter: number;
  /** Streams in the state topic, and a keyed hash over all their names, sequences and offsets. */
  readonly streams: number;
  readonly hash: string;
  /** Hashes over what was processed, from the first record that a snapshot may lack: [offset, hash]. */
  readonly segments: readonly (readonly [from: number, hash: string])[];
  /** Time as the log told it, if there was a heartbeat. */
  readonly clock?: readonly number[];
}

/** Which partition's state: bound into its keys, so that records of one cannot replace another's. */
export interface Place {
  readonly group: string;
  readonly partition: number;
}

export function encryptManifest(manifest: Manifest, keys: Keyring, { group, partition }: Place): NewRecord {
  const key = keys.derive(keys.current, "manifest", group, partition);
  const value = encryptBytes(key, Buffer.from(JSON.stringify({ version: VERSION, ...manifest })));
  return { key: Buffer.from(MANIFEST_KEY), value, headers: [[KEY_HEADER, Buffer.from(keys.current)]] };
}

export function openManifest(record: LogRecord, keys: Keyring, { group, partition }: Place): Manifest {
  const key = keys.derive(keyId(record), "manifest", group, partition);
  const text = openBytes("manifest", key, record.value!).toString();
  const { version, ...manifest } = JSON.parse(text) as Manifest & { version: number };
  if (version !== VERSION) throw new Refusal(`manifest: expected version ${VERSION}, got ${version}`);
  return manifest;
}

export function streamRecord(name: string, offset: number, keyName: string, bytes: Uint8Array): NewRecord {
  const value = Buffer.allocUnsafe(8 + bytes.length);
  value.writeDoubleBE(offset, 0);
  value.set(bytes, 8);
  return { key: Buffer.from(STREAM_PREFIX + name), value, headers: [[KEY_HEADER, Buffer.from(keyName)]] };
}

export type StateRecord =
  | { readonly kind: "manifest"; readonly record: LogRecord }
  | {
      readonly kind: "stream";
      readonly name: string;
      readonly offset: number;
      readonly keyId: string;
      readonly bytes: Buffer;
    };

/** Reads a record of the state topic; refuses any other kind. */
export function readState(record: LogRecord): StateRecord {
  const key = record.key?.toString();
  if (key === MANIFEST_KEY) return { kind: "manifest", record };
  const value = record.value;
  if (key?.startsWith(STREAM_PREFIX) !== true || value === null || value.length < 8)
    throw new Refusal(
      "state: expected a manifest or a stream, got another record; has something else written here?",
    );
  const [name, offset] = [key.slice(STREAM_PREFIX.length), value.readDoubleBE(0)];
  return { kind: "stream", name, offset, keyId: keyId(record), bytes: value.subarray(8) };
}

function keyId({ headers }: LogRecord): string {
  return headers.find(([name]) => name === KEY_HEADER)?.[1].toString() ?? "1";
}

/** Records to a segment: a longer replay starts at most this many records too early. */
const SEGMENT = 4096;

/**
 * Hashes over processed records, in segments, so that the oldest can be dropped. They are in the encrypted manifest
 * only, since values can be guessed from a hash. A replay must give the same
 * hashes: otherwise `in` has changed, and its noise would fall on other values.
 */
export class SegmentHashes {
  #segments: { from: number; hash: Hash; records: number }[];

  /** @param from first offset that will be added */
  constructor(from: number) {
    this.#segments = [this.#begin(from)];
  }

  add(bytes: Buffer, records: number): void {
    const last = this.#segments[this.#segments.length - 1]!;
    last.hash.update(bytes);
    last.records += records;
  }

  /** Begins a new segment if the last one is long. @param next offset after the added records */
  split(next: number): void {
    if (this.#segments[this.#segments.length - 1]!.records >= SEGMENT) this.#segments.push(this.#begin(next));
  }

  /** Forgets segments that end at or before `from`, since nothing in them will be replayed. */
  dropBefore(from: number): void {
    while (this.#segments.length > 1 && this.#segments[1]!.from <= from) this.#segments.shift();
  }

  get list(): [number, string][] {
    return this.#segments.map(({ from, hash }) => [from, hash.copy().digest("base64")]);
  }

  /** Begins a segment where the history that is replayed did. */
  beginAt(from: number): void {
    this.#segments.push(this.#begin(from));
  }

  #begin(from: number) {
    return { from, hash: createHash("sha256").update(`${from}:`), records: 0 };
  }
}
