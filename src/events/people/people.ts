/**
 * A person's events of one day of the zone count up to a limit; the rest is dropped before anything else sees it. What is
 * dropped for one person depends on that person's events alone. So adding or removing a person's day moves a release by at
 * most the limit: k events, or a sum of s.
 *
 * Ids are kept as keyed 128-bit hashes. Two ids share a counter with odds below 2⁻⁸⁸ at 10⁶ people.
 */
import { checkInteger, checkPositive, ownOptions } from "../../core/checks.js";
import { binOf } from "../../stream/holdout/choice.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import { digest, hashText } from "./siphash.js";

export interface PerPerson {
  /**
   * k: how many events of one person count in a day of the zone. The noise grows with it. Public. "choose": k is chosen
   * privately from the people of the first whole day, whose events are not published.
   */
  readonly events?: number | "choose";
  /** The largest k that "choose" may take. Default 4096. Public. */
  readonly most?: number;
  /** How many of them may lie in one hour: keeps the shape of the day at the same noise. Public. */
  readonly perHour?: number;
  /** s, for sums: a person's values of a day count until they sum to s. Instead of `events`. Public. */
  readonly sum?: number;
  /** A public guess of how many people a day has. Snapshots have room for so many; more make them longer. Default 1024. */
  readonly people?: number;
}

export interface PersonLimit {
  /** k; undefined if values are limited by their sum, or before k is chosen. */
  readonly events: number | undefined;
  /** The largest k that may be chosen; undefined if k is not chosen. */
  readonly most?: number;
  readonly perHour: number | undefined;
  /** s in units of the values, or undefined. */
  readonly sum: number | undefined;
  readonly people: number;
}

const MOST_PEOPLE = 2 ** 24;
const MOST_EVENTS = 65_535;
const MOST_CHOSEN = 4096;
/** More days than this between the oldest open period and the clock are not written out. */
const MOST_DAYS = 4;
/** Ids longer than this are mistakes: hashing them would only cost time. */
const LONGEST_ID = 4096;

export function resolvePerPerson(options: number | PerPerson | undefined): PersonLimit | undefined {
  if (options === undefined) return undefined;
  const asked = typeof options === "number" ? { events: options } : options;
  if (typeof asked === "object" && (asked as object | null) !== null && Object.hasOwn(asked, "every"))
    throw new TypeError(
      'perPerson.every: expected none; a person\'s period is a day of the zone. Set "zone" for whose days',
    );
  const own = ownOptions("perPerson", asked, ["events", "most", "perHour", "sum", "people"]);
  if ((own.events === undefined) === (own.sum === undefined))
    throw new TypeError(
      "perPerson: expected either events, how many of a person's events count in a day, or sum",
    );
  const people = checkInteger("perPerson.people", own.people ?? 1024, 1, MOST_PEOPLE);
  if (own.most !== undefined && own.events !== "choose")
    throw new TypeError('perPerson.most: expected with events: "choose" alone');
  if (own.sum !== undefined) {
    if (own.perHour !== undefined)
      throw new TypeError("perPerson.perHour: expected none beside perPerson.sum");
    return { ...NO_LIMIT, sum: checkPositive("perPerson.sum", own.sum), people };
  }
  const isChosen = own.events === "choose";
  const most = checkInteger("perPerson.most", own.most ?? MOST_CHOSEN, 1, MOST_EVENTS);
  const events = isChosen ? most : checkInteger("perPerson.events", own.events, 1, MOST_EVENTS);
  const perHour =
    own.perHour === undefined ? undefined : checkInteger("perPerson.perHour", own.perHour, 1, events);
  return { ...NO_LIMIT, ...(isChosen ? { most } : { events }), perHour, people };
}

const NO_LIMIT = { events: undefined, perHour: undefined, sum: undefined } as const;

/** Rejects what is no id, before anything changes. Ids are private: the message says nothing about them. */
export function checkPerson(person: unknown): asserts person is string {
  if (typeof person !== "string" || person.length === 0 || person.length > LONGEST_ID)
    throw new TypeError(
      `person: expected text of 1 to ${LONGEST_ID} characters, since perPerson is set; the event was not taken`,
    );
}

/** How many people of a day lost something to their limit, and how many lost nothing. Private. */
export interface LimitedPeople {
  readonly lost: number;
  readonly whole: number;
}

export class People {
  // Parameters
  readonly #key: Uint32Array;
  readonly #perHour: number | undefined;
  readonly #room: number;
  // State
  /** k, or s in grid units. Fixed before the first event of a day that counts. */
  most: number;
  // By the start of the day, and of the hour. More than one while late events still come.
  readonly #days = new Map<number, Counters>();
  readonly #hours = new Map<number, Counters>();
  /** The day of the event before: most events come in the order of time. */
  #day = NaN;
  #counters: Counters | undefined;

  /**
   * @param key 4 secret words
   * @param most k, or s in grid units, below 2³¹
   */
  constructor(key: Uint32Array, { perHour, people }: PersonLimit, most: number) {
    this.#key = key;
    this.most = most;
    this.#perHour = perHour;
    this.#room = people;
  }

  /** The keyed hash that stands for a person in memory and in snapshots: 4 words, valid until the next call. */
  hash(person: string): Uint32Array {
    hashText(this.#key, person);
    return digest;
  }

  /**
   * Counts an event towards its person's limit and returns how much of it counts: `amount`, less, or 0.
   * @param day start of its day
   * @param hour start of its hour
   * @param amount 1 for an event, or the value in grid units
   */
  admit(hash: Uint32Array, day: number, hour: number, amount: number): number {
    const part = this.#tableOf(day).partOf(hash);
    const place = part.find(hash);
    const left = this.most - part.amountAt(place);
    const granted =
      this.#perHour === undefined ? Math.min(amount, left) : this.#admitHour(hash, hour, amount, left);
    part.addAt(place, hash, granted, granted < amount);
    return granted;
  }

  #admitHour(hash: Uint32Array, hour: number, amount: number, left: number): number {
    const part = tableOf(this.#hours, hour).partOf(hash);
    const place = part.find(hash);
    const granted = Math.min(amount, left, this.#perHour! - part.amountAt(place));
    if (granted > 0) part.addAt(place, hash, granted, false);
    return granted;
  }

  #tableOf(day: number): Counters {
    if (day === this.#day) return this.#counters!;
    this.#counters = tableOf(this.#days, day);
    this.#day = day;
    return this.#counters;
  }

  /** Amount of a person that has counted on a day so far. */
  amount(hash: Uint32Array, day: number): number {
    const part = this.#days.get(day)?.partOf(hash);
    return part === undefined ? 0 : part.amountAt(part.find(hash));
  }

  /** People of a day by how many of these amounts, which ascend, lie below what they have counted with. */
  bins(day: number, amounts: Float64Array): Float64Array {
    const bins = new Float64Array(amounts.length + 1);
    this.#days.get(day)?.eachAmount((amount) => bins[binOf(amounts, amount)]!++);
    return bins;
  }

  /** Counts the people of a day who lost something to the limit, and those who did not. */
  limited(day: number): LimitedPeople {
    const counters = this.#days.get(day);
    return counters === undefined
      ? { lost: 0, whole: 0 }
      : { lost: counters.lost, whole: counters.people - counters.lost };
  }

  /** Forgets days and hours before these. */
  forgetBefore(day: number, hour: number): void {
    for (const start of this.#days.keys()) if (start < day) this.#days.delete(start);
    if (this.#day < day) [this.#day, this.#counters] = [NaN, undefined]; // so that it can be freed
    for (const start of this.#hours.keys()) if (start < hour) this.#hours.delete(start);
  }

  /** Bytes held. */
  get bytes(): number {
    let sum = 0;
    for (const tables of [this.#days, this.#hours])
      for (const counters of tables.values()) sum += counters.bytes;
    return sum;
  }

  /**
   * Writes the tables of these days and hours, whether or not anybody had events in them. If there are others, as when old
   * events are read under a later clock, a power of two of tables is written.
   */
  save(writer: Encoder, days: readonly number[], hours: readonly number[]): void {
    writeTables(writer, this.#days, days, this.#room);
    if (this.#perHour !== undefined) writeTables(writer, this.#hours, hours, this.#room);
  }

  load(reader: Decoder): void {
    [this.#day, this.#counters] = [NaN, undefined];
    readTables(reader, this.#days);
    if (this.#perHour !== undefined) readTables(reader, this.#hours);
  }
}

function tableOf(tables: Map<number, Counters>, start: number): Counters {
  let counters = tables.get(start);
  if (counters === undefined) tables.set(start, (counters = new Counters()));
  return counters;
}

function writeTables(
  writer: Encoder,
  tables: ReadonlyMap<number, Counters>,
  starts: readonly number[],
  room: number,
): void {
  const all = [...new Set([...starts.slice(0, MOST_DAYS * 25), ...tables.keys()])].sort((a, b) => a - b);
  let count = starts.length;
  while (count < all.length) count = Math.max(1, 2 * count);
  writer.count(count);
  const nobody = new Counters();
  for (let i = 0; i < count; i++) {
    const start = all[i];
    writer.double(start ?? NaN);
    ((start === undefined ? undefined : tables.get(start)) ?? nobody).save(writer, room);
  }
}

function readTables(reader: Decoder, tables: Map<number, Counters>): void {
  for (let left = reader.count(); left > 0; left--) {
    const start = reader.double();
    const counters = new Counters();
    counters.load(reader);
    if (counters.people > 0) tables.set(start, counters);
  }
}

/** Tables grow one by one, so that no event waits for more than a part of all people to move. */
const PARTS = 256;
const SMALLEST = 16;

/** Hash → count, exact. 20 bytes an entry, tables at most ¾ full. */
class Counters {
  readonly #parts: (Part | undefined)[] = Array.from({ length: PARTS }, () => undefined);

  /** The table that a person is in. */
  partOf(hash: Uint32Array): Part {
    const place = hash[3]! >>> 24;
    return (this.#parts[place] ??= new Part());
  }

  eachAmount(tell: (amount: number) => void): void {
    for (const part of this.#parts) part?.eachAmount(tell);
  }

  get people(): number {
    return this.#parts.reduce((sum, part) => sum + (part?.people ?? 0), 0);
  }

  /** People who lost something. */
  get lost(): number {
    return this.#parts.reduce((sum, part) => sum + (part?.lost ?? 0), 0);
  }

  get bytes(): number {
    return this.#parts.reduce((sum, part) => sum + (part?.bytes ?? 0), 0);
  }

  /** @param room for as many people, doubled as often as there are more: so its length tells no smaller number */
  save(writer: Encoder, room: number): void {
    while (room < this.people) room *= 2;
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
      this.partOf(entry).put(entry, entry[COUNT]!);
    }
  }
}

/** Words of an entry: a hash and then its count, side by side, so that the memory is waited for once. */
const ENTRY = 5;
const COUNT = 4;
/** Added to a count: 1 so that an entry is never 0, and the top bit for people who lost something. */
const PRESENT = 1;
const LOST = 2 ** 31;

/** Open addressing with linear probing; a count of 0 marks a free place. */
class Part {
  people = 0;
  lost = 0;
  #entries = new Uint32Array(ENTRY * SMALLEST);
  /** Places per value of a hash's first word. The product with such a word is exact: 53 bits are enough for it. */
  #share = SMALLEST / 2 ** 32;

  get bytes(): number {
    return this.#entries.byteLength;
  }

  /** The amount of a person that has counted so far. @param at where the person's entry is */
  amountAt(at: number): number {
    const count = this.#entries[at + COUNT]!;
    return count === 0 ? 0 : (count & (LOST - 1)) - PRESENT;
  }

  eachAmount(tell: (amount: number) => void): void {
    for (let at = 0; at < this.#entries.length; at += ENTRY)
      if (this.#entries[at + COUNT] !== 0) tell(this.amountAt(at));
  }

  /** Adds to a person's amount; `lost` marks the person as one whose events did not all count. @param at where `find` said */
  addAt(at: number, hash: Uint32Array, amount: number, lost: boolean): void {
    const before = this.#entries[at + COUNT]!;
    if (before === 0) return this.put(hash, amount + PRESENT + (lost ? LOST : 0));
    const isLost = before >= LOST;
    if (lost && !isLost) this.lost++;
    this.#entries[at + COUNT] = before + amount + (lost && !isLost ? LOST : 0);
  }

  /** Takes a person who is not here yet. */
  put(hash: Uint32Array, count: number): void {
    if (4 * ENTRY * (this.people + 1) > 3 * this.#entries.length) this.#grow();
    this.#write(hash, count);
    this.people++;
    if (count >= LOST) this.lost++;
  }

  /** Writes hash and count of everyone; returns where it stopped. */
  write(out: Uint32Array, at: number): number {
    const entries = this.#entries;
    for (let from = 0; from < entries.length; from += ENTRY) {
      if (entries[from + COUNT] === 0) continue;
      for (let i = 0; i < ENTRY; i++) out[at++] = entries[from + i]!; // by hand: a view costs more than five words
    }
    return at;
  }

  /** Where the entry of a hash begins, or would begin. */
  find(hash: Uint32Array): number {
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
    const at = this.find(hash);
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
