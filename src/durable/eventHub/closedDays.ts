/**
 * Closed days of a metric, outside live state: immutable entries of the store by chunk of keys, day and level. Finer levels
 * are kept for a shorter time, so each level that is kept has an entry of its own.
 */
import type { Day } from "../../events/days/calendar.js";
import { DayPeriods } from "../../events/days/dayPeriods.js";
import { type Keep, keptFor, type KeptDay, raised } from "../../events/days/history.js";
import type { EventMetric } from "../../events/eventMetric.js";
import type { EventSettings } from "../../events/eventSettings.js";
import type { DayCount } from "../../events/release.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import type { JournalEntry } from "../journal/entries.js";
import type { Journal } from "../journal/journal.js";
import { StoreError } from "../stores/store.js";
import type { HubKeys } from "./hubKeys.js";
import type { KeyChunk } from "./keyChunk.js";

/** Numbers that a key published in a day. */
export interface KeyDay {
  readonly kept: KeptDay;
  /** Noisy events above θ; undefined if they are not counted. */
  readonly clipped: number | undefined;
}

/** A day that a metric has closed. */
export interface ClosedDay extends Day {
  /** Where its first period starts. */
  readonly from: number;
  /** Keys that there were, by number. */
  readonly keys: number;
  /** Ranges of it that nobody listened to. */
  readonly missed: (readonly [number, number])[];
}

/** Keys by number. */
type KeyDays = ReadonlyMap<number, KeyDay>;

/** Numbers that the cache of a metric holds. */
const MOST_CACHED = 2 ** 21;

export class ClosedDays {
  // Parameters
  readonly #prefix: string;
  readonly #levels: readonly number[];
  readonly #columns: number;
  readonly #keep: Keep;
  readonly #keys: HubKeys;
  /** Levels that have entries, finest first. */
  readonly #stored: readonly number[];
  // State
  /** Days before the running one, oldest first. */
  #days: ClosedDay[] = [];
  #expired: string[] = [];
  readonly #cache = new Map<string, { readonly days: KeyDays; readonly size: number }>();
  #cached = 0;

  /** @param prefix of the names of its entries */
  constructor(prefix: string, { schedule: { levels }, columns, keep }: EventSettings, keys: HubKeys) {
    this.#prefix = prefix;
    this.#levels = levels;
    this.#columns = columns;
    this.#keep = keep;
    this.#keys = keys;
    this.#stored = levels.flatMap((length, level) =>
      level === 0 || keptFor(length, keep) > keptFor(levels[level - 1]!, keep) ? [level] : [],
    );
  }

  #nameOf(chunk: number, day: number, level: number): string {
    return `${this.#prefix}/days/${chunk}/${day}/${level}`;
  }

  /** Moves what the keys of a chunk published in a day out of live state. */
  take(day: ClosedDay, chunk: KeyChunk, metric: EventMetric): void {
    const keys = new Map<number, KeyDay>();
    for (const { number, ...key } of this.#keys.of(chunk)) {
      const taken = metric.release(key.name)?.takeBefore(metric.day.start);
      // In a replay, a chunk of some rows ago still has keys that left since: how many rows came must not decide.
      if (!(day.start < key.until || this.#keys.publishes(key, day.start))) continue;
      const kept = taken?.days.find(({ periods }) => periods.day.start === day.start);
      const clipped = taken?.clipped.find((count) => count.day === day.start)?.count;
      if (kept !== undefined) keys.set(number, { kept, clipped });
    }
    chunk.pending.set(day.start, { day, keys });
  }

  /** Days that wait to be stored, some of them. */
  entries(most: number): JournalEntry[] {
    const entries: JournalEntry[] = [];
    for (const chunk of this.#keys.chunks)
      for (const { day, keys } of chunk.pending.values()) {
        if (entries.length >= most) return entries;
        entries.push(...this.#entriesOf(chunk.index, day, keys, () => chunk.pending.delete(day.start)));
      }
    return entries;
  }

  /** Days of chunks that wait to be stored. */
  get unstored(): number {
    return this.#keys.chunks.reduce((sum, { pending }) => sum + pending.size, 0);
  }

  /** @param stored told when the store has all of them */
  #entriesOf(chunk: number, day: ClosedDay, keys: KeyDays, stored: () => void): JournalEntry[] {
    let left = this.#stored.length;
    return this.#stored.map((level) => ({
      name: this.#nameOf(chunk, day.start, level),
      save: (writer) => writeDay(writer, this.#raised(keys, level)),
      stored: () => {
        if (--left === 0) stored();
      },
    }));
  }

  #raised(keys: KeyDays, level: number): KeyDays {
    return new Map(
      [...keys].map(([number, { kept, clipped }]) => {
        let day = kept;
        while (day.level < level) day = raised(day, this.#columns);
        return [number, { kept: day, clipped }] as const;
      }),
    );
  }

  /**
   * Reads what a key published in a day; undefined if it had no number then, or published nothing.
   * @param whole the day is asked for as a whole: any level will do
   * @param now how old the day is decides which levels there are
   */
  async of(
    journal: Journal,
    key: string,
    day: ClosedDay,
    whole: boolean,
    now: number,
  ): Promise<KeyDay | undefined> {
    const number = this.#keys.numberOf(key);
    if (number === undefined || number >= day.keys) return undefined;
    const { index, pending } = this.#keys.chunkOf(number);
    const keys = pending.get(day.start)?.keys ?? (await this.#read(journal, index, day, whole, now));
    return keys.get(number);
  }

  /** Reads what the keys of a chunk published in a day. */
  async #read(
    journal: Journal,
    chunk: number,
    day: ClosedDay,
    whole: boolean,
    now: number,
  ): Promise<KeyDays> {
    const there = this.#stored.filter((level) => now - day.end < keptFor(this.#levels[level]!, this.#keep));
    const level = (whole ? this.#stored.at(-1) : there[0]) ?? this.#stored.at(-1)!;
    const name = this.#nameOf(chunk, day.start, level);
    const cached = this.#cache.get(name);
    if (cached !== undefined) {
      this.#cache.delete(name); // the newest is last
      this.#cache.set(name, cached);
      return cached.days;
    }
    const state = await journal.readEntry(name);
    if (state === undefined)
      throw new StoreError(
        "rolled-back",
        `store: the entry ${JSON.stringify(name)} of a closed day is missing; restore a whole copy of the store`,
      );
    const periods = new DayPeriods(day, this.#levels, day.from);
    const days = readDay(state, periods, level, this.#columns);
    this.#remember(name, days);
    return days;
  }

  #remember(name: string, days: KeyDays): void {
    let size = 0;
    for (const { kept } of days.values()) size += kept.values.length;
    this.#cache.set(name, { days, size });
    this.#cached += size;
    for (const [oldest, { size: own }] of this.#cache) {
      if (this.#cached <= MOST_CACHED || oldest === name) break;
      this.#cache.delete(oldest);
      this.#cached -= own;
    }
  }

  /**
   * Appends a day that has ended.
   * @param chunks how many there are
   * @param now start of the running day: how old a day is decides which of its entries are kept
   */
  add(day: ClosedDay, chunks: number, now: number): void {
    for (const old of this.#days) this.#expire(old, chunks, day.start, now);
    this.#days = this.#days.filter(({ end }) => now - end < this.#keep.days);
    this.#days.push(day);
  }

  /** Takes the names of entries of a day that are no longer kept at `now`, and were at `before`. */
  #expire(day: ClosedDay, chunks: number, before: number, now: number): void {
    for (const level of this.#stored) {
      const length = Math.min(this.#keep.days, keptFor(this.#levels[level]!, this.#keep));
      if (now - day.end < length || before - day.end >= length) continue;
      if (level === this.#stored.at(-1) && now - day.end < this.#keep.days) continue;
      for (let chunk = 0; chunk < chunks; chunk++) this.#expired.push(this.#nameOf(chunk, day.start, level));
    }
  }

  /** Names of entries that are no longer kept. Gives them once. */
  takeExpired(): string[] {
    const names = this.#expired;
    this.#expired = [];
    return names;
  }

  /** Days that meet a range. */
  in(from: number, to: number): ClosedDay[] {
    return this.#days.filter((day) => day.end > from && day.start < to);
  }

  save(writer: Encoder): void {
    writer.count(this.#days.length);
    for (const day of this.#days) writeClosedDay(writer, day);
  }

  load(reader: Decoder): void {
    this.#days = Array.from({ length: reader.count() }, () => readClosedDay(reader));
  }
}

/** Noisy counts of events above θ, as a release has them. */
export const clippedOf = (day: Day, { clipped }: KeyDay): DayCount[] =>
  clipped === undefined ? [] : [{ day: day.start, end: day.end, count: clipped }];

export function writeDay(writer: Encoder, keys: KeyDays): void {
  writer.count(keys.size);
  for (const [number, { kept, clipped }] of keys) {
    writer.count(number);
    writer.double(clipped ?? NaN);
    for (const value of kept.values) writer.double(value);
  }
}

export function readDay(reader: Decoder, periods: DayPeriods, level: number, columns: number): KeyDays {
  const length = periods.shape.sizes[level]! * columns;
  return new Map(
    Array.from({ length: reader.count() }, () => {
      const number = reader.count();
      const clipped = reader.double();
      const values = Float64Array.from({ length }, () => reader.double());
      const own = Number.isNaN(clipped) ? undefined : clipped;
      return [number, { kept: { periods, level, values }, clipped: own }] as const;
    }),
  );
}

export function writeRanges(writer: Encoder, ranges: ClosedDay["missed"]): void {
  writer.count(ranges.length);
  for (const [from, to] of ranges) for (const time of [from, to]) writer.double(time);
}

export const readRanges = (reader: Decoder): ClosedDay["missed"] =>
  Array.from({ length: reader.count() }, () => [reader.double(), reader.double()] as const);

export function writeClosedDay(writer: Encoder, { start, end, from, keys, missed }: ClosedDay): void {
  for (const time of [start, end, from]) writer.double(time);
  writer.count(keys);
  writeRanges(writer, missed);
}

export const readClosedDay = (reader: Decoder): ClosedDay => ({
  ...{ start: reader.double(), end: reader.double(), from: reader.double() },
  ...{ keys: reader.count(), missed: readRanges(reader) },
});
