/**
 * The keys of a metric of a hub: each has a number, in the order in which they came, and some of them together are a chunk. Which
 * of them publish the running day, and which are to come.
 */
import type { EventMetric } from "../../events/eventMetric.js";
import type { Parameters } from "../../snapshot/snapshot.js";
import type { KeyChunk } from "./keyChunk.js";
import { SLOTS } from "../journal/ring.js";
import type { Section } from "../journal/sections.js";
import type { Lane } from "./lanes.js";

/** Entry of a metric in a hub's catalogue. */
export interface MetricRecord {
  readonly name: string;
  readonly number: number;
  /** Raised when the metric begins again: with other settings, or after it was not listed. */
  readonly generation: number;
  readonly parameters: Parameters;
  readonly began: number;
  /** The row with which this generation began: rows before it are of another one, whose keys had other numbers. */
  readonly row: number;
  readonly keys: KeyRecord[];
  /** How many keys there were from a row on that brought some, newest last: a replay of rows before it knows the later keys, too. */
  readonly counts: KeyCount[];
}

export interface KeyCount {
  readonly row: number;
  readonly keys: number;
}

/** How many keys there were at a row. */
export const keysAt = ({ keys, counts }: MetricRecord, row: number): number =>
  (counts.findLast((count) => count.row <= row) ?? counts[0])?.keys ?? keys.length;

/** A key of a metric, by its number. */
export interface KeyRecord {
  readonly name: string;
  /** Start of the first day that it publishes; NaN while it is not listed. */
  since: number;
  /** Start of the day in which it was taken off the list the last time: it published the days before; −Infinity if never. */
  until: number;
  /**
   * First day, and day after the last, of each time that votes made the key public. Appended to alone, and only
   * for days that have not begun: what it says of a day is the same at every row, also when rows are replayed.
   */
  spans?: (readonly [number, number])[];
}

/** Bytes of a chunk's day, about, and keys of a chunk at most. */
const CHUNK_BYTES = 2 ** 18;
const CHUNK_KEYS = 64;

export class HubKeys {
  // Parameters
  readonly #record: MetricRecord;
  readonly #ruled: boolean;
  readonly #perChunk: number;
  readonly #make: (index: number) => KeyChunk;
  // State
  readonly #numbers = new Map<string, number>();
  readonly chunks: KeyChunk[] = [];
  /** Numbers of keys that publish the running day. */
  readonly #joined = new Set<number>();

  /**
   * @param record of the catalogue; keys that are added are added to it
   * @param ruled whether keys come and go by a rule
   * @param bytes of a key's day, about
   */
  constructor(record: MetricRecord, ruled: boolean, bytes: number, make: (index: number) => KeyChunk) {
    this.#perChunk = Math.max(1, Math.min(CHUNK_KEYS, Math.floor(CHUNK_BYTES / bytes)));
    this.#make = make;
    this.#record = record;
    this.#ruled = ruled;
    for (const { name } of record.keys) this.#number(name);
  }

  /** The number of a key; undefined if it never was one. */
  numberOf(name: string): number | undefined {
    return this.#numbers.get(name);
  }

  /** Gives a name its number, and room in a chunk. */
  #number(name: string): KeyChunk {
    const number = this.#numbers.size;
    this.#numbers.set(name, number);
    const index = Math.floor(number / this.#perChunk);
    return (this.chunks[index] ??= this.#make(index));
  }

  /** Takes a key that is new with a row; returns its chunk if that is new, too. */
  add(name: string, since: number, row: number): KeyChunk | undefined {
    const known = this.chunks.length;
    this.#record.keys.push({ name, since, until: -Infinity });
    const chunk = this.#number(name);
    this.#count(row);
    return this.chunks.length > known ? chunk : undefined;
  }

  /** Writes down how many keys there are from a row on. A replay begins at most a round of the journal before the newest row. */
  #count(row: number): void {
    const { keys, counts } = this.#record;
    if (counts.at(-1)?.row === row) counts.pop();
    counts.push({ row, keys: keys.length });
    while (counts.length > 1 && counts[1]!.row <= row - SLOTS) counts.shift();
  }

  chunkOf(number: number): KeyChunk {
    return this.chunks[Math.floor(number / this.#perChunk)]!;
  }

  /** The keys of a chunk. */
  *of(chunk: KeyChunk): Generator<{ readonly number: number } & Readonly<KeyRecord>> {
    const { keys } = this.#record;
    const first = chunk.index * this.#perChunk;
    for (let number = first; number < Math.min(first + this.#perChunk, keys.length); number++)
      yield { number, ...keys[number]! };
  }

  /** Whether a key publishes a day. Keys of the metric's first day have a part of it. */
  publishes({ since, spans }: Readonly<KeyRecord>, day: number): boolean {
    const listed = since <= Math.max(day, this.#record.began);
    return listed || spans?.some(([from, to]) => from <= day && day < to) === true;
  }

  /** Whether the first day of a key, or of another time that it is public, is still to come. */
  #comes({ since, spans }: Readonly<KeyRecord>, { day }: EventMetric): boolean {
    return since > day.start || spans?.some(([from]) => from > day.start) === true;
  }

  isJoined(number: number): boolean {
    return this.#joined.has(number);
  }

  /** Says that a key publishes the running day. */
  join(number: number): void {
    this.#joined.add(number);
  }

  /** Whether events of a day count under a key. @param metric with the clock that all keys share */
  takes(number: number, day: number, metric: EventMetric): boolean {
    const key = this.#record.keys[number]!;
    if (this.#ruled) return this.#joined.has(number);
    return this.publishes(key, day) && (this.#joined.has(number) || metric.isExpected(key.name));
  }

  /** Keys whose first day is still to come take events of it already: they come while the day before is open. */
  expectComing({ metric }: Lane, chunks: readonly KeyChunk[]): void {
    if (this.#ruled || Number.isNaN(metric.units)) return;
    for (const chunk of chunks)
      for (const key of this.of(chunk))
        if (this.#comes(key, metric) && !metric.keys.includes(key.name) && !metric.isExpected(key.name))
          metric.expect(key.name);
  }

  /** Keys whose first day has begun publish from now on, and found keys whose last day has ended no more. */
  joinDue({ metric }: Lane, chunks: readonly KeyChunk[]): void {
    if (this.#ruled) return;
    const own = new Set(metric.keys);
    for (const chunk of chunks)
      for (const { number, ...key } of this.of(chunk)) {
        const { name, spans } = key;
        const publishes = this.publishes(key, metric.day.start);
        if (publishes && !own.has(name)) {
          metric.join(name);
          if (chunk.lane === undefined) this.#joined.add(number);
        } else if (!publishes && own.has(name) && spans !== undefined) {
          metric.leave(name);
          this.#joined.delete(number);
        }
      }
  }

  /** Keys that a rule allowed in the day that ended leave, unless they have events of the day that begins already. */
  leaveRuled({ metric }: Lane, chunks: readonly KeyChunk[]): void {
    if (!this.#ruled) return;
    for (const chunk of chunks)
      for (const { number, name } of this.of(chunk)) {
        if ((metric.release(name)?.latest ?? -Infinity) >= metric.day.start) continue;
        metric.leave(name);
        this.#joined.delete(number);
      }
  }

  /**
   * Follows the list of keys: those that are new publish from the next day on, those that are gone no more.
   * @param row that says so
   */
  follow(
    keys: readonly string[],
    from: number,
    row: number,
    lane: Lane,
  ): { readonly added: readonly Section[]; readonly changed: boolean } {
    const { metric } = lane;
    const added: Section[] = [];
    let changed = false;
    const listed = new Set(keys);
    for (const [number, key] of this.#record.keys.entries()) {
      if (listed.has(key.name) === !Number.isNaN(key.since)) continue;
      changed = true;
      key.since = listed.has(key.name) ? from : NaN;
      if (!Number.isNaN(key.since) || this.publishes(key, metric.day.start)) continue;
      if (this.#joined.delete(number)) {
        metric.leave(key.name);
        key.until = metric.day.start;
      } else if (!this.#comes(key, metric)) metric.leave(key.name); // what was taken ahead
    }
    for (const key of keys)
      if (this.numberOf(key) === undefined) {
        const chunk = this.add(key, from, row);
        changed = true;
        if (chunk !== undefined) added.push(chunk);
      }
    this.expectComing(lane, this.chunks);
    return { added, changed };
  }
}
