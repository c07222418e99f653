/** Throughput, latency and restore time of worker processes on a real broker. */
import { setTimeout as sleep } from "node:timers/promises";

import { percentile } from "../chaos/recoveries.js";
import { fetchCommitted, readDecided } from "../src/committed.js";
import type { NewRecord, Port } from "../src/port.js";
import { topicPlan } from "../src/topics.js";
import { readPublishedRecord } from "../src/values.js";
import { BenchProcess, processorPerValue } from "./processes.js";
import { benchOptions } from "./setting.js";

export interface Bench {
  readonly port: Port;
  readonly brokers: readonly string[];
  /** The worker program, as one file. */
  readonly program: string;
}

export interface Case {
  readonly name: string;
  /** Topic that holds the values. */
  readonly input: string;
  readonly workers: number;
  readonly keys: number;
  readonly commitInterval: number;
  readonly isPrivate: boolean;
}

const PARTITIONS = 4;
/** Records per send of the producer. */
const BATCH = 10_000;
/** Share of the numbers after which the clock starts: workers have joined and the loops are compiled. */
const WARM_UP = 0.2;

export interface Throughput {
  readonly perSecond: number;
  /** Microseconds of processor time of the workers, per value. */
  readonly processor: number;
}

/** All values are in the log before a worker starts. The clock runs from the first fifth of the numbers to the last one. */
export async function throughput(bench: Bench, of: Case, values: number): Promise<Throughput> {
  await makeTopics(bench.port, of);
  const workers = start(bench, of);
  const received = () => workers.reduce((sum, { last }) => sum + (last?.received ?? 0), 0);
  while (received() < values) {
    for (const worker of workers) worker.check();
    await sleep(50);
  }
  const processor = processorPerValue(workers);
  await Promise.all(workers.map((worker) => worker.end("SIGTERM")));
  const times = await outputTimes(bench.port, of, values); // read later: a reader would take its share of the processor
  const [from, to] = [times[Math.floor(WARM_UP * times.length)]!, times.at(-1)!];
  return { perSecond: (1000 * times.filter((time) => time > from).length) / (to - from), processor };
}

export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

/** Milliseconds from sending a value until a committed reader has its number, at a steady pace. */
export async function latency(bench: Bench, of: Case, perSecond: number, seconds: number): Promise<Latency> {
  await makeInput(bench.port, of);
  await makeTopics(bench.port, of);
  const workers = start(bench, of);
  const [sent, delays]: [number[][], number[]] = [Array.from({ length: of.keys }, () => []), []];
  const reading = new AbortController();
  const watching = eachOutput(bench.port, of, reading.signal, (name, position) =>
    delays.push(performance.now() - sent[Number(name)]![position]!),
  );
  const perRound = (1000 * of.keys) / perSecond;
  const warm = Math.ceil(2000 / perRound); // two seconds, in which streams are born and loops are compiled
  const rounds = warm + Math.max(1, Math.round((1000 * seconds) / perRound));
  let began = 0;
  for (let round = 0; round < rounds; round++) {
    for (const times of sent) times.push(performance.now());
    await bench.port.send(writes(of, [round]));
    while (round === 0 && delays.length < of.keys) await sleep(20);
    if (round === 0) began = performance.now();
    await sleep(Math.max(0, began + perRound * (round + 1) - performance.now()));
  }
  const all = rounds * of.keys;
  for (let wait = 0; delays.length < all && wait < 600; wait++) await sleep(50);
  reading.abort();
  await watching;
  await Promise.all(workers.map((worker) => worker.end("SIGTERM")));
  if (delays.length < all)
    throw new Error(`${of.name}: expected ${all} numbers within 30 s, got ${delays.length}`);
  const steady = delays.slice(warm * of.keys);
  return { p50: percentile(steady, 0.5), p99: percentile(steady, 0.99) };
}

export interface Restore {
  /** Milliseconds until a new worker has opened all partitions, after one that stopped and after one that was killed. */
  readonly stopped: number;
  readonly killed: number;
  /** Bytes of state per stream: key, headers' names left out, and encrypted snapshot. */
  readonly bytes: number;
}

/** Time and stored bytes of a restart, by the number of streams, with `perKey` values of each in the log. */
export async function restoreTime(bench: Bench, of: Case, perKey: number): Promise<Restore> {
  await makeInput(bench.port, of);
  await makeTopics(bench.port, of);
  await fill(bench.port, of, perKey * of.keys);
  const opening = async (worker: BenchProcess) =>
    Math.max(...(await worker.when(({ opened }) => opened === PARTITIONS)).opening);
  const [first] = start(bench, of);
  await first!.when(({ received }) => received >= perKey * of.keys);
  await first!.end("SIGKILL");
  const [second] = start(bench, of);
  const killed = await opening(second!);
  await second!.end("SIGTERM");
  const [third] = start(bench, of);
  const stopped = await opening(third!);
  await third!.end("SIGTERM");
  return { stopped, killed, bytes: (await stateBytes(bench.port, of)) / of.keys };
}

/** Bytes of the newest record of every key in the state topic. */
async function stateBytes(port: Port, of: Case): Promise<number> {
  const topic = benchOptions(of).state;
  const sizes = new Map<string, number>();
  for (let partition = 0; partition < PARTITIONS; partition++)
    for await (const records of readDecided(port, topic, partition))
      for (const { key, value } of records)
        sizes.set(`${partition} ${key!.toString("latin1")}`, key!.length + value!.length);
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

async function makeTopics(port: Port, of: Case): Promise<void> {
  const options = benchOptions(of);
  const plan = topicPlan(options, PARTITIONS, { development: true });
  await port.create(plan.filter(({ name }) => name !== options.in));
}

export async function makeInput(port: Port, of: Pick<Case, "input">): Promise<void> {
  const options = benchOptions({ ...of, name: "any", commitInterval: 1 });
  const plan = topicPlan(options, PARTITIONS, { development: true });
  await port.create(plan.filter(({ name }) => name === of.input));
}

function start({ brokers, program }: Bench, of: Case): BenchProcess[] {
  return Array.from({ length: of.workers }, () => new BenchProcess(program, { ...of, brokers }));
}

/** Value `round` of every key, each in the partition of its key. */
function writes({ input, keys }: Pick<Case, "input" | "keys">, rounds: readonly number[]) {
  return Array.from({ length: PARTITIONS }, (_, partition) => {
    const records: NewRecord[] = [];
    for (const round of rounds)
      for (let key = partition; key < keys; key += PARTITIONS) {
        const value = Buffer.alloc(8);
        value.writeDoubleBE((key * 31 + round * 7) % 1000);
        records.push({ key: Buffer.from(String(key)), value });
      }
    return { topic: input, partition, records };
  }).filter(({ records }) => records.length > 0);
}

export async function fill(port: Port, of: Pick<Case, "input" | "keys">, values: number): Promise<void> {
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
