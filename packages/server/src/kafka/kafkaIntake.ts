/**
 * Kafka mode: events go to a topic per metric, and are acknowledged when the brokers have them. Workers (brume-kafka)
 * publish; this process keeps no state. It is the only producer of its topics: a key must stay in one partition.
 */
import { Refusal } from "brume/node";
import { createHash } from "node:crypto";
import { type ResolvedMetric, metricsOf } from "../config/metrics.js";
import type { Config } from "../config/types.js";
import type { Intake } from "../http/events.js";
import { fingerprintOf, type CheckedEvent, KeyReused, type Named, Unavailable } from "../submission.js";

/** The calls on a cluster that are needed here; the port of brume-kafka has them. */
export interface KafkaPort {
  describe(topics: readonly string[]): Promise<readonly { readonly partitions: number }[]>;
  /** Fences every earlier writer with this id, and ends its transactions, before it resolves. */
  writer(transactionalId: string): Promise<BatchWriter>;
  send(writes: readonly Write[]): Promise<void>;
  close(): Promise<void>;
}

/** Writes transactions. After a rejection it must not be used again. */
export interface BatchWriter {
  write(writes: readonly Write[]): Promise<void>;
  commit(): Promise<void>;
  close(): Promise<void>;
}

export interface NewRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly timestamp?: number;
  readonly headers?: readonly (readonly [name: string, value: Buffer])[];
}

interface Write {
  readonly topic: string;
  readonly partition: number;
  readonly records: NewRecord[];
}

export interface MetricTopics {
  readonly in: string;
  readonly state: string;
  readonly out: string;
}

/** The topics of a metric: "brume.requests.in" and so on. */
export const topicsOf = (config: Config, metric: string): MetricTopics => {
  const name = (end: string): string => `${kafkaOf(config).prefix ?? "brume"}.${metric}.${end}`;
  return { in: name("in"), state: name("state"), out: name("out") };
};

export function kafkaOf({ store }: Config) {
  if (store === undefined || !("kafka" in store)) throw new Refusal("store: expected kafka");
  return store.kafka;
}

/** Refuses metrics that workers cannot keep. */
function checkMetrics(metrics: readonly ResolvedMetric[]): void {
  for (const { name, perPerson, keys, local, over, discovers } of metrics) {
    if (discovers !== undefined)
      throw new Refusal(
        `metrics.${name}.keys: expected no keys that are discovered with store kafka, since workers see a person's events of each key by themselves, and a person has one vote; list the keys, or take another store`,
      );
    if (over !== undefined)
      throw new Refusal(
        `metrics.${name}.type: expected none of type people with store kafka, since workers do not count people once; take another store`,
      );
    if (local !== undefined)
      throw new Refusal(
        `metrics.${name}.type: expected none of type local with store kafka; use brume-kafka's local worker, or another store`,
      );
    if (perPerson !== undefined && keys.length > 1)
      throw new Refusal(
        `metrics.${name}.keys: expected one key with store kafka, since workers count a person's events for each key by itself; set protect: "event", or take another store`,
      );
  }
}

interface Place {
  readonly config: ResolvedMetric;
  readonly topic: string;
  readonly partitions: number;
  readonly listed: ReadonlySet<string>;
}

export class KafkaIntake implements Intake<Named> {
  readonly #port: KafkaPort;
  readonly #places: ReadonlyMap<string, Place>;
  readonly #writerName: string;
  /** Requests with an idempotency key, by that key. */
  readonly #seen = new Map<string, { readonly body: string; readonly done: Promise<void> }>();
  readonly #remember: number;
  #writer: BatchWriter | undefined;
  /** One transaction at a time. */
  #writing: Promise<unknown> = Promise.resolve();
  /** Why no events will be taken until the process is started again, if so. */
  failure: string | undefined;

  private constructor(
    port: KafkaPort,
    places: ReadonlyMap<string, Place>,
    writerName: string,
    remember: number,
  ) {
    this.#port = port;
    this.#writerName = writerName;
    this.#places = places;
    this.#remember = remember;
  }

  /** Finds the topics, and makes every listed key known: all of them publish from the start. */
  static async open(
    config: Config,
    port: KafkaPort,
    heartbeat: (time: number) => NewRecord,
    remember: number,
  ): Promise<KafkaIntake> {
    const metrics = metricsOf(config);
    checkMetrics(metrics);
    const topics = metrics.map(({ name }) => topicsOf(config, name).in);
    const described = await describe(port, topics);
    const places = metrics.map((metric, i): [string, Place] => [
      metric.name,
      {
        config: metric,
        topic: topics[i]!,
        partitions: described[i]!.partitions,
        listed: new Set(metric.keys),
      },
    ]);
    const intake = new KafkaIntake(port, new Map(places), topicsOf(config, "intake").in, remember);
    await intake.#announce(heartbeat(Date.now()));
    return intake;
  }

  get trouble(): string | undefined {
    return this.failure;
  }

  metric(name: string): Named | undefined {
    return this.#places.get(name);
  }

  /**
   * A heartbeat first, since workers drop what comes before there is a time. Then an event of 1970 for each key: it is
   * late for every period, so that it changes nothing; but its key is there from then on.
   */
  async #announce(beat: NewRecord): Promise<void> {
    for (const { topic, partitions } of this.#places.values())
      await this.#port.send(
        Array.from({ length: partitions }, (_, partition) => ({ topic, partition, records: [beat] })),
      );
    const events = [...this.#places.values()].flatMap(({ config }) =>
      config.keys.map((key) => ({ metric: { config }, key, value: 0, count: 1, at: 0, person: "nobody" })),
    );
    await this.#port.send(this.#writesOf(events, undefined));
  }

  /** Resolves when the brokers have them. A repeated request key counts once while this process runs. */
  submit(events: readonly CheckedEvent[], requestKey?: string): Promise<void> {
    if (this.trouble !== undefined) return Promise.reject(new Unavailable(this.trouble));
    if (requestKey === undefined) return this.#commit(events);
    const [known, body] = [this.#seen.get(requestKey), fingerprintOf(events)];
    if (known !== undefined) return known.body === body ? known.done : Promise.reject(new KeyReused());
    const done = this.#commit(events);
    this.#seen.set(requestKey, { body, done });
    // While it is not known whether the batch is stored, its key stays: it never counts twice.
    done.catch((error: unknown) => error instanceof InDoubt || this.#seen.delete(requestKey));
    setTimeout(() => this.#seen.delete(requestKey), this.#remember).unref();
    return done;
  }

  /** One transaction per batch: all of it is there, or nothing. */
  #commit(events: readonly CheckedEvent[]): Promise<void> {
    const turn = this.#writing.then(() => this.#transact(this.#writesOf(events, Date.now())));
    this.#writing = turn.catch(() => undefined);
    return turn;
  }

  async #transact(writes: readonly Write[]): Promise<void> {
    let written = false;
    try {
      const writer = (this.#writer ??= await this.#port.writer(this.#writerName));
      await writer.write(writes);
      written = true;
      await writer.commit();
    } catch (cause) {
      await this.#writer?.close().catch(() => undefined);
      this.#writer = undefined; // the next one ends this transaction first
      throw written
        ? new InDoubt(
            "store: the brokers did not say whether they have the batch; it may be stored, and under the same Idempotency-Key it is not stored again",
            { cause },
          )
        : new Unavailable("store: the brokers do not take events; send the batch again", { cause });
    }
  }

  /** @param now of events that have no time; events outside lateness and skew are dropped. Undefined: none are */
  #writesOf(events: readonly CheckedEvent[], now: number | undefined): Write[] {
    const writes = new Map<string, Write>();
    for (const event of events) {
      const { config: metric, topic, partitions, listed } = this.#places.get(event.metric.config.name)!;
      const name = event.key === "" ? metric.name : event.key;
      const partition = partitionOf(name, partitions);
      const place = `${topic} ${partition}`;
      const write = writes.get(place) ?? { topic, partition, records: [] };
      const at = event.at ?? now ?? 0;
      const onTime =
        now === undefined || (at >= now - metric.lateness - metric.every && at <= now + metric.skew);
      // Workers drop a record without a key: an unlisted key, or a wrong time, costs as much as a right one.
      const key = listed.has(event.key) && onTime ? Buffer.from(name) : null;
      const { value, person } = event;
      const text = JSON.stringify(person === undefined ? { value } : { value, person });
      const timestamp = Math.floor(onTime ? at : now);
      const record = { key, value: Buffer.from(text), timestamp };
      for (let i = 0; i < event.count; i++) write.records.push(record);
      writes.set(place, write);
    }
    return [...writes.values()];
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#writer?.close();
  }
}

/** The brokers may have the batch. */
class InDoubt extends Unavailable {}

const partitionOf = (key: string, partitions: number): number =>
  createHash("sha256").update(key).digest().readUInt32BE(0) % partitions;

async function describe(port: KafkaPort, topics: readonly string[]) {
  try {
    return await port.describe(topics);
  } catch (cause) {
    throw new Refusal(`store.kafka: cannot find the topics ${topics.join(", ")}; create them first`, {
      cause,
    });
  }
}
