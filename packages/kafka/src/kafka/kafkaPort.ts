/** A port on a real cluster. */
import { createTopicsV7, describeConfigsV4, initProducerIdV4, listOffsetsV8 } from "@platformatic/kafka";

import type {
  Fetched,
  FetchOptions,
  GroupOptions,
  Membership,
  NewTopic,
  Port,
  TopicDescription,
  TransactionalWriter,
  Write,
} from "../port.js";
import { encodeBatch, type Producer, runsOf } from "./batches.js";
import { Connections, type ConnectOptions, errorCode } from "./connections.js";
import { GroupMember } from "./groupMember.js";
import { fetchRequest, produceRequest } from "./requests.js";
import { makeWriter } from "./writer.js";

/** One megabyte a fetch: larger ones are slower, since memory is copied more often. */
const FETCH_BYTES = 1 << 20;
/** How long a request is repeated while leaders move. */
const LIMIT = 30_000;
/** Codes of Kafka's protocol: a topic, and the two ends of a log. */
const [TOPIC, EARLIEST, LATEST] = [2, -2n, -1n];

export function kafkaPort(options: ConnectOptions): Port {
  return new KafkaPort(new Connections(options));
}

class KafkaPort implements Port {
  readonly #connections: Connections;
  /** The identity for sends outside transactions, and the records sent per partition. */
  #sender: Promise<Producer> | undefined;
  readonly #sequences = new Map<string, number>();
  #sending: Promise<void> = Promise.resolve();

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  describe(names: readonly string[]): Promise<TopicDescription[]> {
    return this.#connections.retry(LIMIT, async () => {
      const { topics } = await this.#connections.metadata(names);
      const configurationKeys = null as unknown as string[]; // no list: all of them
      const resources = names.map((resourceName) => ({
        resourceType: TOPIC,
        resourceName,
        configurationKeys,
      }));
      const { results } = await this.#connections.any("control", describeConfigsV4.api, [
        resources,
        false,
        false,
      ]);
      return names.map((name) => {
        const { topicId, partitions } = topics.find((topic) => topic.name === name)!;
        const configs = results.find(({ resourceName }) => resourceName === name)!.configs;
        return {
          name,
          id: topicId,
          partitions: partitions.length,
          replicas: Math.min(...partitions.map(({ replicaNodes }) => replicaNodes.length)),
          config: Object.fromEntries(configs.map((config) => [config.name, config.value ?? ""])),
        };
      });
    });
  }

  async create(topics: readonly NewTopic[]): Promise<void> {
    const wanted = topics.map(({ name, partitions, replicas, config }) => ({
      name,
      numPartitions: partitions,
      replicationFactor: replicas,
      assignments: [],
      configs: Object.entries(config).map(([key, value]) => ({ name: key, value })),
    }));
    await this.#connections.any("control", createTopicsV7.api, [wanted, 10_000, false]);
    await this.describe(topics.map(({ name }) => name));
    // Until all partitions have a leader that serves them: a transaction does not repeat a write.
    for (const { name, partitions } of topics)
      await Promise.all(Array.from({ length: partitions }, (_, partition) => this.bounds(name, partition)));
  }

  async bounds(topic: string, partition: number): Promise<{ start: number; end: number }> {
    const [start, end] = [
      await this.#offset(topic, partition, EARLIEST),
      await this.#offset(topic, partition, LATEST),
    ];
    return { start, end };
  }

  fetch({ topic, partition, from, committed, wait, maxBytes = FETCH_BYTES }: FetchOptions): Promise<Fetched> {
    const lane = `fetch/${topic}/${partition}`;
    return this.#connections.retry(LIMIT, async () => {
      const leader = await this.#connections.leader(topic, partition);
      const request = { topic, partition, from, committed, wait, maxBytes };
      return this.#connections
        .request(lane, leader, fetchRequest, [request], wait)
        .catch(async (error: unknown) => {
          if (errorCode(error) !== "OFFSET_OUT_OF_RANGE") throw error;
          const bounds = await this.bounds(topic, partition);
          if (bounds.start <= from) throw error; // behind the end: the log was cut, or a leader is not up to date
          return { batches: [], aborted: [], ...bounds };
        });
    });
  }

  writer(transactionalId: string): Promise<TransactionalWriter> {
    return makeWriter(this.#connections, transactionalId);
  }

  /** Sends are queued: the broker counts the batches of a producer, and a retry must not overtake. */
  send(writes: readonly Write[]): Promise<void> {
    const sent = this.#sending.then(async () => {
      const producer = await (this.#sender ??= this.#identify());
      await Promise.all(writes.map((write) => this.#send(write, producer)));
    });
    this.#sending = sent.catch(() => undefined);
    return sent;
  }

  join(options: GroupOptions): Promise<Membership> {
    return Promise.resolve(new GroupMember(this.#connections, options));
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  async #send({ topic, partition, records }: Write, producer: Producer): Promise<void> {
    const key = `${topic}/${partition}`;
    for (const run of runsOf(records)) {
      const sequence = this.#sequences.get(key) ?? 0;
      const batch = encodeBatch(run, producer, sequence);
      const request = { topic, partition, transactionalId: null, batch, timeout: 5000 };
      await this.#connections.retry(LIMIT, async () => {
        const leader = await this.#connections.leader(topic, partition);
        // A batch that arrived before its answer was lost is a repeat: the broker knows it and takes it once.
        await this.#connections.request("send", leader, produceRequest, [request]).catch((error: unknown) => {
          if (errorCode(error) !== "DUPLICATE_SEQUENCE_NUMBER") throw error;
        });
      });
      this.#sequences.set(key, (sequence + run.length) % 2 ** 31);
    }
  }

  #identify(): Promise<Producer> {
    return this.#connections.retry(LIMIT, async () => {
      const args: [string | null, number, bigint, number] = [null, 0, -1n, -1];
      const { producerId, producerEpoch } = await this.#connections.any("send", initProducerIdV4.api, args);
      return { id: producerId, epoch: producerEpoch, transactional: false };
    });
  }

  #offset(topic: string, partition: number, timestamp: bigint): Promise<number> {
    return this.#connections.retry(LIMIT, async () => {
      const leader = await this.#connections.leader(topic, partition);
      const partitions = [{ partitionIndex: partition, currentLeaderEpoch: -1, timestamp }];
      const { topics } = await this.#connections.request("control", leader, listOffsetsV8.api, [
        -1,
        0,
        [{ name: topic, partitions }],
      ]);
      return Number(topics[0]!.partitions[0]!.offset);
    });
  }
}
