/**
 * The least that a cluster must do: it assigns partitions, it gives the records of a log, and it writes
 * records to several logs in one transaction. `kafka/kafkaPort.ts` makes a port on a real cluster, `memory/` one for tests.
 */

/** One record of a log. */
export interface LogRecord {
  readonly offset: number;
  /** Milliseconds since 1970, as the producer or the broker wrote it. */
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly (readonly [name: string, value: Buffer])[];
}

/** A batch as it lies in the log. A control batch ends a transaction and holds no records. */
export interface LogBatch {
  readonly firstOffset: number;
  readonly lastOffset: number;
  readonly producerId: bigint;
  readonly transactional: boolean;
  readonly control: "commit" | "abort" | undefined;
  readonly records: readonly LogRecord[];
}

export interface Fetched {
  readonly batches: readonly LogBatch[];
  /** Aborted transactions that may have batches in this answer; only when asked for committed data. */
  readonly aborted: readonly { readonly producerId: bigint; readonly firstOffset: number }[];
  /** First offset that the log still has. */
  readonly start: number;
  /** Behind the last record that may be read (committed data: behind the last one that is decided). */
  readonly end: number;
}

export interface FetchOptions {
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  /** Committed data only: the broker withholds what is undecided, the caller filters what was aborted. */
  readonly committed: boolean;
  /** Milliseconds to wait for a first record. */
  readonly wait: number;
  readonly maxBytes?: number;
}

/** A record to write. */
export interface NewRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: readonly (readonly [name: string, value: Buffer])[];
  readonly timestamp?: number;
}

export interface Write {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly NewRecord[];
}

/** The only writer of its transactional id: a later one fences it, and then everything it tries is refused. */
export interface TransactionalWriter {
  /** Writes records of one transaction. Readers of committed data do not see them before `commit`. */
  write(writes: readonly Write[]): Promise<void>;
  /**
   * Makes everything written since the last commit visible at once. When it rejects, the transaction may still
   * commit (its end is in doubt): the caller must drop this writer, make a new one, which decides all earlier
   * transactions, and read what is there. The same holds when `write` rejects.
   */
  commit(): Promise<void>;
  close(): Promise<void>;
}

export interface TopicDescription {
  readonly name: string;
  readonly id: string;
  readonly partitions: number;
  /** The smallest number of replicas over the partitions. */
  readonly replicas: number;
  readonly config: Readonly<Record<string, string>>;
}

export interface NewTopic {
  readonly name: string;
  readonly partitions: number;
  readonly replicas: number;
  readonly config: Readonly<Record<string, string>>;
}

export interface Membership {
  /** Leaves the group at once, so that others take over without waiting for a time-out. */
  leave(): Promise<void>;
}

export interface GroupOptions {
  readonly group: string;
  readonly topic: string;
  /** A name that stays the same over restarts: the group then waits for this member instead of moving its work. */
  readonly instance?: string;
  /** Milliseconds without a sign of life after which a member is dead. */
  readonly sessionTimeout: number;
  /** Called with all partitions of this member whenever they may have changed; empty when membership was lost. */
  readonly onAssigned: (partitions: readonly number[]) => void;
}

export interface Port {
  describe(topics: readonly string[]): Promise<TopicDescription[]>;
  create(topics: readonly NewTopic[]): Promise<void>;
  /** First offset, and the offset behind the last record that all replicas have. */
  bounds(topic: string, partition: number): Promise<{ start: number; end: number }>;
  fetch(options: FetchOptions): Promise<Fetched>;
  /** Fences every earlier writer with this id, and ends its transactions, before it resolves. */
  writer(transactionalId: string): Promise<TransactionalWriter>;
  /** Appends records outside transactions; each once, in order, as long as this port lives. */
  send(writes: readonly Write[]): Promise<void>;
  join(options: GroupOptions): Promise<Membership>;
  close(): Promise<void>;
}

/** Another writer has taken over: this one must forget its state. */
export class Fenced extends Error {
  override readonly name = "Fenced";
}
