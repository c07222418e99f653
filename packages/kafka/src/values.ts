/** Values as bytes: how they are read from `in` and written to `out`. */
import { TextDecoder } from "node:util";

import type { Clipped, Limited } from "brume";

import type { LogRecord, NewRecord } from "./port.js";

/** An event of a person, for streams with `perPerson`. */
export interface PersonalValue {
  readonly value: number;
  readonly person: string;
}

/**
 * How a record's value is read: JSON (a number, or an object with the fields `value` and, where people are protected,
 * `person`), eight or four bytes, big-endian, or a function of your own. The function must depend on the record
 * alone: it runs again when a worker takes over, and must then give the same value.
 */
export type ValueFormat = "json" | "float64" | "float32" | ((record: LogRecord) => number | PersonalValue);

/** Why a record cannot be used. A word of this list is all that is ever said about it. */
export type Unreadable =
  "no key" | "key is not text" | "key is too long" | "no number" | "no time" | "no person" | "other zone";

/** Names are in state keys and in memory; a longer one is not a name. */
const LONGEST_NAME = 1024;
const LONGEST_ID = 1024;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The stream's name, if the key of a record is one. */
export function readName(key: Buffer | null): { readonly name: string } | { readonly reason: Unreadable } {
  if (key === null || key.length === 0) return { reason: "no key" };
  if (key.length > LONGEST_NAME) return { reason: "key is too long" };
  try {
    return { name: utf8.decode(key) };
  } catch {
    return { reason: "key is not text" };
  }
}

/** The number in a record, or NaN. Never throws. */
export function readNumber(record: LogRecord, format: ValueFormat): number {
  const { value } = record;
  try {
    if (typeof format === "function") return finite(numberIn(format(record)));
    if (value === null) return NaN;
    if (format === "float64") return value.length === 8 ? finite(value.readDoubleBE(0)) : NaN;
    if (format === "float32") return value.length === 4 ? finite(value.readFloatBE(0)) : NaN;
    return finite(numberIn(JSON.parse(value.toString())));
  } catch {
    return NaN;
  }
}

/** The id of the person in a record, or undefined. Never throws. */
export function readPerson(record: LogRecord, format: ValueFormat): string | undefined {
  try {
    const read =
      typeof format === "function"
        ? format(record)
        : format === "json"
          ? (JSON.parse(record.value!.toString()) as unknown)
          : undefined;
    const person = (read as Partial<PersonalValue> | null | undefined)?.person;
    return typeof person === "string" && person.length > 0 && person.length <= LONGEST_ID
      ? person
      : undefined;
  } catch {
    return undefined;
  }
}

function numberIn(read: unknown): unknown {
  return typeof read === "object" && read !== null ? (read as { value?: unknown }).value : read;
}

function finite(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : NaN;
}

/** The last number of a transaction carries the transaction's number in this header (float64, big-endian). */
export const COUNTER_HEADER = "transaction";

export function counterHeader(counter: number): [string, Buffer] {
  const value = Buffer.alloc(8);
  value.writeDoubleBE(counter);
  return [COUNTER_HEADER, value];
}

/**
 * Format of published records: JSON text, or float64 numbers, big-endian: position and value; of event streams then from, to, low,
 * high, standardError, the three numbers of `limited` and of `clipped` (NaN if there are none); then sum and count of a
 * mean, or countError and the counts of a histogram.
 */
export type OutputFormat = "json" | "binary";

export interface Published {
  /** The record's key: which stream. */
  readonly name: string;
  /** 0 for the first number of the stream; each number has the next one. */
  readonly position: number;
  /** The number: unbiased, may be negative. Of a histogram how many events there are. */
  readonly value: number;
  /** The period of an event stream that the number is about, in milliseconds since 1970. */
  readonly from?: number;
  readonly to?: number;
  /** An interval of an event stream that holds the true number in 95 % of all draws of the noise, whatever the data. */
  readonly low?: number;
  readonly high?: number;
  readonly standardError?: number;
  /** The share of people with events that were not counted; of the longest level, with people. */
  readonly limited?: Limited;
  /** How many events were above θ in the days of the period; of the longest level, if θ is chosen. */
  readonly clipped?: Clipped;
  /** The sum of the values of a mean, and how many events there were. */
  readonly sum?: number;
  readonly count?: number;
  /** The events of each bucket of a histogram, and the standard error of each. */
  readonly counts?: readonly number[];
  readonly countError?: number;
}

export function publishedRecord(
  key: Buffer,
  published: Omit<Published, "name">,
  format: OutputFormat,
): NewRecord {
  if (format === "json") return { key, value: Buffer.from(JSON.stringify(published)) };
  const numbers = numbersOf(published);
  const bytes = Buffer.allocUnsafe(8 * numbers.length);
  for (let i = 0; i < numbers.length; i++) bytes.writeDoubleBE(numbers[i]!, 8 * i);
  return { key, value: bytes };
}

const NO_SHARE = [NaN, NaN, NaN];

function numbersOf(published: Omit<Published, "name">): number[] {
  const { position, value, from, to, low, high, standardError, limited, clipped } = published;
  const { sum, count, counts, countError } = published;
  if (from === undefined) return [position, value];
  return [
    ...[position, value, from, to!, low!, high!, standardError!],
    ...(limited === undefined ? NO_SHARE : [limited.share, limited.low, limited.high]),
    ...(clipped === undefined ? NO_SHARE : [clipped.events, clipped.low, clipped.high]),
    ...(sum === undefined ? [] : [sum, count!]),
    ...(counts === undefined ? [] : [countError!, ...counts]),
  ];
}

export function readPublishedRecord({ key, value }: LogRecord, format: OutputFormat): Published {
  if (key === null || value === null)
    throw new TypeError("out: expected a published number, got an empty record");
  const name = key.toString();
  if (format === "json") return { name, ...(JSON.parse(value.toString()) as Omit<Published, "name">) };
  const numbers = Array.from({ length: value.length / 8 }, (_, i) => value.readDoubleBE(8 * i));
  return { name, ...publishedOf(numbers) };
}

function publishedOf(numbers: readonly number[]): Omit<Published, "name"> {
  const [position, value, from, to, low, high, standardError] = numbers as [number, ...number[]] & number[];
  if (from === undefined) return { position, value: value! };
  const [share, shareLow, shareHigh, events, eventsLow, eventsHigh, ...rest] = numbers.slice(7);
  return {
    ...{ position, value: value!, from, to: to!, low: low!, high: high!, standardError: standardError! },
    ...(Number.isNaN(share) ? {} : { limited: { share: share!, low: shareLow!, high: shareHigh! } }),
    ...(Number.isNaN(events) ? {} : { clipped: { events: events!, low: eventsLow!, high: eventsHigh! } }),
    ...(rest.length === 2 ? { sum: rest[0]!, count: rest[1]! } : {}),
    ...(rest.length > 2 ? { countError: rest[0]!, counts: rest.slice(1) } : {}),
  };
}
