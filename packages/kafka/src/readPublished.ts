/**
 * Reads what was published. Each position is given once; one that comes again with the same number is left out, and
 * one that comes with another number is an alarm, since it means that the cluster lost state or that two groups
 * publish to the same topic.
 */
import type { ConnectOptions } from "./kafka/connections.js";
import { kafkaPort } from "./kafka/kafkaPort.js";
import { fetchCommitted } from "./committed.js";
import type { Port } from "./port.js";
import { type OutputFormat, type Published, readPublishedRecord } from "./values.js";

export interface ReadOptions {
  readonly topic: string;
  /** Default "json". */
  readonly format?: OutputFormat;
  /** Ends when everything committed at the start was read. Default: waits for more. */
  readonly toEnd?: boolean;
  readonly signal?: AbortSignal;
}

/** A position was published twice with different numbers, or positions are missing. */
export class PublishedTwice extends Error {
  override readonly name = "PublishedTwice";
}

export async function* readPublished(options: ReadOptions & ConnectOptions): AsyncGenerator<Published> {
  const port = kafkaPort(options);
  try {
    yield* readPublishedFrom(port, options);
  } finally {
    await port.close();
  }
}

/** Reads what is published on any port; partition after partition with `toEnd`, all together without. */
export async function* readPublishedFrom(port: Port, options: ReadOptions): AsyncGenerator<Published> {
  const { topic, toEnd = false, format = "json", signal } = options;
  const { partitions } = (await port.describe([topic]))[0]!;
  const readers = await Promise.all(
    Array.from({ length: partitions }, async (_, partition) => {
      const { start, end } = await port.bounds(topic, partition);
      return { partition, at: start, end: toEnd ? end : Infinity, streams: new Map<string, Seen>() };
    }),
  );
  const open = new Set(readers.filter(({ at, end }) => at < end));
  while (open.size > 0 && !signal?.aborted)
    for (const reader of open) {
      const { partition, streams } = reader;
      const wait = toEnd ? 500 : Math.ceil(100 / open.size);
      const { records, next } = await fetchCommitted(port, { topic, partition, from: reader.at, wait });
      for (const record of records) {
        const published = readPublishedRecord(record, format);
        if (isNew(published, streams)) yield published;
      }
      reader.at = next;
      if (reader.at >= reader.end) open.delete(reader);
    }
}

/** The newest numbers of a stream, to compare repeats with. Older repeats are judged by position alone. */
interface Seen {
  readonly first: number;
  next: number;
  readonly recent: Float64Array;
}

const REMEMBERED = 1024;

function isNew({ name, position, value }: Published, streams: Map<string, Seen>): boolean {
  const seen = streams.get(name) ?? { first: position, next: position, recent: new Float64Array(REMEMBERED) };
  streams.set(name, seen);
  const slot = position % REMEMBERED;
  if (position < seen.next) {
    const comparable = position >= Math.max(seen.first, seen.next - REMEMBERED);
    if (comparable && !Object.is(seen.recent[slot], value))
      throw new PublishedTwice(
        `position ${position}: published again with another number; stop reading and look at the cluster`,
      );
    return false;
  }
  if (position > seen.next)
    throw new PublishedTwice(
      `position ${position}: expected ${seen.next} first; records of the topic were lost`,
    );
  seen.recent[slot] = value;
  seen.next = position + 1;
  return true;
}
