/** Transactions of Kafka, written so that every step is ours: who is fenced, what is retried, what is in doubt. */
import { type API, type Broker, initProducerIdV4 } from "@platformatic/kafka";

import { Fenced, type TransactionalWriter, type Write } from "../port.js";
import { encodeBatch, type Producer, runsOf } from "./batches.js";
import { type Connections, errorCode } from "./connections.js";
import { addPartitionsRequest, endTransactionRequest, produceRequest } from "./requests.js";

/** A transaction that stays open this long is aborted by the broker, so that readers are not held up. */
export const TRANSACTION_TIMEOUT = 10_000;
/** How long to wait for earlier transactions of the same writer to be decided. */
const INIT_LIMIT = 60_000;
const NONE: Producer = { id: -1n, epoch: -1, transactional: true };
const FENCED = new Set([
  "PRODUCER_FENCED",
  "INVALID_PRODUCER_EPOCH",
  "INVALID_PRODUCER_ID_MAPPING",
  "INVALID_TXN_STATE",
]);

/** Every earlier writer of this id is fenced, and its transactions are decided, when this resolves. */
export async function makeWriter(
  connections: Connections,
  transactionalId: string,
): Promise<TransactionalWriter> {
  const lane = `write/${transactionalId}`;
  return connections.retry(INIT_LIMIT, async () => {
    const coordinator = await connections.coordinator("transaction", transactionalId);
    const args: [string, number, bigint, number] = [
      transactionalId,
      TRANSACTION_TIMEOUT,
      NONE.id,
      NONE.epoch,
    ];
    const { producerId, producerEpoch } = await connections.request(
      lane,
      coordinator,
      initProducerIdV4.api,
      args,
    );
    const producer = { id: producerId, epoch: producerEpoch, transactional: true };
    return new KafkaWriter(connections, coordinator, transactionalId, lane, producer);
  });
}

class KafkaWriter implements TransactionalWriter {
  readonly #connections: Connections;
  readonly #coordinator: Broker;
  readonly #id: string;
  readonly #lane: string;
  readonly #producer: Producer;
  /** Records sent so far, by topic and partition; the broker refuses gaps and repeats. */
  readonly #sequences = new Map<string, number>();

  constructor(connections: Connections, coordinator: Broker, id: string, lane: string, producer: Producer) {
    this.#connections = connections;
    this.#coordinator = coordinator;
    this.#id = id;
    this.#lane = lane;
    this.#producer = producer;
  }

  write(writes: readonly Write[]): Promise<void> {
    const filled = writes.filter(({ records }) => records.length > 0);
    return this.#orFenced(async () => {
      // The transaction before this one may still be writing its markers: that passes.
      await this.#connections.retry(TRANSACTION_TIMEOUT, () =>
        this.#ask(addPartitionsRequest, [this.#id, this.#producer, filled]),
      );
      await Promise.all(filled.map((write) => this.#produce(write)));
    });
  }

  commit(): Promise<void> {
    return this.#orFenced(() => this.#ask(endTransactionRequest, [this.#id, this.#producer, true]));
  }

  async #orFenced(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (FENCED.has(errorCode(error) ?? ""))
        throw new Fenced(`${this.#id}: another worker has taken over`, { cause: error });
      throw error;
    }
  }

  #ask<Args extends unknown[]>(api: API<Args, void>, args: Args): Promise<void> {
    return this.#connections.request(this.#lane, this.#coordinator, api, args);
  }

  async close(): Promise<void> {
    await this.#connections.close(this.#lane);
  }

  /** Batches of one partition go one after the other: the broker counts them. */
  async #produce({ topic, partition, records }: Write): Promise<void> {
    const key = `${topic}/${partition}`;
    for (const run of runsOf(records)) {
      const sequence = this.#sequences.get(key) ?? 0;
      const batch = encodeBatch(run, this.#producer, sequence);
      const leader = await this.#connections.leader(topic, partition);
      const request = { topic, partition, transactionalId: this.#id, batch, timeout: 5000 };
      await this.#connections.request(this.#lane, leader, produceRequest, [request]);
      this.#sequences.set(key, (sequence + run.length) % 2 ** 31);
    }
  }
}
