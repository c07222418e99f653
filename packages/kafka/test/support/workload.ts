/** Topics, options and values that the tests share. */
import type { NewRecord, Port } from "../../src/port.js";
import { topicPlan } from "../../src/topics.js";
import type { WorkerOptions } from "../../src/worker.js";
import { judge, type Verdict } from "./judge.js";

export function testOptions(name: string, more: Partial<WorkerOptions> = {}): WorkerOptions {
  return {
    ...{ group: name, in: `${name}-in`, state: `${name}-state`, out: `${name}-out`, development: true },
    key: new Uint8Array(32).fill(7),
    // θ is public and blocks are small, so that numbers come at once and their noise shows in every one.
    stream: { epsilon: 1, max: 100, threshold: 100, maxRange: 256, tuning: { fanout: 4, skipLevels: 0 } },
    ...{ commitInterval: 20, sealEvery: 8, values: "float64", format: "binary" },
    ...more,
  };
}

export async function makeTopics(
  port: Port,
  options: WorkerOptions,
  partitions: number,
  replicas = 1,
): Promise<void> {
  await port.create(topicPlan(options, partitions, { development: replicas < 3 }));
}

/** A value of a key: a wave of its own, equal in every run. */
export function valueRecord(key: number, index: number): NewRecord {
  const value = Buffer.alloc(8);
  value.writeDoubleBE(Math.round(50 + 40 * Math.sin(index / 7 + key)));
  return { key: Buffer.from(`key-${key}`), value };
}

/** Sends value `index` of the keys [first, keys) to the partition key mod partitions. */
export async function sendRound(
  port: Port,
  topic: string,
  partitions: number,
  keys: number,
  index: number,
  first = 0,
): Promise<void> {
  const writes = Array.from({ length: partitions }, (_, partition) => {
    const mine = Array.from({ length: keys }, (_, key) => key).filter(
      (key) => key >= first && key % partitions === partition,
    );
    return { topic, partition, records: mine.map((key) => valueRecord(key, index)) };
  });
  await port.send(writes.filter(({ records }) => records.length > 0));
}

/** The verdict once nothing is missing any more. */
export async function settled(port: Port, options: WorkerOptions): Promise<Verdict> {
  let verdict = await judge(port, options);
  await until(async () => (verdict = await judge(port, options)).missing === 0 && verdict.streams > 0);
  return verdict;
}

/** A run in which every position came once, with the number that a single process gives. */
export const RIGHT = { missing: 0, doubled: 0, wrong: 0, differing: 0 };

/** Waits until `ready` holds; fails after `limit` milliseconds. */
export async function until(ready: () => boolean | Promise<boolean>, limit = 60_000): Promise<void> {
  const end = Date.now() + limit;
  while (!(await ready())) {
    if (Date.now() > end) throw new Error(`not ready within ${limit} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
