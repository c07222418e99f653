/**
 * Streams of many kinds, in two groups: decisions are made on *tuning*, and *fresh* says what they are worth.
 * The same numbers every time.
 */
import { FRESH } from "./fresh.js";
import { Source } from "./shapes.js";
import { TUNING } from "./tuning.js";

/** Stands in the keys of stored runs: change it with anything that changes a value. */
export const ZOO_VERSION = 1;

/** One value from the source, its position, and its position as a share of the stream. */
type ValueAt = (t: number, share: number) => number;

export type ZooStream = { readonly max: number } & (
  | { readonly value: (source: Source, t: number, share: number) => number }
  | { readonly begin: (source: Source) => ValueAt }
  | { readonly make: (length: number) => Float64Array }
);

export const ZOO = { tuning: TUNING, fresh: FRESH } as const;
export type ZooGroup = keyof typeof ZOO;

/** The streams of both groups by name. */
const ALL: Readonly<Record<string, ZooStream>> = { ...TUNING, ...FRESH };

export function zooMax(name: string): number {
  return ALL[name]!.max;
}

/** `length` values of a stream, in [0, max]. */
export const zooStream = (name: string, length: number): Float64Array =>
  makeStream(ALL[name]!, `zoo ${ZOO_VERSION}, ${name}`, length);

export function makeStream(stream: ZooStream, seed: string, length: number): Float64Array {
  if ("make" in stream) return stream.make(length);
  const source = new Source(seed);
  const value: ValueAt =
    "begin" in stream ? stream.begin(source) : (t, share) => stream.value(source, t, share);
  const values = new Float64Array(length);
  for (let t = 0; t < length; t++) values[t] = Math.min(stream.max, Math.max(0, value(t, t / length)));
  return values;
}
