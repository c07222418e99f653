/** What a record of the log says: which events were taken, in order, and which ticks were closed after them. */
import type { Decoder, Encoder } from "../../stream/codec.js";

/** An event that was taken: its value is finite, its tick was open, its person had events left. */
export interface Entry {
  readonly metric: string;
  readonly key: string;
  readonly tick: number;
  readonly value: number;
  /** Of its person; empty where people are not counted. */
  readonly hash: Uint32Array;
}

export interface LogRecord {
  readonly entries: readonly Entry[];
  /** Metric → how many of its ticks are closed from now on. */
  readonly closes: ReadonlyMap<string, number>;
}

/** Names are written once for each stream. */
export function writeRecord(writer: Encoder, { entries, closes }: LogRecord): void {
  const streams = new Map<string, { readonly number: number; readonly entry: Entry }>();
  const numbers = entries.map((entry) => {
    const name = `${entry.metric}/${entry.key}`;
    let stream = streams.get(name);
    if (stream === undefined) streams.set(name, (stream = { number: streams.size, entry }));
    return stream.number;
  });
  writer.count(streams.size);
  for (const { entry } of streams.values()) {
    writer.text(entry.metric);
    writer.text(entry.key);
  }
  writer.count(entries.length);
  entries.forEach(({ tick, value, hash }, i) => {
    writer.count(numbers[i]!);
    writer.count(tick);
    writer.double(value);
    writer.count(hash.length);
    writer.words(hash);
  });
  writer.count(closes.size);
  for (const [metric, closed] of closes) {
    writer.text(metric);
    writer.count(closed);
  }
}

export function readRecord(reader: Decoder): LogRecord {
  const streams = Array.from({ length: reader.count() }, () => ({
    metric: reader.text(),
    key: reader.text(),
  }));
  const entries = Array.from({ length: reader.count() }, () => ({
    ...streams[reader.count()]!,
    tick: reader.count(),
    value: reader.double(),
    hash: reader.words(reader.count()),
  }));
  const closes = new Map(
    Array.from({ length: reader.count() }, () => [reader.text(), reader.count()] as const),
  );
  return { entries, closes };
}
