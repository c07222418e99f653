/** The keys of a metric of a hub: each has a number, in the order in which they came, and some of them together are a chunk. */
import type { EventMetric } from "../../events/eventMetric.js";
import type { Encoder } from "../../snapshot/codec.js";
import type { Parameters } from "../../snapshot/snapshot.js";
import type { ClosedDay, KeyDay } from "./closedDays.js";
import { SLOTS } from "../journal/ring.js";
import type { Section } from "../journal/sections.js";

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

/** Writes down how many keys there are from a row on. A replay begins at most a round of the journal before the newest row. */
export function countKeys({ keys, counts }: MetricRecord, row: number): void {
  if (counts.at(-1)?.row === row) counts.pop();
  counts.push({ row, keys: keys.length });
  while (counts.length > 1 && counts[1]!.row <= row - SLOTS) counts.shift();
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

/** Whether a key publishes a day. @param began start of the metric: keys of the first day have a part of it */
export const publishesOn = ({ since, spans }: KeyRecord, day: number, began: number): boolean =>
  since <= Math.max(day, began) || spans?.some(([from, to]) => from <= day && day < to) === true;

/** Bytes of a chunk's day, about, and keys of a chunk at most. */
const CHUNK_BYTES = 2 ** 18;
const CHUNK_KEYS = 64;

/** Something with a clock that rows move: the shared part, or a lane. */
export interface Lane {
  metric: EventMetric;
  /** Rows up to this one are in it. */
  covers: number;
  /** Ranges of the running day that nobody listened to. */
  missed: (readonly [number, number])[];
}

interface PendingDay {
  readonly day: ClosedDay;
  readonly keys: Map<number, KeyDay>;
}

/** Keys that are stored together. */
export class Chunk implements Section {
  readonly name: string;
  readonly parameters: Parameters;
  readonly index: number;
  /** Closed days that are not stored yet, by their start. */
  readonly pending = new Map<number, PendingDay>();
  lane: Lane | undefined;
  readonly #save: (writer: Encoder, chunk: Chunk) => void;

  constructor(
    prefix: string,
    parameters: Parameters,
    index: number,
    save: (writer: Encoder, chunk: Chunk) => void,
  ) {
    this.name = `${prefix}/keys/${index}`;
    this.parameters = parameters;
    this.index = index;
    this.#save = save;
  }

  save(writer: Encoder): void {
    this.#save(writer, this);
  }
}

export class KeyChunks {
  // Parameters
  readonly #perChunk: number;
  readonly #make: (index: number) => Chunk;
  // State
  readonly #records: KeyRecord[];
  readonly #numbers = new Map<string, number>();
  readonly chunks: Chunk[] = [];

  /**
   * @param records of the catalogue; keys that are added are added to it
   * @param bytes of a key's day, about
   */
  constructor(records: KeyRecord[], bytes: number, make: (index: number) => Chunk) {
    this.#perChunk = Math.max(1, Math.min(CHUNK_KEYS, Math.floor(CHUNK_BYTES / bytes)));
    this.#make = make;
    this.#records = records;
    for (const { name } of records) this.#number(name);
  }

  /** The number of a key; undefined if it never was one. */
  numberOf(name: string): number | undefined {
    return this.#numbers.get(name);
  }

  /** Gives a name its number, and room in a chunk. */
  #number(name: string): Chunk {
    const number = this.#numbers.size;
    this.#numbers.set(name, number);
    const index = Math.floor(number / this.#perChunk);
    return (this.chunks[index] ??= this.#make(index));
  }

  /** Takes a key that is new; returns its chunk if that is new, too. */
  add(name: string, since: number): Chunk | undefined {
    const known = this.chunks.length;
    this.#records.push({ name, since, until: -Infinity });
    const chunk = this.#number(name);
    return this.chunks.length > known ? chunk : undefined;
  }

  chunkOf(number: number): Chunk {
    return this.chunks[Math.floor(number / this.#perChunk)]!;
  }

  /** The keys of a chunk. */
  *of(chunk: Chunk): Generator<{ readonly number: number } & Readonly<KeyRecord>> {
    const first = chunk.index * this.#perChunk;
    for (let number = first; number < Math.min(first + this.#perChunk, this.#records.length); number++)
      yield { number, ...this.#records[number]! };
  }
}
