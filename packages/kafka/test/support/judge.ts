/**
 * The judge of a run: it reads all topics with no help from the worker's code but the record formats, and compares
 * every number with a single process that has the same noise keys (the first snapshot of each stream).
 */
import { readCommitted } from "../../src/committed.js";
import { readHeartbeat } from "../../src/clock.js";
import { Keyed, type KeyedSettings } from "../../src/keyed.js";
import { Keyring } from "../../src/keyring.js";
import { readState, type StateRecord } from "../../src/manifest.js";
import type { LogRecord, Port } from "../../src/port.js";
import { needsPerson, type Output, takesEvents } from "../../src/streams.js";
import {
  type Published,
  publishedRecord,
  readName,
  readNumber,
  readPerson,
  readPublishedRecord,
} from "../../src/values.js";
import type { WorkerOptions } from "../../src/worker.js";

export interface Verdict {
  /** Values that were read from `in`. */
  values: number;
  /** Positions that should be published, and those that a committed reader sees. */
  expected: number;
  committed: number;
  missing: number;
  /** Positions that a committed reader sees more than once. */
  doubled: number;
  /** Numbers that differ from the single process. */
  wrong: number;
  /** Positions that a reader of uncommitted data sees more than once, and those with different numbers. */
  repeated: number;
  differing: number;
  streams: number;
}

export async function judge(port: Port, options: WorkerOptions): Promise<Verdict> {
  const verdict: Verdict = {
    ...{ values: 0, expected: 0, committed: 0, missing: 0, doubled: 0 },
    ...{ wrong: 0, repeated: 0, differing: 0, streams: 0 },
  };
  const { partitions } = (await port.describe([options.in]))[0]!;
  for (let partition = 0; partition < partitions; partition++)
    await judgePartition(port, options, partition, verdict);
  return verdict;
}

async function judgePartition(
  port: Port,
  options: WorkerOptions,
  partition: number,
  verdict: Verdict,
): Promise<void> {
  const expected = await singleProcess(port, options, partition, verdict);
  const format = options.format ?? "json";
  const seen = new Set<string>();
  for (const record of await allCommitted(port, options.out, partition)) {
    const published = readPublishedRecord(record, format);
    const id = idOf(published);
    verdict.committed++;
    if (seen.has(id)) verdict.doubled++;
    seen.add(id);
    if (expected.get(id) !== bits(published)) verdict.wrong++;
  }
  verdict.expected += expected.size;
  for (const id of expected.keys()) if (!seen.has(id)) verdict.missing++;
  const uncommitted = new Map<string, string>();
  for (const record of await allUncommitted(port, options.out, partition)) {
    const published = readPublishedRecord(record, format);
    const before = uncommitted.get(idOf(published));
    if (before !== undefined) verdict.repeated++;
    if (before !== undefined && before !== bits(published)) verdict.differing++;
    uncommitted.set(idOf(published), bits(published));
  }
}

const idOf = ({ position, name }: Pick<Published, "position" | "name">) => `${position}/${name}`;

/** Everything that was published at a position, bit for bit. */
function bits(published: Omit<Published, "name">): string {
  return publishedRecord(Buffer.alloc(0), published, "binary").value!.toString("hex");
}

/** Everything that a partition publishes, by position and name, as one process without faults gives it. */
async function singleProcess(port: Port, options: WorkerOptions, partition: number, verdict: Verdict) {
  const births = new Map<string, Extract<StateRecord, { kind: "stream" }>>();
  for (const record of await allCommitted(port, options.state, partition)) {
    const state = readState(record);
    if (state.kind === "stream" && !births.has(state.name)) births.set(state.name, state);
  }
  verdict.streams += births.size;
  const { stream, values = "json" } = options;
  const place = { group: options.group, partition };
  const settings: KeyedSettings = { stream, keys: new Keyring(options.key), place };
  const streams = new Map<string, Keyed>();
  for (const [name, birth] of births) streams.set(name, await Keyed.restore(birth, settings));
  const numbers = new Map<string, string>();
  const note = ({ name }: Keyed, outputs: readonly Output[]) =>
    outputs.forEach((output) => numbers.set(idOf({ ...output, name }), bits(output)));
  for (const record of await allCommitted(port, options.in, partition)) {
    const { offset, timestamp } = record;
    const beat = readHeartbeat(record);
    const read = readName(record.key);
    const value = readNumber(record, values);
    const person = needsPerson(stream) ? readPerson(record, values) : undefined;
    const keyed = "name" in read ? streams.get(read.name) : undefined;
    if (
      beat !== undefined &&
      takesEvents(stream) &&
      beat.zone === ((stream as { zone?: string }).zone ?? "UTC")
    )
      for (const each of streams.values()) {
        if (offset >= each.snapshotAt) note(each, each.beat(beat, offset));
      }
    else if (needsPerson(stream) && person === undefined) continue;
    else if (takesEvents(stream) && timestamp > 8.64e15) continue;
    else if (keyed !== undefined && !Number.isNaN(value) && offset >= keyed.snapshotAt) {
      verdict.values++;
      keyed.take(value, timestamp, person, offset);
      if (!takesEvents(stream)) note(keyed, keyed.push());
    }
  }
  return numbers;
}

async function allCommitted(port: Port, topic: string, partition: number): Promise<LogRecord[]> {
  const { start, end } = await port.bounds(topic, partition);
  const all: LogRecord[] = [];
  for await (const records of readCommitted(port, topic, partition, start, end))
    for (const record of records) all.push(record);
  return all;
}

export async function allUncommitted(port: Port, topic: string, partition: number): Promise<LogRecord[]> {
  const { start, end } = await port.bounds(topic, partition);
  const all: LogRecord[] = [];
  for (let from = start; from < end;) {
    const { batches } = await port.fetch({ topic, partition, from, committed: false, wait: 100 });
    for (const { records } of batches)
      for (const record of records) if (record.offset >= from) all.push(record);
    from = (batches.at(-1)?.lastOffset ?? from - 1) + 1;
  }
  return all;
}
