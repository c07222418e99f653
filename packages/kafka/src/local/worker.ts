/** A worker that tallies packed reports: exactly once, in any number of processes. The owner of partition 0 decides θ of each day. */
import { Refusal } from "brume/node";
import { setTimeout as sleep } from "node:timers/promises";

import { aggregator } from "brume";

import { fetchCommitted } from "../committed.js";
import { added, GroupTasks, type MemberOptions } from "../groupTasks.js";
import type { ConnectOptions } from "../kafka/connections.js";
import { kafkaPort } from "../kafka/kafkaPort.js";
import type { Port, TransactionalWriter } from "../port.js";
import { Reopening } from "../reopening.js";
import { checkLocalTopics, type LocalOptions } from "./options.js";
import { PartitionTallies } from "./partitionTallies.js";
import { decideTerms, readTerms } from "./threshold.js";

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

/** A worker for reports of devices on any port, which stays open. */
export function makeLocalWorker(port: Port, options: LocalWorkerOptions): LocalWorker {
  aggregator(options.local); // throws if the options are wrong
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

/** Milliseconds between looks at θ of a new day. */
const LOOK_EVERY = 1_000;

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
      const terms = await readTerms(this.#port, this.#options);
      await this.#work(
        await PartitionTallies.load(this.#port, this.#options, this.#partition, terms),
        writer,
      );
    } finally {
      await writer.close().catch(() => undefined);
    }
  }

  async #work(tallies: PartitionTallies, writer: TransactionalWriter): Promise<void> {
    const { reports: topic, tallies: state, commitInterval = 200 } = this.#options;
    const partition = this.#partition;
    let [looked, waiting] = [-Infinity, 0];
    /** At most once per second, unless records need it. */
    const learnTerms = async (isNeeded: boolean) => {
      if (!isNeeded && performance.now() - looked <= LOOK_EVERY) return;
      looked = performance.now();
      tallies.terms = await (partition === 0
        ? decideTerms(this.#port, this.#options, this.#options.group, Date.now())
        : readTerms(this.#port, this.#options));
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
      // A device has θ of a day after it was published, so reports that need it come after it.
      if (records.some(({ timestamp }) => tallies.needsTerms(timestamp))) await learnTerms(true);
      for (const record of records) tallies.take(record);
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
      if (tallies.needsTerms(Date.now())) await learnTerms(false);
      if (records.length > 0)
        await sleep(commitInterval, undefined, { signal: this.#life.signal }).catch(() => {});
    }
  }
}
