/**
 * Reading only what was committed. The broker withholds undecided records; it sends aborted ones along with a
 * list of aborted transactions, and the reader leaves them out, as Kafka's own client does.
 */
import type { Fetched, FetchOptions, LogRecord, Port } from "./port.js";

export interface CommittedRecords {
  readonly records: LogRecord[];
  /** Where to read next. Markers and aborted records take offsets too, so it may grow without records. */
  readonly next: number;
  readonly start: number;
  readonly end: number;
}

/** The records at `from` and later whose transaction was committed, or that had none. */
export function committedRecords(fetched: Fetched, from: number): CommittedRecords {
  const { batches, start, end } = fetched;
  const aborted = [...fetched.aborted].sort((a, b) => a.firstOffset - b.firstOffset);
  /** Producers inside a transaction that was aborted, at the current place of the log. */
  const aborting = new Set<bigint>();
  const records: LogRecord[] = [];
  let [next, started] = [from, 0];
  for (const batch of batches) {
    for (; started < aborted.length && aborted[started]!.firstOffset <= batch.lastOffset; started++)
      aborting.add(aborted[started]!.producerId);
    next = Math.max(next, batch.lastOffset + 1);
    if (batch.control === "abort") aborting.delete(batch.producerId);
    if (batch.control !== undefined || (batch.transactional && aborting.has(batch.producerId))) continue;
    for (const record of batch.records) if (record.offset >= from) records.push(record);
  }
  return { records, next, start, end };
}

/** Fetches and filters in one step. */
export async function fetchCommitted(
  port: Port,
  options: Omit<FetchOptions, "committed">,
): Promise<CommittedRecords> {
  return committedRecords(await port.fetch({ ...options, committed: true }), options.from);
}

/** All committed records in [from, to), one fetch after the other. Waits for what is still undecided. */
export async function* readCommitted(
  port: Port,
  topic: string,
  partition: number,
  from: number,
  to: number,
): AsyncGenerator<LogRecord[]> {
  while (from < to) {
    const { records, next, start } = await fetchCommitted(port, { topic, partition, from, wait: 100 });
    if (start > from)
      throw new RangeError(
        `${topic}[${partition}]: expected records from offset ${from}, got a log that starts at ${start}; ` +
          "retention deleted them",
      );
    yield (records.at(-1)?.offset ?? 0) < to ? records : records.filter(({ offset }) => offset < to);
    from = next;
  }
}

/**
 * All committed records of a partition, to the end that the broker vouches for: a leader that was just elected may know
 * less for a moment, and says so. Only for the holder of the writer, since it waits for transactions that are open.
 */
export async function* readAll(port: Port, topic: string, partition: number): AsyncGenerator<LogRecord[]> {
  const { start, end } = await port.bounds(topic, partition);
  yield* readCommitted(port, topic, partition, start, end);
}

/** All records that are committed by now. Does not wait for a transaction that is open: its worker may be dead. */
export async function* readDecided(
  port: Port,
  topic: string,
  partition: number,
): AsyncGenerator<LogRecord[]> {
  let from = (await port.bounds(topic, partition)).start;
  for (;;) {
    const { records, next, end } = await fetchCommitted(port, { topic, partition, from, wait: 1 });
    yield records;
    if (next >= end || next === from) return;
    from = next;
  }
}
