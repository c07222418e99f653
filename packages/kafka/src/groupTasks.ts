/** The tasks of one member of a group: one for each partition that the group gives it. */
import { Refusal } from "brume/node";
import { Fenced, type Membership, type Port } from "./port.js";

export interface GroupTask<Stats> {
  readonly stats: Stats;
  /** Finishes what was fetched, commits, and ends. */
  stop(): Promise<void>;
}

export interface MemberOptions {
  /** Name of the application: workers of one group share the partitions. It is bound into the state. */
  readonly group: string;
  /** A name of this worker that survives restarts: its partitions then wait for it, for one session timeout. */
  readonly instance?: string;
  /** Milliseconds after which a silent worker loses its partitions. Default 10,000. */
  readonly sessionTimeout?: number;
  /** Is called with errors. Tasks continue by themselves, except after a Refusal. Messages hold no values and no keys. */
  readonly onError?: (error: Error, partition: number) => void;
}

export class GroupTasks<Stats> {
  readonly #options: MemberOptions;
  readonly #make: (partition: number, onError: (error: Error) => void) => GroupTask<Stats>;
  readonly #tasks = new Map<number, GroupTask<Stats>>();
  /** Counters of tasks that ended. */
  readonly #past: Stats[] = [];
  /** Tasks that are ending: a partition is not opened again before its old task has ended. */
  readonly #ending = new Map<number, Promise<void>>();
  readonly #refused = new Set<number>();
  #membership: Membership | undefined;
  #wanted: ReadonlySet<number> = new Set();
  #fenced = 0;
  #isLeaving = false;

  constructor(
    options: MemberOptions,
    make: (partition: number, onError: (error: Error) => void) => GroupTask<Stats>,
  ) {
    this.#options = options;
    this.#make = make;
  }

  async join(port: Port, topic: string): Promise<void> {
    const { group, instance, sessionTimeout = 10_000 } = this.#options;
    this.#membership = await port.join({
      ...{ group, topic, sessionTimeout },
      ...(instance === undefined ? {} : { instance }),
      onAssigned: (partitions) => this.#assign(new Set(partitions)),
    });
  }

  /** The group may still give partitions until it knows: they are not begun. */
  async leave(): Promise<void> {
    this.#assign(new Set());
    this.#isLeaving = true;
    await Promise.all(this.#ending.values());
    await this.#membership?.leave();
  }

  get partitions(): number[] {
    return [...this.#tasks.keys()];
  }

  /** Times that another worker took over while this one was working. */
  get fenced(): number {
    return this.#fenced;
  }

  /** Partitions that a person has to look at. */
  get refused(): number[] {
    return [...this.#refused];
  }

  /** Counters of the tasks that run now, and of all so far. */
  get running(): Stats[] {
    return [...this.#tasks.values()].map(({ stats }) => stats);
  }

  get all(): Stats[] {
    return [...this.running, ...this.#past];
  }

  #assign(partitions: ReadonlySet<number>): void {
    if (this.#isLeaving) return;
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
    this.#tasks.set(
      partition,
      this.#make(partition, (error) => this.#hear(error, partition)),
    );
  }

  #end(partition: number, task: GroupTask<Stats>): void {
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

/** One counter, added up over tasks. */
export function added<Stats extends object>(of: readonly Stats[], field: keyof Stats): number {
  return of.reduce((total, stats) => total + (stats[field] as number), 0);
}
