/** Values as bytes: how they are read from `in` and written to `out`. */
import { TextDecoder } from "node:util";

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
  "no key" | "key is not text" | "key is too long" | "no number" | "no time" | "no person";

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
 * What is published: JSON text, or float64 numbers, big-endian: position, value, and of event streams the start of
 * the tick; then the count of a mean, or the end of a histogram's block and its counts.
 */
export type OutputFormat = "json" | "binary";

export interface Published {
  /** The record's key: which stream. */
  readonly name: string;
  /** 0 for the first number of the stream. */
  readonly position: number;
  /** The number; of a mean the sum, of a histogram the number of all events. */
  readonly value: number;
  /** Of event streams: start of the tick, or of the histogram's block, in milliseconds since 1970. */
  readonly at?: number;
  /** Of a mean: how many events the tick has. */
  readonly count?: number;
  /** Of a histogram: end of the block, and the events of each bucket. */
  readonly until?: number;
  readonly counts?: readonly number[];
}

export function publishedRecord(
  key: Buffer,
  published: Omit<Published, "name">,
  format: OutputFormat,
): NewRecord {
  if (format === "json") return { key, value: Buffer.from(JSON.stringify(published)) };
  const { position, value, at, count, until, counts } = published;
  if (at === undefined) {
    const bytes = Buffer.allocUnsafe(16);
    bytes.writeDoubleBE(value, bytes.writeDoubleBE(position, 0));
    return { key, value: bytes };
  }
  const numbers = [position, value, at];
  if (count !== undefined) numbers.push(count);
  if (until !== undefined) numbers.push(until, ...counts!);
  const bytes = Buffer.allocUnsafe(8 * numbers.length);
  numbers.forEach((number, i) => bytes.writeDoubleBE(number, 8 * i));
  return { key, value: bytes };
}

export function readPublishedRecord({ key, value }: LogRecord, format: OutputFormat): Published {
  if (key === null || value === null)
    throw new TypeError("out: expected a published number, got an empty record");
  const name = key.toString();
  if (format === "json") return { name, ...(JSON.parse(value.toString()) as Omit<Published, "name">) };
  const numbers = Array.from({ length: value.length / 8 }, (_, i) => value.readDoubleBE(8 * i));
  const [position, number, at, next, ...counts] = numbers as [number, number, ...number[]];
  return {
    ...{ name, position, value: number },
    ...(at === undefined ? {} : { at }),
    ...(next === undefined ? {} : counts.length === 0 ? { count: next } : { until: next, counts }),
  };
}
