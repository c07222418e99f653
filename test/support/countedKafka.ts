/** Kafka's workers under "counted once": partitions that move between workers whose calls of the cluster fail. */
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import { readCommitted } from "../../packages/kafka/src/committed.js";
import { MemoryCluster } from "../../packages/kafka/src/memory/memoryCluster.js";
import type { Port, TransactionalWriter } from "../../packages/kafka/src/port.js";
import { topicPlan } from "../../packages/kafka/src/topics.js";
import { readPublishedRecord } from "../../packages/kafka/src/values.js";
import { type KafkaWorker, makeWorker, type WorkerOptions } from "../../packages/kafka/src/worker.js";
import type { Path, Place } from "./countedOnce.js";

const [PARTITIONS, KEYS] = [2, 4];
const ONE = Buffer.alloc(8);
ONE.writeDoubleBE(1);
const OPTIONS: WorkerOptions = {
  ...{ group: "counted", in: "in", state: "state", out: "out", development: true },
  key: new Uint8Array(32).fill(7),
  stream: {
    ...{ epsilon: 128, max: 1, threshold: 1, holdout: 0, maxRange: 16 },
    tuning: { fanout: 4, skipLevels: 0, resolution: 1 },
  },
  ...{ commitInterval: 1, sealEvery: 3, values: "float64", format: "binary" },
};
/** An opening makes a dozen calls, and each failure costs a pause. */
const ODDS = 0.1;
/** Milliseconds that a call of `publish` waits. */
const PATIENCE = 200;

/** Workers wait for up to two seconds after failures: here they wait a part of that, as do all users of this clock. */
const HASTE = 20;
let hasty = false;

function makeHaste(): void {
  if (hasty) return;
  hasty = true;
  const wait = timers.setTimeout;
  timers.setTimeout = ((time: number, ...rest: [undefined, object]) =>
    wait(time / HASTE, ...rest)) as typeof wait;
  syncBuiltinESMExports();
}

/** A port whose calls fail, and those of the writers that it makes. */
function failingPort(port: Port, fail: Place["fail"]): Port {
  const call = <T>(act: () => Promise<T>, undo?: (result: T) => void): Promise<T> => fail(act, ODDS, undo);
  const failingWriter = (writer: TransactionalWriter): TransactionalWriter => ({
    write: (writes) => call(() => writer.write(writes)),
    commit: () => call(() => writer.commit()),
    close: () => writer.close(),
  });
  return {
    describe: (topics) => call(() => port.describe(topics)),
    create: (topics) => port.create(topics),
    bounds: (topic, partition) => call(() => port.bounds(topic, partition)),
    fetch: (options) => call(() => port.fetch(options)),
    writer: async (id) => failingWriter(await call(() => port.writer(id))),
    send: (writes) => port.send(writes),
    join: (options) =>
      call(
        () => port.join(options),
        (membership) => void membership.leave(),
      ),
    close: () => port.close(),
  };
}

interface Cluster {
  readonly port: Port;
  readonly ready: Promise<void>;
  readonly workers: Set<KafkaWorker>;
  sent: number;
}

/** Everything that a reader of committed data sees. A position that comes again has a place of its own. */
async function committed(port: Port): Promise<Map<string, number>> {
  const published = new Map<string, number>();
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const { start, end } = await port.bounds(OPTIONS.out, partition);
    for await (const records of readCommitted(port, OPTIONS.out, partition, start, end))
      for (const record of records) {
        const { name, position, value } = readPublishedRecord(record, "binary");
        let place = `${name}, ${position}`;
        while (published.has(place)) place += ", again";
        published.set(place, value);
      }
  }
  return published;
}

/** @param planted changes the port of every worker: a rule that is left out */
export const kafkaWorkers = (planted = (port: Port): Port => port): Path => ({
  name: "Kafka in memory",
  ...{ items: 40, writers: 3, heldOut: 0, alike: true, releases: [] },
  open(place) {
    makeHaste();
    const cluster = place.shared((): Cluster => {
      const port = new MemoryCluster().port();
      const ready = port.create(topicPlan(OPTIONS, PARTITIONS, { development: true }));
      return { port, ready, workers: new Set<KafkaWorker>(), sent: 0 };
    });
    const { port, workers } = cluster;
    const failing = failingPort(planted(port), place.fail);
    let starting: Promise<void> | undefined;
    const start = (): Promise<void> =>
      (starting ??= cluster.ready.then(async () => {
        const worker = makeWorker(failing, OPTIONS);
        await worker.start();
        workers.add(worker);
      })).catch((error: unknown) => {
        starting = undefined;
        throw Object.assign(error as Error, { retryable: true });
      });
    return {
      // A producer is no part of Brume: what is in the log is accepted.
      async send(items) {
        await start();
        for (const item of items) {
          const records = [{ key: Buffer.from(`key ${item % KEYS}`), value: ONE }];
          await port.send([{ topic: OPTIONS.in, partition: item % PARTITIONS, records }]);
        }
        cluster.sent += items.length;
      },
      read: () => committed(port),
      async publish() {
        await start();
        for (let left = PATIENCE; left > 0; left -= 10) {
          if ((await committed(port)).size >= cluster.sent) return;
          await timers.setTimeout(10 * HASTE);
        }
        throw new Error("cluster: expected all numbers, got fewer so far");
      },
      close: async () => void (await Promise.all([...workers].map((worker) => worker.stop()))),
    };
  },
  // A position holds one value.
  counted: (published) => new Map([[0, published.size]]),
});
