/**
 * A cluster in memory with Kafka's rules for logs, transactions, fencing and groups: for tests of what stands on a
 * port. Faults can be put between the steps of a transaction.
 */
import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";

import { assignPartitions } from "../kafka/groupMember.js";
import {
  Fenced,
  type Fetched,
  type FetchOptions,
  type GroupOptions,
  type LogBatch,
  type Membership,
  type NewTopic,
  type Port,
  type TopicDescription,
  type TransactionalWriter,
  type Write,
} from "../port.js";

/** The moments of a transaction after which a worker may die, or its answer may be lost. */
export type Step = "begun" | "sent" | "committed";

export interface MemoryOptions {
  /** Called after each step; what it throws is what the writer's caller sees. */
  readonly fault?: (step: Step, transactionalId: string) => void;
  /** Off: a writer that was replaced may continue, as on a cluster without fencing. For tests that must fail. */
  readonly fencing?: boolean;
}

interface Producer {
  readonly id: bigint;
  epoch: number;
  /** Logs with records of the transaction that is open. */
  readonly open: Set<MemoryLog>;
}

export class MemoryCluster {
  readonly #options: MemoryOptions;
  readonly #topics = new Map<string, NewTopic & { readonly id: string; readonly logs: MemoryLog[] }>();
  readonly #producers = new Map<string, Producer>();
  readonly #groups = new Map<string, Map<string, GroupOptions>>();
  #nextProducer = 1n;

  constructor(options: MemoryOptions = {}) {
    this.#options = options;
  }

  port(): Port {
    return {
      describe: (names) => Promise.resolve(names.map((name) => this.#describe(name))),
      create: (topics) => Promise.resolve(topics.forEach((topic) => this.#create(topic))),
      bounds: (topic, partition) => Promise.resolve({ start: 0, end: this.#log(topic, partition).end }),
      fetch: (options) => this.#log(options.topic, options.partition).fetch(options),
      writer: (id) => Promise.resolve(this.#writer(id)),
      send: (writes) =>
        Promise.resolve(writes.forEach((write) => this.#logOf(write).append(write, -1n, false))),
      join: (options) => Promise.resolve(this.#join(options)),
      close: () => Promise.resolve(),
    };
  }

  #create(topic: NewTopic): void {
    const logs = Array.from({ length: topic.partitions }, () => new MemoryLog());
    this.#topics.set(topic.name, { ...topic, id: randomUUID(), logs });
  }

  #describe(name: string): TopicDescription {
    const { logs: _, ...description } = this.#topic(name);
    return description;
  }

  #topic(name: string) {
    const topic = this.#topics.get(name);
    if (topic === undefined) throw new Error(`topic ${name}: expected an existing topic`);
    return topic;
  }

  #log(topic: string, partition: number): MemoryLog {
    return this.#topic(topic).logs[partition]!;
  }

  #logOf({ topic, partition }: Write): MemoryLog {
    return this.#log(topic, partition);
  }

  #writer(id: string): TransactionalWriter {
    const producer = this.#producers.get(id) ?? {
      id: this.#nextProducer++,
      epoch: -1,
      open: new Set<MemoryLog>(),
    };
    this.#producers.set(id, producer);
    this.#end(producer, "abort");
    const epoch = ++producer.epoch;
    const check = () => {
      if (this.#options.fencing !== false && producer.epoch !== epoch)
        throw new Fenced(`${id}: another worker has taken over`);
    };
    const step = async (name: Step) => {
      this.#options.fault?.(name, id);
      await new Promise(setImmediate);
    };
    return {
      write: async (writes) => {
        check();
        await step("begun");
        check();
        for (const write of writes.filter(({ records }) => records.length > 0)) {
          const log = this.#logOf(write);
          producer.open.add(log);
          log.append(write, producer.id, true);
        }
        await step("sent");
      },
      commit: async () => {
        check();
        this.#end(producer, "commit");
        await step("committed");
      },
      close: () => Promise.resolve(),
    };
  }

  #end(producer: Producer, control: "commit" | "abort"): void {
    for (const log of producer.open) log.mark(producer.id, control);
    producer.open.clear();
  }

  #join(options: GroupOptions): Membership {
    const members = this.#groups.get(options.group) ?? new Map<string, GroupOptions>();
    this.#groups.set(options.group, members);
    const name = options.instance ?? randomUUID();
    const assign = () => {
      if (members.size === 0) return;
      const shares = assignPartitions([...members.keys()], this.#topic(options.topic).partitions);
      for (const [member, partitions] of shares) members.get(member)!.onAssigned(partitions);
    };
    members.set(name, options);
    queueMicrotask(assign);
    return {
      leave: () => {
        members.delete(name);
        assign();
        return Promise.resolve();
      },
    };
  }
}

class MemoryLog {
  readonly #batches: LogBatch[] = [];
  /** First offset of each transaction that is open, by producer. */
  readonly #open = new Map<bigint, number>();
  readonly #aborted: { producerId: bigint; firstOffset: number; lastOffset: number }[] = [];
  readonly #news = new EventEmitter().setMaxListeners(0);
  end = 0;

  append({ records }: Write, producerId: bigint, transactional: boolean): void {
    const firstOffset = this.end;
    if (transactional && !this.#open.has(producerId)) this.#open.set(producerId, firstOffset);
    const stored = records.map(({ key, value, headers = [], timestamp = Date.now() }, i) => {
      return { offset: firstOffset + i, timestamp, key, value, headers };
    });
    this.end += stored.length;
    this.#push({
      firstOffset,
      lastOffset: this.end - 1,
      producerId,
      transactional,
      control: undefined,
      records: stored,
    });
  }

  mark(producerId: bigint, control: "commit" | "abort"): void {
    const firstOffset = this.#open.get(producerId)!;
    this.#open.delete(producerId);
    const offset = this.end++;
    if (control === "abort") this.#aborted.push({ producerId, firstOffset, lastOffset: offset });
    this.#push({
      firstOffset: offset,
      lastOffset: offset,
      producerId,
      transactional: true,
      control,
      records: [],
    });
  }

  async fetch({ from, committed, wait }: FetchOptions): Promise<Fetched> {
    if (this.#readable(committed) <= from)
      await once(this.#news, "batch", { signal: AbortSignal.timeout(wait) }).catch(() => undefined);
    const end = this.#readable(committed);
    const batches = this.#batches.filter(
      ({ firstOffset, lastOffset }) => lastOffset >= from && firstOffset < end,
    );
    const aborted = committed ? this.#aborted.filter(({ lastOffset }) => lastOffset >= from) : [];
    return { batches, aborted, start: 0, end };
  }

  #readable(committed: boolean): number {
    return committed ? Math.min(this.end, ...this.#open.values()) : this.end;
  }

  #push(batch: LogBatch): void {
    this.#batches.push(batch);
    this.#news.emit("batch");
  }
}
