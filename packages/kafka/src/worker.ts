/** A worker of a group: it takes partitions as the group gives them, and runs a task for each. */
import { kafkaPort } from "./kafka/port.js";
import type { ConnectOptions } from "./kafka/connections.js";
import { type KeyOption, Keyring, Refusal } from "./keys.js";
import { Fenced, type Membership, type Port } from "./port.js";
import { type KeyedStreamOptions, makeStream } from "./streams.js";
import { PartitionTask, type TaskSettings, type TaskStats } from "./task.js";
import { checkTopics, type SafetyOptions, type TopicNames } from "./topics.js";
import type { OutputFormat, ValueFormat } from "./values.js";

export interface WorkerOptions extends TopicNames, SafetyOptions {
  /** Name of the application: workers of one group share the partitions. It is bound into the state. */
  readonly group: string;
  /** Seals the state; as secret as the data. The same for all workers of the group. */
  readonly key: KeyOption;
  /**
   * Options of each key's stream: `epsilon`, `max` and so on. With `every` it takes events and publishes per tick,
   * with `edges` it is a histogram; both need a clock (`runClock`). The budget holds for each key by itself.
   */
  readonly stream: KeyedStreamOptions;
  /** How values are read. Default "json". */
  readonly values?: ValueFormat;
  /** How numbers are written. Default "json". */
  readonly format?: OutputFormat;
  /** Milliseconds between transactions. Default 100. */
  readonly commitInterval?: number;
  /** A stream is sealed after this many values. Default 256. Between seals, a restart replays `in`. */
  readonly sealEvery?: number;
  /** Offsets of `in` that a restart replays at most. Default 50,000. */
  readonly replayLimit?: number;
  /** A name of this worker that survives restarts: its partitions then wait for it, for one session timeout. */
  readonly instance?: string;
  /** Milliseconds after which a silent worker loses its partitions. Default 10,000. */
  readonly sessionTimeout?: number;
  /** Is called with errors. Tasks continue by themselves, except after a Refusal. Messages hold no values and no keys. */
  readonly onError?: (error: Error, partition: number) => void;
}

export interface KafkaWorkerOptions extends WorkerOptions, ConnectOptions {}

/** Public counters, summed over this worker's partitions since it started. */
export interface WorkerStats extends Omit<TaskStats, "opening"> {
  readonly partitions: readonly number[];
  /** Times that another worker took over while this one was working. */
  readonly fenced: number;
  /** Partitions that a person has to look at. */
  readonly refused: readonly number[];
  /** Milliseconds of the last opening of each partition. */
  readonly opening: readonly number[];
}

export interface KafkaWorker {
  /** Checks the topics, joins the group, and works until it is stopped. */
  start(): Promise<void>;
  /** Finishes what was fetched, commits it, leaves the group. */
  stop(): Promise<void>;
  stats(): WorkerStats;
}

export function kafkaWorker(options: KafkaWorkerOptions): KafkaWorker {
  const port = kafkaPort(options);
  const worker = makeWorker(port, options);
  return {
    start: () => worker.start(),
    stop: () => worker.stop().finally(() => port.close()),
    stats: () => worker.stats(),
  };
}

/** A worker on any port. The port stays open when the worker stops. */
export function makeWorker(port: Port, options: WorkerOptions, Task = PartitionTask): KafkaWorker {
  return new Worker(port, options, Task);
}

class Worker implements KafkaWorker {
  readonly #port: Port;
  readonly #options: WorkerOptions;
  readonly #keys: Keyring;
  readonly #Task: typeof PartitionTask;
  readonly #tasks = new Map<number, PartitionTask>();
  /** What ended tasks counted. */
  readonly #past: TaskStats[] = [];
  /** Tasks that are ending: a partition is not opened again before its old task has ended. */
  readonly #ending = new Map<number, Promise<void>>();
  readonly #refused = new Set<number>();
  #settings: Omit<TaskSettings, "place"> | undefined;
  #membership: Membership | undefined;
  #wanted: ReadonlySet<number> = new Set();
  #fenced = 0;

  constructor(port: Port, options: WorkerOptions, Task: typeof PartitionTask) {
    checkNumbers(options);
    makeStream("options", options.stream, { now: 0 }); // throws if the options are wrong
    this.#port = port;
    this.#options = options;
    this.#keys = new Keyring(options.key);
    this.#Task = Task;
  }

  async start(): Promise<void> {
    const { group, in: topic, instance, sessionTimeout = 10_000 } = this.#options;
    this.#settings = await taskSettings(this.#port, this.#options, this.#keys);
    this.#membership = await this.#port.join({
      ...{ group, topic, sessionTimeout },
      ...(instance === undefined ? {} : { instance }),
      onAssigned: (partitions) => this.#assign(new Set(partitions)),
    });
  }

  async stop(): Promise<void> {
    this.#assign(new Set());
    await Promise.all(this.#ending.values());
    await this.#membership?.leave();
  }

  stats(): WorkerStats {
    const tasks = [...this.#tasks.values()].map(({ stats }) => stats);
    const all = [...tasks, ...this.#past];
    const sum = (of: readonly TaskStats[], field: keyof TaskStats) =>
      of.reduce((total, stats) => total + stats[field], 0);
    return {
      partitions: [...this.#tasks.keys()],
      received: sum(all, "received"),
      published: sum(all, "published"),
      unreadable: sum(all, "unreadable"),
      transactions: sum(all, "transactions"),
      opened: sum(all, "opened"),
      streams: sum(tasks, "streams"),
      lag: sum(tasks, "lag"),
      opening: tasks.map(({ opening }) => opening),
      fenced: this.#fenced,
      refused: [...this.#refused],
    };
  }

  #assign(partitions: ReadonlySet<number>): void {
    this.#wanted = partitions;
    for (const [partition, task] of this.#tasks) if (!partitions.has(partition)) this.#end(partition, task);
    for (const partition of partitions) if (!this.#tasks.has(partition)) this.#begin(partition);
  }

  #begin(partition: number): void {
    const ending = this.#ending.get(partition);
    if (ending !== undefined) {
      void ending.then(
        () => this.#wanted.has(partition) && !this.#tasks.has(partition) && this.#begin(partition),
      );
      return;
    }
    const place = { group: this.#options.group, partition };
    const onError = (error: Error) => this.#hear(error, partition);
    this.#tasks.set(partition, new this.#Task(this.#port, { ...this.#settings!, place }, onError));
  }

  #end(partition: number, task: PartitionTask): void {
    this.#tasks.delete(partition);
    this.#past.push(task.stats);
    const ended = task.stop().finally(() => this.#ending.delete(partition));
    this.#ending.set(partition, ended);
  }

  #hear(error: Error, partition: number): void {
    if (error instanceof Fenced) this.#fenced++;
    if (error instanceof Refusal) this.#refused.add(partition);
    try {
      this.#options.onError?.(error, partition);
    } catch {
      // A listener that throws must not stop the work.
    }
  }
}

/** Everything a task needs but its partition, after the topics were checked. */
export async function taskSettings(
  port: Port,
  options: WorkerOptions,
  keys: Keyring,
): Promise<Omit<TaskSettings, "place">> {
  const { stream, values = "json", format = "json", deadLetters } = options;
  const { facts, deadLetterPartitions } = await checkTopics(port, options, options);
  return {
    ...{ in: options.in, state: options.state, out: options.out, stream, values, format, keys, facts },
    deadLetters:
      deadLetters === undefined ? undefined : { topic: deadLetters, partitions: deadLetterPartitions },
    commitInterval: options.commitInterval ?? 100,
    sealEvery: options.sealEvery ?? 256,
    replayLimit: options.replayLimit ?? 50_000,
  };
}

function checkNumbers(options: WorkerOptions): void {
  const fields = ["commitInterval", "sealEvery", "replayLimit", "sessionTimeout"] as const;
  for (const name of fields) {
    const value = options[name];
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0))
      throw new RangeError(`${name}: expected a whole number above 0, got ${value}`);
  }
  for (const name of ["group", "in", "state", "out"] as const)
    if (typeof options[name] !== "string" || options[name] === "")
      throw new TypeError(
        `${name}: expected a name, got ${options[name] === "" ? "an empty text" : typeof options[name]}`,
      );
}
