/**
 * What one partition has counted: learn-reports, and release-reports by time. The state topic holds one record for
 * each tally, which is public, and a manifest with the next offset; all of a transaction's records appear together.
 */
import { aggregator, type Aggregator } from "brume";

import { readAll, readDecided } from "../committed.js";
import { Refusal } from "../keys.js";
import type { LogRecord, NewRecord, Port } from "../port.js";
import { bucketLength, type LocalOptions } from "./options.js";

const MANIFEST = "manifest";
const LEARNED = "learned";
const BUCKET = "bucket/";
const NONCE_HEADER = "nonce";
/** Collectors that retry do so soon: this many of the last records are known again. */
const REMEMBERED = 1024;
const LONGEST_NONCE = 64;

interface Manifest {
  readonly next: number;
  readonly nonces: readonly string[];
}

/** A tally as the topic has it. */
export interface StoredTally {
  /** Start of the bucket in milliseconds since 1970; undefined for learn-reports. */
  readonly at: number | undefined;
  readonly bytes: Uint8Array;
}

export class PartitionTallies {
  /** First offset of `reports` that was not processed. */
  next = 0;
  readonly #options: LocalOptions;
  readonly #learning: Aggregator;
  readonly #buckets = new Map<number, Aggregator>();
  /** Nonces of the last records, oldest first. */
  readonly #nonces = new Set<string>();
  readonly #changed = new Set<string>();
  #theta: number | undefined;

  constructor(options: LocalOptions) {
    this.#options = options;
    this.#learning = aggregator({ ...options.local, history: 1 });
  }

  get learned(): number {
    return this.#learning.learned;
  }

  /** θ, as it was published. Release-reports before that are rejected: no device can have made them. */
  set theta(theta: number) {
    this.#theta = theta;
  }

  /** Whether a record has release-reports that wait for θ. */
  needsTheta({ value }: LogRecord): boolean {
    return this.#theta === undefined && value !== null && phases(value).release.length > 0;
  }

  /** Counts the reports of a record. One that a collector sent twice counts once. */
  take(record: LogRecord): void {
    const nonce = nonceOf(record);
    if (nonce !== undefined) {
      if (this.#nonces.has(nonce)) return;
      this.#nonces.add(nonce);
      if (this.#nonces.size > REMEMBERED) this.#nonces.delete(this.#nonces.values().next().value!);
    }
    if (record.value === null) return;
    const { learn, release } = phases(record.value);
    if (learn.length > 0) {
      this.#learning.learn(learn);
      this.#changed.add(LEARNED);
    }
    if (release.length === 0 || this.#theta === undefined) return;
    const every = bucketLength(this.#options);
    const at = Math.floor(Math.max(0, record.timestamp) / every) * every;
    let bucket = this.#buckets.get(at);
    if (bucket === undefined) this.#buckets.set(at, (bucket = this.#makeBucket(this.#theta)));
    bucket.release(release);
    this.#changed.add(`${BUCKET}${at}`);
  }

  /** The records of a transaction: tallies that changed, and where to continue. */
  flush(): NewRecord[] {
    const records = [...this.#changed].map((key) => {
      const tally = key === LEARNED ? this.#learning : this.#buckets.get(Number(key.slice(BUCKET.length)))!;
      return { key: Buffer.from(key), value: Buffer.from(tally.tally()) };
    });
    this.#changed.clear();
    const manifest: Manifest = { next: this.next, nonces: [...this.#nonces] };
    return [...records, { key: Buffer.from(MANIFEST), value: Buffer.from(JSON.stringify(manifest)) }];
  }

  #makeBucket(threshold: number): Aggregator {
    return aggregator({ ...this.#options.local, threshold, history: 1 });
  }

  /** What was committed. The caller holds the writer of the partition, so nothing of it is open. */
  static async load(
    port: Port,
    options: LocalOptions,
    partition: number,
    theta: number | undefined,
  ): Promise<PartitionTallies> {
    const tallies = new PartitionTallies(options);
    const { manifest, stored } = await readTallies(port, options, partition, readAll);
    if (manifest === undefined) tallies.next = (await port.bounds(options.reports, partition)).start;
    else {
      tallies.next = manifest.next;
      for (const nonce of manifest.nonces) tallies.#nonces.add(nonce);
    }
    if (theta !== undefined) tallies.theta = theta;
    for (const { at, bytes } of stored)
      if (at === undefined) tallies.#learning.merge(bytes);
      else {
        if (theta === undefined)
          throw new Refusal(
            `${options.threshold}: expected θ, got none although reports were released; the topic was lost`,
          );
        const bucket = tallies.#makeBucket(theta);
        bucket.merge(bytes);
        tallies.#buckets.set(at, bucket);
      }
    return tallies;
  }
}

/** The newest committed tallies of a partition. */
export async function readTallies(
  port: Port,
  { tallies: topic }: LocalOptions,
  partition: number,
  read = readDecided,
): Promise<{ manifest: Manifest | undefined; stored: StoredTally[] }> {
  const newest = new Map<string, Buffer>();
  for await (const records of read(port, topic, partition))
    for (const { key, value } of records) if (key && value) newest.set(key.toString(), value);
  const manifest = newest.get(MANIFEST);
  newest.delete(MANIFEST);
  return {
    manifest: manifest && (JSON.parse(manifest.toString()) as Manifest),
    stored: [...newest].map(([key, bytes]) => ({
      at: key === LEARNED ? undefined : Number(key.slice(BUCKET.length)),
      bytes,
    })),
  };
}

/** Packed reports of 8 bytes, apart by phase: the lowest four bits of each one. */
function phases(value: Buffer): { learn: Uint8Array; release: Uint8Array } {
  const learn: Uint8Array[] = [];
  const release: Uint8Array[] = [];
  for (let at = 0; at + 8 <= value.length; at += 8)
    ((value[at]! & 15) === 1 ? release : learn).push(value.subarray(at, at + 8));
  return { learn: Buffer.concat(learn), release: Buffer.concat(release) };
}

export const nonceHeader = (nonce: string): [string, Buffer] => [NONCE_HEADER, Buffer.from(nonce)];

function nonceOf({ headers }: LogRecord): string | undefined {
  const value = headers.find(([name]) => name === NONCE_HEADER)?.[1];
  return value === undefined || value.length > LONGEST_NONCE ? undefined : value.toString("latin1");
}
