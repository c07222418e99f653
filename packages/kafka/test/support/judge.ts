/**
 * The judge of a run: it reads all topics with no help from the worker's code but the record formats, and compares
 * every number with a single process that has the same noise keys (the first snapshot of each stream).
 */
import { readCommitted } from "../../src/committed.js";
import { Keyed, type KeyedSettings } from "../../src/keyed.js";
import { Keyring } from "../../src/keys.js";
import { readState, type StateRecord } from "../../src/manifest.js";
import type { LogRecord, Port } from "../../src/port.js";
import { heartbeatTime, lastClosed, resolveTicks } from "../../src/ticks.js";
import { readName, readNumber, readPublishedRecord } from "../../src/values.js";
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
  const seen = new Map<string, number>();
  for (const record of await allCommitted(port, options.out, partition)) {
    const { name, position, value } = readPublishedRecord(record, format);
    const id = `${position}/${name}`;
    verdict.committed++;
    if (seen.has(id)) verdict.doubled++;
    seen.set(id, value);
    if (!Object.is(expected.get(id), value)) verdict.wrong++;
  }
  verdict.expected += expected.size;
  for (const id of expected.keys()) if (!seen.has(id)) verdict.missing++;
  const uncommitted = new Map<string, number>();
  for (const record of await allUncommitted(port, options.out, partition)) {
    const { name, position, value } = readPublishedRecord(record, format);
    const id = `${position}/${name}`;
    const before = uncommitted.get(id);
    if (before !== undefined) verdict.repeated++;
    if (before !== undefined && !Object.is(before, value)) verdict.differing++;
    uncommitted.set(id, value);
  }
}

/** All numbers of a partition, by position and name, as one process without faults gives them. */
async function singleProcess(port: Port, options: WorkerOptions, partition: number, verdict: Verdict) {
  const births = new Map<string, Extract<StateRecord, { kind: "stream" }>>();
  for (const record of await allCommitted(port, options.state, partition)) {
    const state = readState(record);
    if (state.kind === "stream" && !births.has(state.name)) births.set(state.name, state);
  }
  verdict.streams += births.size;
  const ticks = options.ticks && resolveTicks(options.ticks);
  const place = { group: options.group, partition };
  const settings: KeyedSettings = { stream: options.stream, ticks, keys: new Keyring(options.key), place };
  const streams = new Map<string, Keyed>();
  for (const [name, birth] of births) streams.set(name, await Keyed.restore(birth, settings));
  const numbers = new Map<string, number>();
  for (const record of await allCommitted(port, options.in, partition)) {
    const time = heartbeatTime(record);
    const read = readName(record.key);
    const value = readNumber(record, options.values ?? "json");
    const keyed = "name" in read ? streams.get(read.name) : undefined;
    const outputs = [];
    if (time !== undefined && ticks !== undefined)
      for (const stream of streams.values()) {
        if (record.offset >= stream.sealedAt)
          outputs.push(stream.close(lastClosed(time, ticks), record.offset));
      }
    else if (keyed !== undefined && !Number.isNaN(value) && record.offset >= keyed.sealedAt) {
      verdict.values++;
      keyed.take(value, record.timestamp, record.offset);
      if (ticks === undefined) outputs.push(keyed.push());
    }
    for (const { keyed: stream, from, values } of outputs)
      values.forEach((number, i) => numbers.set(`${from + i}/${stream.name}`, number));
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
