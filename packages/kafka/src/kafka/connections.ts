/**
 * Connections to the brokers of a cluster, by lane. A broker answers the requests of one connection one after the
 * other, so a request that waits for data would hold up all others: each task has lanes of its own.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { ConnectionOptions as TlsOptions } from "node:tls";

import {
  type API,
  type Broker,
  Connection,
  findCoordinatorV4,
  metadataV12,
  parseBroker,
  type SASLOptions,
} from "@platformatic/kafka";

type MetadataResponse = metadataV12.MetadataResponse;

export interface ConnectOptions {
  /** `host:port` of some brokers; the others are found through them. */
  readonly brokers: readonly string[];
  readonly clientId?: string;
  /** As for `tls.connect`. */
  readonly tls?: TlsOptions;
  readonly sasl?: SASLOptions;
  /** Milliseconds after which an unanswered request fails and its connection is closed. Default 10,000. */
  readonly requestTimeout?: number;
}

/** Errors of brokers that pass by themselves; the operation is tried again, after looking where the leader is. */
const PASSING = new Set([
  "CONCURRENT_TRANSACTIONS",
  "COORDINATOR_LOAD_IN_PROGRESS",
  "COORDINATOR_NOT_AVAILABLE",
  "KAFKA_STORAGE_ERROR",
  "LEADER_NOT_AVAILABLE",
  "NETWORK_EXCEPTION",
  "NOT_COORDINATOR",
  "NOT_ENOUGH_REPLICAS",
  "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
  "NOT_LEADER_OR_FOLLOWER",
  "OFFSET_NOT_AVAILABLE",
  "REPLICA_NOT_AVAILABLE",
  "REQUEST_TIMED_OUT",
  "FENCED_LEADER_EPOCH",
  "UNKNOWN_LEADER_EPOCH",
  "UNKNOWN_TOPIC_OR_PARTITION",
]);
const [FIRST_DELAY, LONGEST_DELAY] = [5, 500];

export class Connections {
  readonly #options: ConnectOptions;
  readonly #bootstrap: readonly Broker[];
  readonly #open = new Map<string, Promise<Connection>>();
  #metadata: MetadataResponse | undefined;
  #closed = false;

  constructor(options: ConnectOptions) {
    this.#options = options;
    this.#bootstrap = options.brokers.map((address) => parseBroker(address, 9092));
  }

  /** Sends one request on a lane and waits for its answer. */
  async request<Args extends unknown[], T>(
    lane: string,
    broker: Broker,
    api: API<Args, T>,
    args: Args,
    wait = 0,
  ): Promise<T> {
    const limit = wait + (this.#options.requestTimeout ?? 10_000);
    const id = `${lane}@${broker.host}:${broker.port}`;
    const connection = await this.#connection(id, broker);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.#drop(id, connection); // its answer may still come, and must not be taken for another one
        reject(new Error(`broker ${broker.host}:${broker.port}: no answer within ${limit} ms`));
      }, limit);
    });
    try {
      return await Promise.race([api.async(connection, ...args), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Tries until it succeeds, fails for good, or `limit` milliseconds are over. */
  async retry<T>(limit: number, attempt: () => Promise<T>): Promise<T> {
    const end = performance.now() + limit; // not the wall clock, which may jump
    for (let delay = FIRST_DELAY; ; delay = Math.min(2 * delay, LONGEST_DELAY)) {
      try {
        return await attempt();
      } catch (error) {
        const code = errorCode(error);
        const passes = code === undefined || PASSING.has(code); // without a code: the network
        if (!passes || this.#closed || performance.now() + delay > end) throw error;
        if (code !== "CONCURRENT_TRANSACTIONS") this.#metadata = undefined;
        await sleep(delay);
      }
    }
  }

  /** The broker that leads a partition. */
  async leader(topic: string, partition: number): Promise<Broker> {
    const find = (metadata: MetadataResponse | undefined) => {
      const of = metadata?.topics.find(({ name }) => name === topic)?.partitions;
      const id = of?.find(({ partitionIndex }) => partitionIndex === partition)?.leaderId;
      return metadata?.brokers.find(({ nodeId }) => nodeId === id);
    };
    const leader = find(this.#metadata) ?? find(await this.metadata([topic]));
    if (leader === undefined) throw new Error(`${topic}[${partition}]: no leader at the moment`);
    return leader;
  }

  async metadata(topics: readonly string[]): Promise<MetadataResponse> {
    const names = new Set([...topics, ...(this.#metadata?.topics ?? []).map(({ name }) => name!)]);
    return (this.#metadata = await this.any("control", metadataV12.api, [[...names], false, false]));
  }

  forgetMetadata(): void {
    this.#metadata = undefined;
  }

  async coordinator(kind: "group" | "transaction", key: string): Promise<Broker> {
    const kinds = { group: 0, transaction: 1 };
    const { coordinators } = await this.any("control", findCoordinatorV4.api, [kinds[kind], [key]]);
    return coordinators[0]!;
  }

  /** The first broker that answers. */
  async any<Args extends unknown[], T>(lane: string, api: API<Args, T>, args: Args): Promise<T> {
    let last: unknown;
    for (const broker of [...this.#bootstrap, ...(this.#metadata?.brokers ?? [])])
      try {
        return await this.request(lane, broker, api, args);
      } catch (error) {
        if (errorCode(error) !== undefined) throw error;
        last = error;
      }
    throw last;
  }

  /** Closes the connections of one lane, or all. */
  async close(lane?: string): Promise<void> {
    this.#closed ||= lane === undefined;
    const ids = [...this.#open.keys()].filter((id) => lane === undefined || id.startsWith(`${lane}@`));
    await Promise.all(
      ids.map(async (id) => {
        const connection = this.#open.get(id);
        this.#open.delete(id);
        await connection?.then((open) => open.close()).catch(() => undefined);
      }),
    );
  }

  #connection(id: string, broker: Broker): Promise<Connection> {
    if (this.#closed) return Promise.reject(new Error("cluster: this connection was closed"));
    const existing = this.#open.get(id);
    if (existing !== undefined) return existing;
    const { clientId = "brume", tls, sasl } = this.#options;
    const connection = new Connection(clientId, {
      ...(tls && { tls }),
      ...(sasl && { sasl }),
      connectTimeout: 5000,
    });
    connection.on("error", () => this.#drop(id, connection));
    connection.on("close", () => this.#drop(id, connection));
    const ready = Promise.resolve(connection.connect(broker.host, broker.port)).then(() => connection);
    ready.catch(() => this.#open.delete(id));
    this.#open.set(id, ready);
    return ready;
  }

  #drop(id: string, connection: Connection): void {
    void this.#open.get(id)?.then(
      (current) => current === connection && this.#open.delete(id),
      () => undefined,
    );
    connection.socket?.destroy();
  }
}

/** A broker's own word for what went wrong, if the error came from a broker. */
export function errorCode(error: unknown): string | undefined {
  const { errors, apiId } = error as { errors?: { apiId?: string }[]; apiId?: string };
  return apiId ?? errors?.[0]?.apiId;
}
