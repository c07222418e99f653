/** A worker of a group: it takes partitions as the group gives them, and runs a task for each. */
import { kafkaPort } from "./kafka/kafkaPort.js";
import type { ConnectOptions } from "./kafka/connections.js";
import { added, GroupTasks, type MemberOptions } from "./groupTasks.js";
import { type KeyOption, Keyring } from "./keyring.js";
import type { Port } from "./port.js";
import { checkStream, type KeyedStreamOptions } from "./streams.js";
import { PartitionTask, type TaskSettings, type TaskStats } from "./partitionTask.js";
import { checkTopics, type SafetyOptions, type TopicNames } from "./topics.js";
import type { OutputFormat, ValueFormat } from "./values.js";

export interface WorkerOptions extends TopicNames, SafetyOptions, MemberOptions {
  /** Encrypts the state; as secret as the data. The same for all workers of the group. */
  readonly key: KeyOption;
  /**
   * Options of each key's stream: `epsilon`, `max` and so on. With `every` it takes events and publishes one number per
   * period of each level, with `edges` too it is a histogram; both need a clock (`runClock`). The budget holds for each
   * key by itself, and so does the limit of a person (`perPerson`): someone under m keys in a day is protected at m·ε.
   */
  readonly stream: KeyedStreamOptions;
  /** How values are read. Default "json". */
  readonly values?: ValueFormat;
  /** How numbers are written. Default "json". */
  readonly format?: OutputFormat;
  /** Milliseconds between transactions. Default 100. */
  readonly commitInterval?: number;
  /** A snapshot of a stream is stored after this many values. Default 256. Between snapshots, a restart replays `in`. */
  readonly sealEvery?: number;
  /** Offsets of `in` that a restart replays at most. Default 200,000. */
  readonly replayLimit?: number;
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
  #group: GroupTasks<TaskStats> | undefined;

  constructor(port: Port, options: WorkerOptions, Task: typeof PartitionTask) {
    checkNumbers(options);
    checkStream(options.stream);
    this.#port = port;
    this.#options = options;
    this.#keys = new Keyring(options.key);
    this.#Task = Task;
  }

  async start(): Promise<void> {
    const { group, in: topic } = this.#options;
    const settings = await taskSettings(this.#port, this.#options, this.#keys);
    this.#group = new GroupTasks(this.#options, (partition, onError) => {
      const place = { group, partition };
      return new this.#Task(this.#port, { ...settings, place }, onError);
    });
    await this.#group.join(this.#port, topic);
  }

  async stop(): Promise<void> {
    await this.#group?.leave();
  }

  stats(): WorkerStats {
    const { running = [], all = [], partitions = [], fenced = 0, refused = [] } = this.#group ?? {};
    return {
      ...{ partitions, fenced, refused },
      received: added(all, "received"),
      published: added(all, "published"),
      unreadable: added(all, "unreadable"),
      transactions: added(all, "transactions"),
      opened: added(all, "opened"),
      streams: added(running, "streams"),
      lag: added(running, "lag"),
      opening: running.map(({ opening }) => opening),
    };
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
    replayLimit: options.replayLimit ?? 200_000,
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
