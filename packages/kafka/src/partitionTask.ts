/**
 * One partition's work:
 *
 *     open:   fence the writer before us ─▶ read the committed state ─▶ check it ─▶ replay what no snapshot has
 *     batch:  push the values in log order ─▶ ONE transaction { numbers, snapshots, manifest }
 *     error:  forget everything ─▶ open again, if the partition is still ours
 *
 * A transaction that failed may have been committed: only opening again finds out, so an error is never taken for
 * an abort. A stream publishes nothing in the transaction in which it is born: its noise key must be committed
 * first, or a second try would draw another one, and readers of uncommitted data would see a position with two
 * numbers (docs/cluster.md).
 */
import { Refusal } from "brume/node";
import { setTimeout as sleep } from "node:timers/promises";

import { fetchCommitted, type CommittedRecords } from "./committed.js";
import { Batch, type BatchSettings } from "./batch.js";
import type { Keyed } from "./keyed.js";
import type { Port, TransactionalWriter } from "./port.js";
import { Reopening } from "./reopening.js";
import { loadState, type PartitionState, type TopicFacts } from "./partitionState.js";
import { counterHeader } from "./values.js";

export interface TaskSettings extends BatchSettings {
  readonly facts: TopicFacts;
  /** Milliseconds between transactions. */
  readonly commitInterval: number;
}

/** Public counters. */
export interface TaskStats {
  received: number;
  published: number;
  unreadable: number;
  transactions: number;
  opened: number;
  /** Milliseconds that the last opening took. */
  opening: number;
  streams: number;
  /** Records of `in` that are not processed yet. */
  lag: number;
}

/** Numbers that one transaction holds at most. */
const MOST_OUTPUTS = 20_000;
/** Milliseconds without input after which everything is in a snapshot, so that `in` may be deleted by retention. */
const IDLE = 5_000;

/** The one writer of a partition's state and numbers. */
export function transactionalId({ place, in: topic }: Pick<TaskSettings, "place" | "in">): string {
  return `${place.group}/${topic}/${place.partition}`;
}

export class PartitionTask {
  readonly stats: TaskStats = {
    ...{ received: 0, published: 0, unreadable: 0, transactions: 0 },
    ...{ opened: 0, opening: 0, streams: 0, lag: 0 },
  };
  readonly #port: Port;
  readonly #settings: TaskSettings;
  readonly #life: Reopening;

  /** @param onError hears of every failure; a Refusal ends the task */
  constructor(port: Port, settings: TaskSettings, onError: (error: Error) => void) {
    this.#port = port;
    this.#settings = settings;
    this.#life = new Reopening(() => this.#open(), this.stats, onError);
  }

  /** Finishes what was fetched, takes snapshots of all streams, commits, and ends. */
  stop(): Promise<void> {
    return this.#life.stop();
  }

  async #open(): Promise<void> {
    const began = performance.now();
    const writer = await this.#port.writer(transactionalId(this.#settings));
    try {
      const state = await loadState(this.#port, this.#settings, this.#settings.facts, (loading, records) => {
        new Batch(this.#settings, loading).take(records);
      });
      this.stats.opened++;
      this.stats.opening = performance.now() - began;
      await this.#work(state, writer);
    } finally {
      await writer.close().catch(() => undefined);
    }
  }

  async #work(state: PartitionState, writer: TransactionalWriter): Promise<void> {
    const { commitInterval } = this.#settings;
    let batch = new Batch(this.#settings, state);
    let fetching = this.#fetch(state.next);
    let dirty = state.due(true).length > 0;
    let [committed, active] = [performance.now(), performance.now()];
    const commit = async (all = false) => {
      await this.#commit(state, batch, writer, all);
      batch = new Batch(this.#settings, state);
      committed = performance.now();
    };
    while (!this.#life.signal.aborted) {
      const left = Math.max(0, commitInterval - (performance.now() - committed));
      const fetched = await (batch.isEmpty
        ? this.#life.unlessStopped(fetching)
        : Promise.race([fetching, sleep(left)]));
      if (fetched !== undefined && !this.#life.signal.aborted) {
        this.#checkStart(fetched, state.next);
        fetching = this.#fetch(fetched.next);
        this.stats.lag = fetched.end - fetched.next;
        const newcomers = batch.newcomers(fetched.records);
        if (newcomers.length > 0) await this.commitBirths(newcomers, state, () => commit());
        batch.take(fetched.records);
        state.next = fetched.next;
        if (fetched.records.length > 0) active = performance.now();
        dirty ||= fetched.records.length > 0;
      }
      const isDue = performance.now() - committed >= commitInterval || batch.size >= MOST_OUTPUTS;
      if (!batch.isEmpty && isDue) await commit();
      else if (batch.isEmpty && dirty && performance.now() - active > IDLE) {
        await commit(true);
        dirty = false;
      }
    }
    if (!batch.isEmpty || dirty) await commit(true);
  }

  /** New streams go into a transaction with all numbers so far and none of their own. */
  protected async commitBirths(
    newcomers: readonly Keyed[],
    state: PartitionState,
    commit: () => Promise<void>,
  ): Promise<void> {
    for (const keyed of newcomers) state.add(keyed);
    await commit();
  }

  /** Fetched ahead: a failure is heard when the records are wanted, not before. */
  #fetch(from: number): Promise<CommittedRecords> {
    const { in: topic, place } = this.#settings;
    const fetching = fetchCommitted(this.#port, { topic, partition: place.partition, from, wait: 250 });
    fetching.catch(() => undefined);
    return fetching;
  }

  #checkStart({ start }: CommittedRecords, from: number): void {
    const { in: topic, place } = this.#settings;
    if (start > from)
      throw new Refusal(
        `${topic}[${place.partition}]: expected records from offset ${from}, got a log that starts at ${start}; ` +
          "retention deleted them before they were processed",
      );
  }

  async #commit(
    state: PartitionState,
    batch: Batch,
    writer: TransactionalWriter,
    all: boolean,
  ): Promise<void> {
    const { state: topic, out, deadLetters, place } = this.#settings;
    const { partition } = place;
    const snapshots = await Promise.all(state.due(all).map((keyed) => state.encrypt(keyed)));
    const manifest = state.manifest();
    const outputs = batch.outputs;
    if (outputs.length > 0) outputs.push({ ...outputs.pop()!, headers: [counterHeader(state.counter)] });
    await writer.write([
      { topic: out, partition, records: outputs },
      { topic, partition, records: [...snapshots, manifest] },
      ...(deadLetters === undefined
        ? []
        : [
            {
              topic: deadLetters.topic,
              partition: partition % deadLetters.partitions,
              records: batch.unreadable,
            },
          ]),
    ]);
    await writer.commit();
    this.stats.transactions++;
    this.stats.received += batch.received;
    this.stats.published += outputs.length;
    this.stats.unreadable += batch.unreadableCount;
    this.stats.streams = state.streams.size;
  }
}
