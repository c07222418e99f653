/** A worker that tallies packed reports: exactly once, in any number of processes. The owner of partition 0 decides θ. */
import { setTimeout as sleep } from "node:timers/promises";

import { aggregator } from "brume";

import { fetchCommitted } from "../committed.js";
import { added, GroupTasks, type MemberOptions } from "../groupTasks.js";
import type { ConnectOptions } from "../kafka/connections.js";
import { kafkaPort } from "../kafka/port.js";
import { Refusal } from "../keys.js";
import type { Port, TransactionalWriter } from "../port.js";
import { Reopening } from "../reopening.js";
import { bucketLength, checkLocalTopics, type LocalOptions } from "./options.js";
import { PartitionTallies } from "./tallies.js";
import { decideThreshold, readThreshold } from "./threshold.js";

export interface LocalWorkerOptions extends LocalOptions, MemberOptions {
  /** Milliseconds between transactions. Default 200. */
  readonly commitInterval?: number;
}

/** Public counters. */
export interface LocalWorkerStats {
  readonly partitions: readonly number[];
  /** Records that were tallied, and transactions. */
  readonly records: number;
  readonly transactions: number;
  readonly lag: number;
  readonly fenced: number;
  readonly refused: readonly number[];
}

export interface LocalWorker {
  start(): Promise<void>;
  /** Finishes what was fetched, commits it, leaves the group. */
  stop(): Promise<void>;
  stats(): LocalWorkerStats;
}

export function localWorker(options: LocalWorkerOptions & ConnectOptions): LocalWorker {
  const port = kafkaPort(options);
  const worker = makeLocalWorker(port, options);
  return { ...worker, stop: () => worker.stop().finally(() => port.close()) };
}

/** The same on any port, which stays open. */
export function makeLocalWorker(port: Port, options: LocalWorkerOptions): LocalWorker {
  bucketLength(options); // throws if the options are wrong
  aggregator({ ...options.local, history: 1 });
  const tasks = new GroupTasks<LocalTaskStats>(
    options,
    (partition, onError) => new LocalTask(port, options, partition, onError),
  );
  return {
    start: async () => {
      await checkLocalTopics(port, options, options);
      await tasks.join(port, options.reports);
    },
    stop: () => tasks.leave(),
    stats: () => ({
      ...{ partitions: tasks.partitions, fenced: tasks.fenced, refused: tasks.refused },
      records: added(tasks.all, "records"),
      transactions: added(tasks.all, "transactions"),
      lag: added(tasks.running, "lag"),
    }),
  };
}

interface LocalTaskStats {
  records: number;
  transactions: number;
  lag: number;
}

/** Milliseconds between looks at θ. */
const DECIDE_EVERY = 1_000;

class LocalTask {
  readonly stats: LocalTaskStats = { records: 0, transactions: 0, lag: 0 };
  readonly #port: Port;
  readonly #options: LocalWorkerOptions;
  readonly #partition: number;
  readonly #life: Reopening;

  constructor(port: Port, options: LocalWorkerOptions, partition: number, onError: (error: Error) => void) {
    this.#port = port;
    this.#options = options;
    this.#partition = partition;
    this.#life = new Reopening(() => this.#open(), this.stats, onError);
  }

  stop(): Promise<void> {
    return this.#life.stop();
  }

  async #open(): Promise<void> {
    const { group, reports } = this.#options;
    const writer = await this.#port.writer(`${group}/${reports}/${this.#partition}`);
    try {
      const theta = (await readThreshold(this.#port, this.#options))?.theta;
      const tallies = await PartitionTallies.load(this.#port, this.#options, this.#partition, theta);
      await this.#work(tallies, writer, theta !== undefined);
    } finally {
      await writer.close().catch(() => undefined);
    }
  }

  async #work(tallies: PartitionTallies, writer: TransactionalWriter, knows: boolean): Promise<void> {
    const { reports: topic, tallies: state, commitInterval = 200 } = this.#options;
    const partition = this.#partition;
    let [isKnown, decided, waiting] = [knows, 0, 0];
    const learnTheta = async (decide: boolean) => {
      const found = await (decide
        ? decideThreshold(this.#port, this.#options, this.#options.group)
        : readThreshold(this.#port, this.#options));
      if (found === undefined) return;
      tallies.theta = found.theta;
      isKnown = true;
    };
    while (!this.#life.signal.aborted) {
      const { records, next, start, end } = await fetchCommitted(this.#port, {
        ...{ topic, partition, from: tallies.next, wait: commitInterval },
      });
      if (start > tallies.next)
        throw new Refusal(
          `${topic}[${partition}]: expected records from offset ${tallies.next}, got a log that starts at ${start}; ` +
            "retention deleted them before they were processed",
        );
      for (const record of records) {
        if (!isKnown && tallies.needsTheta(record)) await learnTheta(false);
        tallies.take(record);
      }
      tallies.next = next;
      waiting += records.length;
      this.stats.lag = end - next;
      if (waiting > 0) {
        await writer.write([{ topic: state, partition, records: tallies.flush() }]);
        await writer.commit();
        this.stats.transactions++;
        this.stats.records += waiting;
        waiting = 0;
      }
      if (!isKnown && partition === 0 && performance.now() - decided > DECIDE_EVERY) {
        await learnTheta(true);
        decided = performance.now();
      }
      if (records.length > 0)
        await sleep(commitInterval, undefined, { signal: this.#life.signal }).catch(() => {});
    }
  }
}
