/** Collects events between two commits of a hub, and commits them again on a newer state after a conflict. */
import { StoreError } from "../stores/store.js";
import type { HubState } from "./hubState.js";
import type { Entry } from "./records.js";

/** How often a commit is made when another process writes to the same hub. */
const ATTEMPTS = 4;
/** Events of one record, at most. */
const MOST_ENTRIES = 65_536;

interface ClosedSpan {
  readonly metric: string;
  readonly from: number;
  readonly to: number;
}

interface Batch {
  readonly entries: Entry[];
  /** Closes the ticks that are due then. */
  now: number | undefined;
  readonly done: Promise<ClosedSpan[]>;
  readonly resolve: (closed: ClosedSpan[]) => void;
  readonly reject: (reason: unknown) => void;
}

export class Batches {
  readonly #open: () => Promise<HubState>;
  readonly #every: number;
  readonly #stored: boolean;
  #state: Promise<HubState> | undefined;
  /** The state, while it is in memory and nothing has to be waited for. */
  ready: HubState | undefined;
  #queue: Batch[] = [];
  #running: Promise<void> | undefined;
  /** Commits that another process was faster with. */
  conflicts = 0;

  /** @param stored whether a state that is in doubt can be read again */
  constructor(open: () => Promise<HubState>, every: number, stored: boolean) {
    this.#open = open;
    this.#every = every;
    this.#stored = stored;
  }

  /** The state as of the last commit; read from the store if it is not in memory. */
  state(): Promise<HubState> {
    if (this.#state === undefined) {
      const state = (this.#state = this.#openAgain());
      state.then(
        (open) => this.#state === state && (this.ready = open),
        () => this.#state === state && (this.#state = undefined),
      );
    }
    return this.#state;
  }

  /** The store may fail for a moment, and another process may begin the hub at the same time. */
  async #openAgain(): Promise<HubState> {
    for (let attempt = 1; ; attempt++)
      try {
        return await this.#open();
      } catch (error) {
        if (!(error instanceof StoreError && error.retryable) || attempt === ATTEMPTS) throw error;
        if (isConflict(error)) this.conflicts++;
      }
  }

  /** Resolves when they are stored. */
  add(entries: readonly Entry[]): Promise<void> {
    const batch = this.#batch();
    for (const entry of entries) batch.entries.push(entry);
    return this.#commitSoon(batch) as Promise<unknown> as Promise<void>;
  }

  close(now: number): Promise<ClosedSpan[]> {
    const batch = this.#batch();
    batch.now = Math.max(batch.now ?? now, now);
    return this.#commitSoon(batch);
  }

  #batch(): Batch {
    const last = this.#queue.at(-1);
    if (last !== undefined && last.entries.length < MOST_ENTRIES) return last;
    let resolve: Batch["resolve"];
    let reject: Batch["reject"];
    const done = new Promise<ClosedSpan[]>((yes, no) => {
      resolve = yes;
      reject = no;
    });
    const batch: Batch = { entries: [], now: undefined, done, resolve: resolve!, reject: reject! };
    this.#queue.push(batch);
    return batch;
  }

  #commitSoon(batch: Batch): Promise<ClosedSpan[]> {
    this.#running ??= this.#run();
    return batch.done;
  }

  async #run(): Promise<void> {
    await Promise.resolve(); // calls that are made together are stored together
    while (this.#queue.length > 0) {
      const batch = this.#queue.shift()!;
      await this.#takeTurn(batch).catch(batch.reject); // nobody waits for ever
    }
    this.#running = undefined; // at once: a call that comes now begins another run
  }

  async #takeTurn(batch: Batch): Promise<void> {
    const start = performance.now();
    batch.resolve(await this.#commit(batch));
    const rest = this.#every - (performance.now() - start);
    if (rest > 0 && (this.#queue[0]?.entries.length ?? 0) < MOST_ENTRIES)
      await new Promise((resolve) => setTimeout(resolve, rest));
  }

  async #commit({ entries, now }: Batch): Promise<ClosedSpan[]> {
    for (let attempt = 1; ; attempt++) {
      const state = await this.state();
      const before = new Map([...state.metrics.values()].map((metric) => [metric, metric.closed]));
      try {
        const closes = await state.commit(entries, now);
        if (state.stale) this.#forget();
        return [...before].flatMap(([metric, closed]) => {
          const [from, to] = [Math.max(closed, metric.held), closes.get(metric.name) ?? closed];
          return to > from ? [{ metric: metric.name, ...metric.span(from, to) }] : [];
        });
      } catch (error) {
        if (this.#stored)
          this.#forget(); // what the store has is read again
        else if (state.halfway) this.#lose(error);
        if (!isConflict(error) || attempt === ATTEMPTS) throw error;
        this.conflicts++;
      }
    }
  }

  /** Without a store nobody knows how much of a commit has happened: limits of people would begin anew. */
  #lose(cause: unknown): void {
    const lost = Promise.reject<HubState>(
      new Error("hub: a commit failed halfway, and no store has its state; make another hub", { cause }),
    );
    lost.catch(() => undefined);
    this.#state = lost;
    this.ready = undefined;
  }

  #forget(): void {
    this.#state = undefined;
    this.ready = undefined;
  }

  /** Commits what is left and stores all states. */
  async end(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    if (this.#state !== undefined) await (await this.#state).checkpoint();
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof StoreError && error.code === "conflict";
}
