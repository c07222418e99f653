/** Throughput, latency and restore time of worker processes on a real broker. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

import { percentile } from "../chaos/recoveries.js";
import { fetchCommitted } from "../src/committed.js";
import type { NewRecord, Port } from "../src/port.js";
import { topicPlan } from "../src/topics.js";
import { readPublishedRecord } from "../src/values.js";
import type { WorkerStats } from "../src/worker.js";
import { benchOptions } from "./setting.js";
import type { ProcessSetting } from "./worker.js";

export interface Bench {
  readonly port: Port;
  readonly brokers: readonly string[];
  /** The worker program, as one file. */
  readonly program: string;
}

export interface Case {
  readonly name: string;
  readonly workers: number;
  readonly keys: number;
  readonly commitInterval: number;
  readonly isPrivate: boolean;
}

const PARTITIONS = 4;
/** Records per send of the producer. */
const BATCH = 10_000;

/** Values per second, from the first transaction to the last, with all values in the log before a worker starts. */
export async function throughput(bench: Bench, of: Case, values: number): Promise<number> {
  await makeTopics(bench.port, of);
  await fill(bench.port, of, values);
  const workers = start(bench, of);
  const times = await outputTimes(bench.port, of, values);
  await Promise.all(workers.map(end));
  const [first, last] = [times[0]!, times.at(-1)!];
  const later = times.filter((time) => time > first).length; // the first transaction began before it was seen
  return (1000 * later) / (last - first);
}

export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

/** Milliseconds from sending a value until a committed reader has its number, at a steady pace. */
export async function latency(bench: Bench, of: Case, perSecond: number, seconds: number): Promise<Latency> {
  await makeTopics(bench.port, of);
  const workers = start(bench, of);
  const [sent, delays]: [number[][], number[]] = [Array.from({ length: of.keys }, () => []), []];
  const reading = new AbortController();
  const watching = eachOutput(bench.port, of, reading.signal, (name, position) =>
    delays.push(performance.now() - sent[Number(name)]![position]!),
  );
  const rounds = Math.max(1, Math.round((perSecond * seconds) / of.keys));
  const began = performance.now();
  for (let round = 0; round < rounds; round++) {
    for (const times of sent) times.push(performance.now());
    await bench.port.send(writes(of, [round]));
    while (round === 0 && delays.length < of.keys) await sleep(20); // streams are born before the clock starts
    await sleep(Math.max(0, began + (1000 * round * seconds) / rounds - performance.now()));
  }
  const all = rounds * of.keys;
  for (let wait = 0; delays.length < all && wait < 600; wait++) await sleep(50);
  reading.abort();
  await watching;
  await Promise.all(workers.map(end));
  if (delays.length < all)
    throw new Error(`${of.name}: expected ${all} numbers within 30 s, got ${delays.length}`);
  const steady = delays.slice(of.keys);
  return { p50: percentile(steady, 0.5), p99: percentile(steady, 0.99) };
}

/** Milliseconds until a new worker has opened all partitions of a case whose streams are in the state topic. */
export async function restoreTime(bench: Bench, of: Case): Promise<number> {
  const [worker] = start(bench, { ...of, workers: 1 });
  const lines = createInterface({ input: worker!.stdout! });
  for await (const line of lines) {
    const { opened, opening } = JSON.parse(line) as WorkerStats;
    if (opened < PARTITIONS) continue;
    await end(worker!);
    return Math.max(...opening);
  }
  throw new Error(`${of.name}: expected the worker to open its partitions, got its end`);
}

function makeTopics(port: Port, of: Case): Promise<void> {
  return port.create(topicPlan(benchOptions(of), PARTITIONS, { development: true }));
}

function start({ brokers, program }: Bench, of: Case): ChildProcess[] {
  const setting: ProcessSetting = { ...of, brokers };
  return Array.from({ length: of.workers }, () =>
    spawn(process.execPath, [program, JSON.stringify(setting)], { stdio: ["ignore", "pipe", "inherit"] }),
  );
}

async function end(worker: ChildProcess): Promise<void> {
  const exited = once(worker, "exit");
  worker.kill("SIGTERM");
  const timer = setTimeout(() => worker.kill("SIGKILL"), 20_000);
  await exited;
  clearTimeout(timer);
}

/** Value `round` of every key, each in the partition of its key. */
function writes({ name, keys }: Case, rounds: readonly number[]) {
  const { in: topic } = benchOptions({ name, commitInterval: 1 });
  return Array.from({ length: PARTITIONS }, (_, partition) => {
    const records: NewRecord[] = [];
    for (const round of rounds)
      for (let key = partition; key < keys; key += PARTITIONS) {
        const value = Buffer.alloc(8);
        value.writeDoubleBE((key * 31 + round * 7) % 1000);
        records.push({ key: Buffer.from(String(key)), value });
      }
    return { topic, partition, records };
  }).filter(({ records }) => records.length > 0);
}

async function fill(port: Port, of: Case, values: number): Promise<void> {
  const perSend = Math.max(1, Math.floor(BATCH / of.keys));
  const rounds = Math.ceil(values / of.keys);
  for (let round = 0; round < rounds; round += perSend)
    await port.send(
      writes(
        of,
        Array.from({ length: Math.min(perSend, rounds - round) }, (_, i) => round + i),
      ),
    );
}

/** When each of the first `count` numbers was written, in order. */
async function outputTimes(port: Port, of: Case, count: number): Promise<number[]> {
  const times: number[] = [];
  const done = new AbortController();
  await eachOutput(port, of, done.signal, (_, __, time) => {
    times.push(time);
    if (times.length >= count) done.abort();
  });
  return times.sort((a, b) => a - b);
}

/** Calls with every committed number until it is stopped. */
async function eachOutput(
  port: Port,
  of: Case,
  signal: AbortSignal,
  call: (name: string, position: number, time: number) => void,
): Promise<void> {
  const topic = benchOptions(of).out;
  const watch = async (partition: number) => {
    for (let from = 0; !signal.aborted;) {
      const { records, next } = await fetchCommitted(port, { topic, partition, from, wait: 100 });
      for (const record of records) {
        const { name, position } = readPublishedRecord(record, "binary");
        call(name, position, record.timestamp);
      }
      from = next;
    }
  };
  await Promise.all(Array.from({ length: PARTITIONS }, (_, partition) => watch(partition)));
}
