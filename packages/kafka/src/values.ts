/** Values as bytes: how they are read from `in` and written to `out`. */
import { TextDecoder } from "node:util";

import type { LogRecord, NewRecord } from "./port.js";

/**
 * How a record's value is read: a JSON number (or an object with the number in the field `value`), eight or four
 * bytes, big-endian, or a function of your own. The function must depend on the record alone: it runs again when a
 * worker takes over, and must then give the same number.
 */
export type ValueFormat = "json" | "float64" | "float32" | ((record: LogRecord) => number);

/** Why a record cannot be used. A word of this list is all that is ever said about it. */
export type Unreadable = "no key" | "key is not text" | "key is too long" | "no number";

/** Names are in state keys and in memory; a longer one is not a name. */
const LONGEST_NAME = 1024;
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
    if (typeof format === "function") return finite(format(record));
    if (value === null) return NaN;
    if (format === "float64") return value.length === 8 ? finite(value.readDoubleBE(0)) : NaN;
    if (format === "float32") return value.length === 4 ? finite(value.readFloatBE(0)) : NaN;
    const parsed = JSON.parse(value.toString()) as unknown;
    return finite(
      typeof parsed === "object" && parsed !== null ? (parsed as { value?: unknown }).value : parsed,
    );
  } catch {
    return NaN;
  }
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

/** What is published: JSON text, or sixteen bytes (position and number, both float64, big-endian). */
export type OutputFormat = "json" | "binary";

export interface Published {
  /** The record's key: which stream. */
  readonly name: string;
  /** 0 for the first number of the stream. */
  readonly position: number;
  readonly value: number;
  /** Start of the tick in milliseconds since 1970, if there are ticks. */
  readonly at?: number;
}

export function publishedRecord(
  key: Buffer,
  { position, value, at }: Omit<Published, "name">,
  format: OutputFormat,
): NewRecord {
  if (format === "json") return { key, value: Buffer.from(JSON.stringify({ position, value, at })) };
  const bytes = Buffer.allocUnsafe(at === undefined ? 16 : 24);
  bytes.writeDoubleBE(position, 0);
  bytes.writeDoubleBE(value, 8);
  if (at !== undefined) bytes.writeDoubleBE(at, 16);
  return { key, value: bytes };
}

export function readPublishedRecord({ key, value }: LogRecord, format: OutputFormat): Published {
  if (key === null || value === null)
    throw new TypeError("out: expected a published number, got an empty record");
  const name = key.toString();
  if (format === "json") return { name, ...(JSON.parse(value.toString()) as Omit<Published, "name">) };
  const number = { name, position: value.readDoubleBE(0), value: value.readDoubleBE(8) };
  return value.length === 16 ? number : { ...number, at: value.readDoubleBE(16) };
}
