/**
 * At most k events of each person count in a period; the others are dropped before anything sees them. What is dropped
 * for one person depends on that person's events alone. So adding or removing a person moves a release by at most
 * what k events move it, and ε/k for each event makes ε for the person.
 *
 * Ids are kept as keyed 128-bit hashes. Two ids share a counter with odds below 2⁻⁸⁸ at 10⁶ people.
 */
import { checkInteger, ownOptions } from "../core/checks.js";
import type { Core } from "../core/core.js";
import { Stage } from "../core/random.js";
import type { Decoder, Encoder } from "../stream/codec.js";
import { derivedKey } from "./derivedKey.js";
import { type Duration, parseDuration } from "./duration.js";
import type { TickSettings } from "./options.js";
import { digest, hashText } from "./siphash.js";

export interface PerPerson {
  /** k: how many events of one person count in a period. Each gets ε/k. Public. */
  readonly events: number;
  /** The period, counted from 1970, UTC: "1d" is a UTC day. A whole number of ticks. Public. */
  readonly every: Duration;
  /** A public guess of how many people a period has. Snapshots have room for so many; more make them longer. Default 1024. */
  readonly people?: number;
}

export interface PersonLimit {
  readonly events: number;
  readonly every: number;
  readonly people: number;
}

const MOST_PEOPLE = 2 ** 24;
/** More periods than this between the oldest open tick and the clock are not written out. */
const MOST_PERIODS = 8;
/** Counters are 16 bits wide. */
const MOST_EVENTS = 65_535;
/** Ids longer than this are mistakes: hashing them would only cost time. */
const LONGEST_ID = 4096;

export function resolvePerPerson(options: PerPerson | undefined, tick: number): PersonLimit | undefined {
  if (options === undefined) return undefined;
  const own = ownOptions("perPerson", options, ["events", "every", "people"]);
  const events = checkInteger("perPerson.events", own.events, 1, MOST_EVENTS);
  const every = parseDuration("perPerson.every", own.every);
  if (every % tick !== 0)
    throw new RangeError(
      `perPerson.every: expected a whole number of ticks of ${tick} ms, got ${every} ms; a tick must lie in one period`,
    );
  return { events, every, people: checkInteger("perPerson.people", own.people ?? 1024, 1, MOST_PEOPLE) };
}

/** Refuses what is no id, before anything changes. Ids are private: the message says nothing about them. */
export function checkPerson(person: unknown): asserts person is string {
  if (typeof person !== "string" || person.length === 0 || person.length > LONGEST_ID)
    throw new TypeError(
      `person: expected text of 1 to ${LONGEST_ID} characters, since perPerson is set; the event was not taken`,
    );
}

/** Who counts the events of people for one stream: nobody, the stream itself, or a hub before it. */
export function peopleOf(
  { limit, limitedBefore }: TickSettings,
  core: Core,
  key: Uint32Array,
): People | undefined {
  return limit === undefined || limitedBefore
    ? undefined
    : new People(derivedKey(core, key, Stage.people, 4), limit);
}

export class People {
  readonly #key: Uint32Array;
  readonly #limit: PersonLimit;
  /** Period → who had how many events in it. More than one while late events still come. */
  readonly #periods = new Map<number, Counters>();
  /** The period of the event before: most events come in the order of time. */
  #last = NaN;
  #counters: Counters | undefined;

  /** @param key 4 secret words */
  constructor(key: Uint32Array, limit: PersonLimit) {
    this.#key = key;
    this.#limit = limit;
  }

  /** Counts an event; false if the person has had all events of this period. */
  admit(person: string, at: number): boolean {
    return this.admitHash(this.hash(person), at);
  }

  /** Stands for a person in memory and in snapshots: 4 words, valid until the next call. */
  hash(person: string): Uint32Array {
    hashText(this.#key, person);
    return digest;
  }

  /** The same for a person whose hash is known: 4 words. */
  admitHash(hash: Uint32Array, at: number): boolean {
    const period = Math.floor(at / this.#limit.every);
    const counters = period === this.#last ? this.#counters! : this.#turnTo(period);
    return counters.add(hash, this.#limit.events);
  }

  #turnTo(period: number): Counters {
    let counters = this.#periods.get(period);
    if (counters === undefined) this.#periods.set(period, (counters = new Counters()));
    this.#last = period;
    this.#counters = counters;
    return counters;
  }

  /** Forgets the periods that are over at `time`. */
  forgetBefore(time: number): void {
    for (const period of this.#periods.keys())
      if ((period + 1) * this.#limit.every <= time) this.#periods.delete(period);
    if (!this.#periods.has(this.#last)) {
      this.#last = NaN;
      this.#counters = undefined; // so that it can be freed
    }
  }

  /** Bytes held. */
  get bytes(): number {
    let sum = 0;
    for (const counters of this.#periods.values()) sum += counters.bytes;
    return sum;
  }

  /**
   * Writes every period that has a time in [from, to), whether or not anybody had events in it. If these are too many,
   * as when old events are read from a file, a power of two of periods is written that holds all people.
   */
  save(writer: Encoder, from: number, to: number): void {
    const { every, people } = this.#limit;
    const first = Math.floor(from / every);
    let count = Math.ceil(to / every) - first;
    const used = Math.max(first - 1, ...this.#periods.keys()) + 1 - first;
    if (count > MOST_PERIODS || count < used) for (count = 1; count < used;) count *= 2;
    writer.count(count);
    const nobody = new Counters();
    for (let period = first; period < first + count; period++) {
      writer.double(period);
      (this.#periods.get(period) ?? nobody).save(writer, people);
    }
  }

  load(reader: Decoder): void {
    for (let left = reader.count(); left > 0; left--) {
      const period = reader.double();
      const counters = new Counters();
      counters.load(reader);
      this.#periods.set(period, counters);
    }
  }
}

/** Tables grow one by one, so that no event waits for more than a part of all people to move. */
const PARTS = 256;
const SMALLEST = 16;

/** Hash → count, exact. 20 bytes an entry, tables at most ¾ full. */
class Counters {
  readonly #parts: (Part | undefined)[] = Array.from({ length: PARTS }, () => undefined);

  #partOf(hash: Uint32Array): Part {
    const place = hash[3]! >>> 24;
    return (this.#parts[place] ??= new Part());
  }

  /** Adds one to a person's counter unless it is at `most`; false if it is. */
  add(hash: Uint32Array, most: number): boolean {
    return this.#partOf(hash).add(hash, most);
  }

  get bytes(): number {
    return this.#parts.reduce((sum, part) => sum + (part?.bytes ?? 0), 0);
  }

  /** @param room for as many people, doubled as often as there are more: so its length tells no smaller number */
  save(writer: Encoder, room: number): void {
    const people = this.#parts.reduce((sum, part) => sum + (part?.people ?? 0), 0);
    while (room < people) room *= 2;
    const words = new Uint32Array(ENTRY * room);
    let at = 0;
    for (const part of this.#parts) at = part?.write(words, at) ?? at;
    writer.count(room);
    writer.words(words);
  }

  load(reader: Decoder): void {
    const words = reader.words(ENTRY * reader.count());
    for (let at = 0; at < words.length && words[at + COUNT] !== 0; at += ENTRY) {
      const entry = words.subarray(at, at + ENTRY);
      this.#partOf(entry).put(entry, entry[COUNT]!);
    }
  }
}

/** Words of an entry: a hash and then its count, side by side, so that the memory is waited for once. */
const ENTRY = 5;
const COUNT = 4;

/** Open addressing with linear probing; a count of 0 marks a free place. */
class Part {
  people = 0;
  #entries = new Uint32Array(ENTRY * SMALLEST);
  /** Places per value of a hash's first word. The product with such a word is exact: 53 bits are enough for it. */
  #share = SMALLEST / 2 ** 32;

  get bytes(): number {
    return this.#entries.byteLength;
  }

  add(hash: Uint32Array, most: number): boolean {
    const at = this.#find(hash);
    const count = this.#entries[at + COUNT]!;
    if (count === most) return false;
    if (count === 0) this.put(hash, 1);
    else this.#entries[at + COUNT] = count + 1;
    return true;
  }

  /** Takes a person who is not here yet. */
  put(hash: Uint32Array, count: number): void {
    if (4 * ENTRY * (this.people + 1) > 3 * this.#entries.length) this.#grow();
    this.#write(hash, count);
    this.people++;
  }

  /** Writes hash and count of everyone; returns where it stopped. */
  write(out: Uint32Array, at: number): number {
    for (let from = 0; from < this.#entries.length; from += ENTRY) {
      if (this.#entries[from + COUNT] === 0) continue;
      out.set(this.#entries.subarray(from, from + ENTRY), at);
      at += ENTRY;
    }
    return at;
  }

  /** Where the entry of a hash begins, or would begin. */
  #find(hash: Uint32Array): number {
    const entries = this.#entries;
    const h0 = hash[0]!;
    for (let at = ENTRY * Math.floor(h0 * this.#share); ; at += ENTRY) {
      if (at === entries.length) at = 0;
      if (entries[at + COUNT] === 0) return at;
      if (
        entries[at] === h0 &&
        entries[at + 1] === hash[1] &&
        entries[at + 2] === hash[2] &&
        entries[at + 3] === hash[3]
      )
        return at;
    }
  }

  #write(hash: Uint32Array, count: number): void {
    const at = this.#find(hash);
    for (let i = 0; i < COUNT; i++) this.#entries[at + i] = hash[i]!;
    this.#entries[at + COUNT] = count;
  }

  /** By half: doubling would leave more places empty. */
  #grow(): void {
    const old = this.#entries;
    const places = Math.floor((1.5 * old.length) / ENTRY);
    this.#entries = new Uint32Array(ENTRY * places);
    this.#share = places / 2 ** 32;
    for (let from = 0; from < old.length; from += ENTRY)
      if (old[from + COUNT] !== 0) this.#write(old.subarray(from, from + COUNT), old[from + COUNT]!);
  }
}
