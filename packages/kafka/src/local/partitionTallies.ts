/**
 * Tallies of one partition, one for each day. The state topic holds one record for each of them, which is public, and
 * a manifest with the next offset; all of a transaction's records appear together.
 */
import { aggregator, type Aggregator, type Day, type LocalTerms } from "brume";
import { dayAt } from "brume/node";

import { readAll, readDecided } from "../committed.js";
import type { LogRecord, NewRecord, Port } from "../port.js";
import type { LocalOptions } from "./options.js";

const MANIFEST = "manifest";
const DAY = "day/";
const NONCE_HEADER = "nonce";
/** Collectors that retry do so soon: this many of the last records are known again. */
const REMEMBERED = 1024;
const LONGEST_NONCE = 64;

interface Manifest {
  readonly next: number;
  readonly nonces: readonly string[];
}

export class PartitionTallies {
  /** First offset of `reports` that was not processed. */
  next = 0;
  readonly #options: LocalOptions;
  /** By the name of their record. */
  readonly #days = new Map<string, Aggregator>();
  /** Nonces of the last records, oldest first. */
  readonly #nonces = new Set<string>();
  readonly #changed = new Set<string>();
  #terms: readonly LocalTerms[] = [];
  #day: Day = { start: 0, end: 0 };

  constructor(options: LocalOptions) {
    this.#options = options;
  }

  /** Terms of all days, as they were published. */
  set terms(terms: readonly LocalTerms[]) {
    const isNew = terms.at(-1)?.until !== this.#terms.at(-1)?.until;
    this.#terms = terms;
    if (isNew) for (const day of this.#days.values()) this.#follow(day);
  }

  /** Whether θ of a time is not published yet, as far as this task knows. */
  needsTerms(time: number): boolean {
    return !this.#terms.some(({ until }) => until > time);
  }

  /** Counts the reports of a record, on the day of its time. One that a collector sent twice counts once. */
  take(record: LogRecord): void {
    const nonce = nonceOf(record);
    if (nonce !== undefined) {
      if (this.#nonces.has(nonce)) return;
      this.#nonces.add(nonce);
      if (this.#nonces.size > REMEMBERED) this.#nonces.delete(this.#nonces.values().next().value!);
    }
    if (record.value === null) return;
    const at = Math.max(0, record.timestamp);
    const name = `${DAY}${this.#dayOf(at)}`;
    let day = this.#days.get(name);
    if (day === undefined) this.#days.set(name, (day = this.#follow(this.#make())));
    day.add(record.value, at);
    this.#changed.add(name);
  }

  /** The start of a day of the zone; records of one day follow each other. */
  #dayOf(at: number): number {
    if (!(at >= this.#day.start && at < this.#day.end)) this.#day = dayAt(at, this.#options.local.zone);
    return this.#day.start;
  }

  /** The records of a transaction: tallies that changed, and where to continue. */
  flush(): NewRecord[] {
    const records = [...this.#changed].map((key) => ({
      key: Buffer.from(key),
      value: Buffer.from(this.#days.get(key)!.tally()),
    }));
    this.#changed.clear();
    const manifest: Manifest = { next: this.next, nonces: [...this.#nonces] };
    return [...records, { key: Buffer.from(MANIFEST), value: Buffer.from(JSON.stringify(manifest)) }];
  }

  #make(): Aggregator {
    return aggregator(this.#options.local);
  }

  #follow(day: Aggregator): Aggregator {
    for (const terms of this.#terms) day.follow(terms);
    return day;
  }

  /** Loads what was committed. The caller holds the writer of the partition, so nothing of it is open. */
  static async load(
    port: Port,
    options: LocalOptions,
    partition: number,
    terms: readonly LocalTerms[],
  ): Promise<PartitionTallies> {
    const tallies = new PartitionTallies(options);
    tallies.terms = terms;
    const { manifest, days } = await readTallies(port, options, partition, readAll);
    if (manifest === undefined) tallies.next = (await port.bounds(options.reports, partition)).start;
    else {
      tallies.next = manifest.next;
      for (const nonce of manifest.nonces) tallies.#nonces.add(nonce);
    }
    for (const [name, bytes] of days) {
      const day = tallies.#make();
      day.merge(bytes);
      tallies.#days.set(name, tallies.#follow(day));
    }
    return tallies;
  }
}

/** The newest committed tallies of a partition, by the name of their record. */
export async function readTallies(
  port: Port,
  { tallies: topic }: LocalOptions,
  partition: number,
  read = readDecided,
): Promise<{
  readonly manifest: Manifest | undefined;
  readonly days: ReadonlyMap<string, Uint8Array>;
  readonly stored: Iterable<Uint8Array>;
}> {
  const days = new Map<string, Uint8Array>();
  let manifest: Manifest | undefined;
  for await (const records of read(port, topic, partition))
    for (const { key, value } of records)
      if (key?.toString() === MANIFEST && value) manifest = JSON.parse(value.toString()) as Manifest;
      else if (key && value) days.set(key.toString(), value);
  return { manifest, days, stored: days.values() };
}

export const nonceHeader = (nonce: string): [string, Buffer] => [NONCE_HEADER, Buffer.from(nonce)];

function nonceOf({ headers }: LogRecord): string | undefined {
  const value = headers.find(([name]) => name === NONCE_HEADER)?.[1];
  return value === undefined || value.length > LONGEST_NONCE ? undefined : value.toString("latin1");
}
