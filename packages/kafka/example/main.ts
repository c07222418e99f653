/**
 * Brume on Kafka, live: one broker, two workers, 50 keys of the built-in stream. After ten seconds one worker is
 * killed; the other takes over. At the end every position is counted. `npm run example -- kafka [--seconds 20]`
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { exampleStream } from "../../../src/cli/example.js";
import { startCluster } from "../broker/broker.js";
import { fetchCommitted } from "../src/committed.js";
import { kafkaPort, topicPlan } from "../src/index.js";
import type { Port } from "../src/port.js";
import { readPublishedRecord } from "../src/values.js";
import { example, KEYS } from "./settings.js";

const { values: given } = parseArgs({ options: { seconds: { type: "string", default: "20" } } });
const seconds = Number(given.seconds);
const [PARTITIONS, PACE] = [4, 100]; // one value per key ten times a second

/** Positions that came, by key; what comes twice or out of order is counted. */
class Watcher {
  readonly next = new Map<string, number>();
  twice = 0;
  total = 0;
  last = "";
  running = true;

  async watch(port: Port, partition: number): Promise<void> {
    for (let from = 0; this.running;) {
      const read = await fetchCommitted(port, { topic: example.out, partition, from, wait: 200 });
      for (const record of read.records) {
        const { name, position, value } = readPublishedRecord(record, "json");
        if (position !== (this.next.get(name) ?? 0)) this.twice++;
        this.next.set(name, position + 1);
        this.total++;
        this.last = `${name} position ${position}: ${value.toFixed(1)}`;
      }
      from = read.next;
    }
  }
}

function startWorker(brokers: readonly string[], key: string): ChildProcess {
  const program = fileURLToPath(new URL("worker.ts", import.meta.url));
  const env = { ...process.env, BRUME_EXAMPLE_KEY: key };
  return spawn(process.execPath, ["--import", "tsx", program, brokers.join()], { stdio: "inherit", env });
}

console.log("starting a broker (the first time, 45 MB are fetched into a cache) …");
const cluster = await startCluster();
const port = kafkaPort({ brokers: cluster.brokers });
const key = randomBytes(32).toString("hex");
const workers: ChildProcess[] = [];
try {
  await port.create(topicPlan(example, PARTITIONS, { development: true }));
  const watcher = new Watcher();
  const watching = Promise.all(Array.from({ length: PARTITIONS }, (_, p) => watcher.watch(port, p)));
  workers.push(startWorker(cluster.brokers, key), startWorker(cluster.brokers, key));
  const streams = Array.from({ length: KEYS }, (_, i) => exampleStream(`shop ${i}`, (seconds * 1000) / PACE));
  let sent = 0;
  const rounds = (seconds * 1000) / PACE;
  for (let round = 0; round < rounds; round++) {
    const writes = Array.from({ length: PARTITIONS }, (_, partition) => ({
      ...{ topic: example.in, partition },
      records: streams
        .map((values, i) => ({ key: Buffer.from(`shop-${i}`), value: Buffer.from(String(values[round])) }))
        .filter((_, i) => i % PARTITIONS === partition),
    }));
    await port.send(writes);
    sent += KEYS;
    for (let wait = 0; round === 0 && watcher.total === 0 && wait < 600; wait++) await sleep(100); // for the workers
    if (round === rounds >> 1) {
      console.log("── worker 1 is killed (kill −9) ──");
      workers[0]!.kill("SIGKILL");
    }
    if (round % 10 === 0)
      console.log(`sent ${sent}, published ${watcher.total}, lag ${sent - watcher.total}   ${watcher.last}`);
    await sleep(PACE);
  }
  console.log("── no more values; the worker that is left catches up ──");
  for (let wait = 0; watcher.total < sent && wait < 600; wait++) await sleep(100);
  watcher.running = false;
  await watching;
  const each = [...watcher.next.values()];
  const whole = watcher.total === sent && watcher.twice === 0 && each.every((count) => count === rounds);
  console.log(`${sent} values, ${watcher.total} numbers, ${each.length} keys with ${rounds} positions each`);
  console.log(whole ? "every position came exactly once" : `NOT exactly once: ${watcher.twice} out of order`);
  process.exitCode = whole ? 0 : 1;
} finally {
  for (const worker of workers.filter(
    ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
  )) {
    worker.kill("SIGTERM");
    await Promise.race([once(worker, "exit"), sleep(10_000)]);
    worker.kill("SIGKILL");
  }
  await port.close();
  await cluster.stop();
}
