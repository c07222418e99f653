/**
 * Kafka mode: events go to a topic per metric, and are acknowledged when the brokers have them. Workers (brume-kafka)
 * publish; this process keeps no state. It is the only producer of its topics: a key must stay in one partition.
 */
import { createHash } from "node:crypto";
import { type Metric, metricsOf } from "../config/metrics.js";
import type { Config } from "../config/types.js";
import { Unavailable } from "../engine/engine.js";
import type { EventOf, Intake } from "../http/events.js";
import { Refusal } from "../refusal.js";

/** What is asked of a cluster; the port of brume-kafka has it. */
export interface KafkaPort {
  describe(topics: readonly string[]): Promise<readonly { readonly partitions: number }[]>;
  send(writes: readonly Write[]): Promise<void>;
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

/** What workers cannot keep is refused. */
function checkMetrics(metrics: readonly Metric[]): void {
  for (const { name, perPerson, keys, local } of metrics) {
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

/** A metric as the routes look it up. */
export interface IntakeMetric {
  readonly metric: Metric;
}

interface Place {
  readonly metric: Metric;
  readonly topic: string;
  readonly partitions: number;
  readonly listed: ReadonlySet<string>;
}

export class KafkaIntake implements Intake<IntakeMetric> {
  readonly #port: KafkaPort;
  readonly #places: ReadonlyMap<string, Place>;
  readonly #seen = new Map<string, Promise<void>>();
  readonly #remember: number;
  /** Why no events can be taken, if so. */
  trouble: string | undefined;

  private constructor(port: KafkaPort, places: ReadonlyMap<string, Place>, remember: number) {
    this.#port = port;
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
      { metric, topic: topics[i]!, partitions: described[i]!.partitions, listed: new Set(metric.keys) },
    ]);
    const intake = new KafkaIntake(port, new Map(places), remember);
    await intake.#announce(heartbeat(Date.now()));
    return intake;
  }

  metric(name: string): IntakeMetric | undefined {
    return this.#places.get(name);
  }

  /**
   * A heartbeat first, since workers drop what comes before there is a time. Then an event of 1970 for each key: it is
   * late for every tick, so that it changes nothing; but its key is there from then on.
   */
  async #announce(beat: NewRecord): Promise<void> {
    for (const { topic, partitions } of this.#places.values())
      await this.#port.send(
        Array.from({ length: partitions }, (_, partition) => ({ topic, partition, records: [beat] })),
      );
    const events = [...this.#places.values()].flatMap(({ metric }) =>
      metric.keys.map((key) => ({ metric: { metric }, key, value: 0, at: 0, person: "nobody" })),
    );
    await this.#send(events);
  }

  /** Resolves when the brokers have them. A repeated request key counts once while this process runs. */
  submit(events: readonly EventOf<IntakeMetric>[], requestKey?: string): Promise<void> {
    if (this.trouble !== undefined) return Promise.reject(new Unavailable(this.trouble));
    const known = requestKey === undefined ? undefined : this.#seen.get(requestKey);
    if (known !== undefined) return known;
    const done = this.#send(events).catch((cause: unknown) => {
      if (requestKey !== undefined) this.#seen.delete(requestKey);
      throw new Unavailable("store: the brokers do not take events; send the batch again", { cause });
    });
    if (requestKey !== undefined) {
      this.#seen.set(requestKey, done);
      setTimeout(() => this.#seen.delete(requestKey), this.#remember).unref();
    }
    return done;
  }

  async #send(events: readonly EventOf<IntakeMetric>[]): Promise<void> {
    const writes = new Map<string, Write>();
    for (const event of events) {
      const { topic, partitions, listed } = this.#places.get(event.metric.metric.name)!;
      const name = event.key === "" ? event.metric.metric.name : event.key;
      const partition = partitionOf(name, partitions);
      const place = `${topic} ${partition}`;
      const write = writes.get(place) ?? { topic, partition, records: [] };
      // Workers drop a record without a key: an unlisted key costs as much as a listed one.
      const key = listed.has(event.key) ? Buffer.from(name) : null;
      const { value, person } = event;
      const text = JSON.stringify(person === undefined ? { value } : { value, person });
      write.records.push({ key, value: Buffer.from(text), timestamp: Math.floor(event.at ?? Date.now()) });
      writes.set(place, write);
    }
    await this.#port.send([...writes.values()]);
  }
}

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
