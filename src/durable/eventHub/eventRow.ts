/**
 * A row of a hub's journal: everything that was received between two commits. Every event takes the same number of bytes,
 * whether or not it counts, and so does the id of a request and the report of a device.
 *
 *     row    = time · told · closed at · missed at · days that begin · names of new keys · records · names · found keys
 *     record = metric (4) · key (4) · kind and hour (4) · granted (4) · hash (16) · value (8) · start (8) · day (8)
 *
 * Where votes make keys public, every event has room for a name, whether or not it votes.
 */
import { HOUR } from "../../events/days/calendar.js";
import type { Day } from "../../events/days/calendar.js";
import type { ReadEvent } from "../../events/intake.js";
import { NAME_WORDS, readName, writeName } from "../../events/keys/keyName.js";
import { Decoder, Encoder } from "../../snapshot/codec.js";

/** Kinds of records: the decision about an event, or something other than an event. */
export const Kind = {
  /** Late, early, or of a key that nobody listed: nothing changes. */
  dropped: 0,
  /** Counts in the open period of its key. */
  counted: 1,
  /** Counts in the hold-out. */
  held: 2,
  /** The person of the event has reached the limit. */
  limited: 3,
  /** The id of a request, and the hash of what it holds. */
  request: 4,
  /** A report of a device: 8 bytes. */
  report: 5,
  /** The end of a past that was filled from a log: periods up to a time are closed, or those before the present passed over. */
  past: 6,
} as const;

/** Added to the kind: the record has room for a name; its event voted for that name. */
const NAMED = 64;
const VOTED = 128;

/** Stands for a key that is not listed. */
export const NO_KEY = 0xffffffff;

export interface RowHead {
  /** When it was made; never before the row before. */
  readonly time: number;
  /** The newest time at which the hub was opened, or told to close periods. No event has a part in it. */
  readonly told: number;
  /** Periods that are due then are closed; NaN if none are. */
  readonly closeAt: number;
  /** Periods that were over then have no number, since no process listened; NaN if there are none. */
  readonly missedAt: number;
  /** Boundaries of days, fixed from now on. */
  readonly days: readonly Day[];
  /** Keys that came up for the first time, where a rule says which keys there are. */
  readonly names: readonly { readonly metric: number; readonly key: string }[];
  /** Changes of public keys by the votes of a day, metric by metric. */
  readonly found?: readonly FoundKeys[] | undefined;
}

/** Keys that votes made public, and keys that are public no more, from a day on. */
export interface FoundKeys {
  readonly metric: number;
  readonly from: number;
  readonly added: readonly string[];
  readonly gone: readonly string[];
}

/** One record, valid until the next one is read. */
export interface RowRecord {
  metric: number;
  key: number;
  kind: number;
  /** The hour of the day, from 0. */
  hour: number;
  /** Part of an event's value that counts. */
  granted: number;
  /** The name that its event voted for; undefined if it did not vote. */
  voted: string | undefined;
  readonly hash: Uint32Array;
  readonly more: Uint32Array;
}

/** Ends a past that was filled from a log. One of the two is NaN. */
export interface Past {
  /** Periods that end by then are published. */
  readonly to: number;
  /** Periods that began before have no number. */
  readonly now: number;
}

export interface EventRow extends RowHead {
  forEach(take: (record: RowRecord) => void): void;
}

const WORDS = 14;
const doubles = new Float64Array(3);
const doubleWords = new Uint32Array(doubles.buffer);

export class EventRowWriter {
  readonly #records: Uint32Array;
  readonly #names: Uint32Array;
  #count = 0;
  #named = 0;

  /**
   * @param records how many there are, at most
   * @param named how many of them have room for a name
   */
  constructor(records: number, named: number) {
    this.#records = new Uint32Array(WORDS * records);
    this.#names = new Uint32Array(NAME_WORDS * named);
  }

  /** Writes an event of a metric whose keys votes make public. @param voted the name that it voted for */
  voter(
    metric: number,
    key: number,
    kind: number,
    granted: number,
    event: ReadEvent | undefined,
    voted: string | undefined,
  ): void {
    writeName(voted, this.#names, NAME_WORDS * this.#named++);
    this.event(metric, key, kind + NAMED + (voted === undefined ? 0 : VOTED), granted, event);
  }

  event(metric: number, key: number, kind: number, granted: number, event: ReadEvent | undefined): void {
    doubles[0] = event?.value ?? 0;
    doubles[1] = event?.start ?? 0;
    doubles[2] = event?.day ?? 0;
    const hour = event === undefined ? 0 : Math.round((event.hour - event.day) / HOUR);
    this.#put(metric, key, kind + 256 * hour, granted, event?.hash, doubleWords);
  }

  /** @param body 4 words that stand for what the request holds */
  request(id: Uint32Array, body: Uint32Array): void {
    this.#put(0, NO_KEY, Kind.request, 0, id, body);
  }

  /** @param section the number of the section that takes it */
  report(section: number, report: Uint8Array): void {
    const words = new Uint32Array(2);
    new Uint8Array(words.buffer).set(report);
    this.#put(section, NO_KEY, Kind.report, 0, words, undefined);
  }

  past({ to, now }: Past): void {
    doubles[0] = to;
    doubles[1] = now;
    doubles[2] = 0;
    this.#put(0, NO_KEY, Kind.past, 0, undefined, doubleWords);
  }

  #put(
    metric: number,
    key: number,
    kind: number,
    granted: number,
    hash: Uint32Array | undefined,
    more: Uint32Array | undefined,
  ): void {
    const records = this.#records;
    const at = WORDS * this.#count++;
    records[at] = metric;
    records[at + 1] = key;
    records[at + 2] = kind;
    records[at + 3] = granted;
    if (hash !== undefined) copyWords(hash, 0, records, at + 4, hash.length);
    if (more !== undefined) copyWords(more, 0, records, at + 8, more.length);
  }

  bytes({ time, told, closeAt, missedAt, days, names, found }: RowHead): Uint8Array {
    const writer = new Encoder();
    for (const number of [time, told, closeAt, missedAt]) writer.double(number);
    writer.count(days.length);
    for (const { start, end } of days) for (const number of [start, end]) writer.double(number);
    writer.count(names.length);
    for (const { metric, key } of names) {
      writer.count(metric);
      writer.text(key);
    }
    writer.count(this.#count);
    writer.words(this.#records.subarray(0, WORDS * this.#count));
    writer.words(this.#names.subarray(0, NAME_WORDS * this.#named));
    if (found !== undefined) writeFound(writer, found);
    const { bytes } = writer;
    writer.wipe();
    return bytes;
  }
}

/** A row that changes nothing. */
export const rowAt = (time: number, told: number): Uint8Array =>
  new EventRowWriter(0, 0).bytes({ time, told, closeAt: NaN, missedAt: NaN, days: [], names: [] });

export function readRow(bytes: Uint8Array): EventRow {
  const reader = new Decoder(bytes);
  const [time, told] = [reader.double(), reader.double()];
  const [closeAt, missedAt] = [reader.double(), reader.double()];
  const days = Array.from({ length: reader.count() }, () => ({
    start: reader.double(),
    end: reader.double(),
  }));
  const names = Array.from({ length: reader.count() }, () => ({
    metric: reader.count(),
    key: reader.text(),
  }));
  const count = reader.count();
  const words = reader.words(WORDS * count);
  let named = 0;
  for (let at = 2; at < words.length; at += WORDS) if ((words[at]! & NAMED) !== 0) named++;
  const voted = reader.words(NAME_WORDS * named);
  const found = reader.rest.length === 0 ? [] : readFound(reader);
  return {
    ...{ time, told, closeAt, missedAt, days, names, found },
    forEach(take) {
      const record = {
        ...{ metric: 0, key: 0, kind: 0, hour: 0, granted: 0, voted: undefined as string | undefined },
        ...{ hash: new Uint32Array(4), more: new Uint32Array(6) },
      };
      for (let i = 0, at = 0, name = 0; i < count; i++, at += WORDS) {
        record.metric = words[at]!;
        record.key = words[at + 1]!;
        const kind = words[at + 2]!;
        record.kind = kind % NAMED;
        record.voted = (kind & VOTED) === 0 ? undefined : readName(voted, name);
        if ((kind & NAMED) !== 0) name += NAME_WORDS;
        record.hour = Math.floor(kind / 256);
        record.granted = words[at + 3]!;
        copyWords(words, at + 4, record.hash, 0, 4);
        copyWords(words, at + 8, record.more, 0, 6);
        take(record);
      }
    },
  };
}

function writeFound(writer: Encoder, found: readonly FoundKeys[]): void {
  writer.count(found.length);
  for (const { metric, from, added, gone } of found) {
    writer.count(metric);
    writer.double(from);
    for (const keys of [added, gone]) {
      writer.count(keys.length);
      for (const key of keys) writer.text(key);
    }
  }
}

function readFound(reader: Decoder): FoundKeys[] {
  const texts = () => Array.from({ length: reader.count() }, () => reader.text());
  return Array.from({ length: reader.count() }, () => ({
    metric: reader.count(),
    from: reader.double(),
    added: texts(),
    gone: texts(),
  }));
}

/** Copies some words. By hand: a view for `set` would cost more than so few of them. */
function copyWords(from: Uint32Array, start: number, to: Uint32Array, at: number, count: number): void {
  for (let i = 0; i < count; i++) to[at + i] = from[start + i]!;
}

export function pastOf({ more }: RowRecord): Past {
  copyWords(more, 0, doubleWords, 0, 6);
  return { to: doubles[0]!, now: doubles[1]! };
}

/** The event of a record. */
export function eventOf({ hour, hash, more }: RowRecord, key: string): ReadEvent {
  copyWords(more, 0, doubleWords, 0, 6);
  const [value, start, day] = doubles as unknown as [number, number, number];
  return { key, value, start, day, hour: day + hour * HOUR, hash };
}
