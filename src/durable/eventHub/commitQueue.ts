/** Collects what a hub receives between two commits, and commits it again on a newer state after a conflict. */
import type { ClosedSpan } from "./hubMetric.js";
import type { HubState } from "./hubState.js";
import { States, type Transitions } from "../journal/states.js";
import { isConflict, StoreError } from "../stores/store.js";
import type { Submission } from "./submissions.js";

/** How often a commit is made when another process writes to the same hub. */
const ATTEMPTS = 4;
/** Events of one row, so that no commit holds others up for long; a submission that is longer has a row to itself. */
const MOST_EVENTS = 2048;

/** Too much waits for the store. Nothing of the call was taken: make it again later. */
export class HubBusy extends Error {
  readonly code = "busy";
  readonly retryable = true;
}

/** Which state of a hub may follow which. */
const TRANSITIONS = {
  /** The state in the store is not in memory: nobody has asked, or the outcome of a commit was in doubt or a conflict. */
  unread: ["opening", "ended"],
  opening: ["open", "unread"],
  open: ["preparing", "ended"],
  /** A commit that has changed nothing yet. */
  preparing: ["committing", "open", "unread"],
  committing: ["open", "unread", "lost"],
  /** A commit failed halfway, and no store has the state. */
  lost: [],
  ended: [],
} as const satisfies Transitions;

interface Waiting {
  readonly submission: Submission;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Submissions and closings that one row stores. */
interface Commit {
  readonly waiting: Waiting[];
  size: number;
  /** Closes the periods that are due then. */
  closeAt: number;
  readonly closings: {
    readonly resolve: (closed: readonly ClosedSpan[]) => void;
    readonly reject: (reason: unknown) => void;
  }[];
}

export interface QueueOptions {
  /**
   * @param began when this process began to listen
   * @param fence of the journal when this process had the hub open before
   */
  readonly open: (began: number, fence: number | undefined) => Promise<HubState>;
  /** Milliseconds between two commits, at least. */
  readonly every: number;
  /** Whether a state that is in doubt can be read again. */
  readonly stored: boolean;
  /** Whether a conflict ends the hub. */
  readonly exclusive: boolean;
  readonly most: { readonly events: number; readonly reports: number };
  readonly clock: () => number;
  readonly onPublished: (closed: readonly ClosedSpan[]) => void;
}

export class CommitQueue {
  // Parameters
  readonly #options: QueueOptions;
  // State
  readonly #states = new States("hub", TRANSITIONS, "unread");
  /** The state in the store as of the last commit; rejects if it was lost, undefined while it is unread. */
  #opened: Promise<HubState> | undefined;
  /** The state that `#opened` resolved to. */
  #ready: HubState | undefined;
  /** The fence of the journal since this process opened the hub. */
  #fence: number | undefined;
  /** When this process began to listen: with its first try to open the hub. */
  #began: number | undefined;
  /** Whether the hub is being closed, or is: nothing is drawn ahead any more. */
  #isEnding = false;
  #queue: Commit[] = [];
  #running: Promise<void> | undefined;
  #events = 0;
  #reports = 0;
  /** No commit of events begins before these times of the machine: a closing is near, or a commit has just been made. */
  #quietUntil = -Infinity;
  #restUntil = -Infinity;
  /** Ends a pause. */
  #wake: () => void = () => undefined;
  /** Commits that another process was faster with. */
  conflicts = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** The state as of the last commit, if it is in memory and nothing has to be waited for. */
  get ready(): HubState | undefined {
    return this.#ready;
  }

  /** The state as of the last commit; read from the store if it is not in memory. */
  state(): Promise<HubState> {
    if (this.#opened === undefined) {
      this.#opened = this.#open();
      this.#opened.catch(() => undefined); // who waits for it is told
    }
    return this.#opened;
  }

  async #open(): Promise<HubState> {
    this.#states.enter("opening");
    try {
      this.#ready = await this.#openAgain();
      this.#states.enter("open");
      return this.#ready;
    } catch (error) {
      this.#forget();
      throw error;
    }
  }

  /** The store may fail for a moment, and another process may begin the hub at the same time. */
  async #openAgain(): Promise<HubState> {
    for (let attempt = 1; ; attempt++)
      try {
        this.#began ??= this.#options.clock();
        const state = await this.#options.open(this.#began, this.#fence);
        this.#fence = state.journal.fence;
        return state;
      } catch (error) {
        if (isConflict(error) && this.#options.exclusive && this.#fence !== undefined)
          throw new StoreError("conflict", "hub: another process opened this hub, so this one has ended", {
            cause: error,
          });
        if (
          !(error instanceof StoreError && (error.retryable || error.code === "in-doubt")) ||
          attempt === ATTEMPTS
        )
          throw error;
        if (isConflict(error)) this.conflicts++;
      }
  }

  /** Resolves when it is stored. */
  add(submission: Submission): Promise<void> {
    const { most } = this.#options;
    const [events, reports] = [submission.entries.length, submission.reports.length];
    if (this.#events + events > most.events || this.#reports + reports > most.reports)
      return Promise.reject(
        new HubBusy("hub: too many events or reports wait for the store; nothing was taken, try again later"),
      );
    this.#events += events;
    this.#reports += reports;
    return new Promise<void>((resolve, reject) => {
      const last = this.#queue.at(-1);
      // Not behind a closing in its row: how many others are there would decide which event finds room and is not late.
      const joins = last !== undefined && Number.isNaN(last.closeAt) && hasRoom(last, events + reports);
      const commit = joins ? last : this.#begin();
      commit.waiting.push({ submission, resolve, reject });
      commit.size += events + reports;
      this.#start();
    }).finally(() => {
      this.#events -= events;
      this.#reports -= reports;
    });
  }

  /** Closes the periods that are due at a time; resolves to them when that is stored. */
  close(now: number): Promise<readonly ClosedSpan[]> {
    return new Promise((resolve, reject) => {
      const commit = this.#queue.at(-1) ?? this.#begin();
      commit.closeAt = Number.isNaN(commit.closeAt) ? now : Math.max(commit.closeAt, now);
      commit.closings.push({ resolve, reject });
      this.#wake();
      this.#start();
    });
  }

  /** Lets no commit begin for so many milliseconds; what comes meanwhile waits. */
  beQuiet(milliseconds: number): void {
    this.#quietUntil = performance.now() + milliseconds;
  }

  /** Whether a commit runs, or the state is read from the store. */
  get busy(): boolean {
    return ["opening", "preparing", "committing"].includes(this.#states.current);
  }

  #begin(): Commit {
    const commit: Commit = { waiting: [], size: 0, closeAt: NaN, closings: [] };
    this.#queue.push(commit);
    return commit;
  }

  #start(): void {
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    await Promise.resolve(); // calls that are made together are stored together
    while (this.#queue.length > 0) {
      await this.#pause().catch(() => undefined); // a clock that fails holds nothing up
      const commit = this.#queue.shift()!;
      await this.#commit(commit).catch((reason: unknown) => {
        for (const { reject } of [...commit.waiting, ...commit.closings]) reject(reason); // nobody waits for ever
      });
    }
    this.#running = undefined; // at once: a call that comes now begins another run
  }

  /** Waits until events may be stored. Once periods are to be closed nothing waits: no event shifts what is published. */
  async #pause(): Promise<void> {
    while (this.#queue.every(({ closeAt }) => Number.isNaN(closeAt))) {
      const until = Math.max(this.#quietUntil, this.#queue.length < 2 ? this.#restUntil : -Infinity);
      const rest = until - performance.now();
      if (rest <= 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, rest);
        this.#wake = () => (clearTimeout(timer), resolve());
      });
    }
  }

  async #commit({ waiting, closings, closeAt }: Commit): Promise<void> {
    this.#restUntil = performance.now() + this.#options.every;
    const submissions = waiting.map(({ submission }) => submission);
    for (let attempt = 1; ; attempt++) {
      const state = await this.state();
      const { position } = state;
      try {
        this.#states.enter("preparing");
        const prepared = await state.prepare(submissions);
        this.#states.enter("committing");
        const { closed, refused } = await state.commit(prepared, closeAt);
        this.#states.enter("open");
        waiting.forEach(({ resolve, reject }, i) =>
          refused[i] === undefined ? resolve() : reject(refused[i]),
        );
        for (const { resolve } of closings) resolve(closed);
        if (closed.length > 0) queueMicrotask(() => this.#options.onPublished(closed)); // its errors are not ours
        this.#afterwards(state);
        return;
      } catch (error) {
        if (this.#options.stored) this.#forget();
        else if (this.#states.current === "committing") this.#lose(error);
        else this.#states.enter("open");
        // The row is stored, but memory ran out while it was acted on: what the store has is read again.
        const isStored = this.#options.stored && state.position > position;
        if (isStored) return void (await this.#resolveStored(waiting, closings));
        if (!isConflict(error) || attempt === ATTEMPTS) throw error;
        this.conflicts++;
      }
    }
  }

  /** Which periods were closed is not known any more; they are published, and `between` has them. */
  async #resolveStored(waiting: readonly Waiting[], closings: Commit["closings"]): Promise<void> {
    await this.state().catch(() => undefined);
    for (const { resolve } of waiting) resolve();
    for (const { resolve } of closings) resolve([]);
  }

  /** Work that nobody waits for: noise of a day that began, and entries that are no longer kept. */
  #afterwards(state: HubState): void {
    const draw = (): void => {
      try {
        if (this.#isEnding || this.#ready !== state || state.drawSome()) return;
      } catch {
        return; // it is drawn when it is needed
      }
      const timer: { unref?: () => void } = setTimeout(draw);
      timer.unref?.();
    };
    draw();
    void state.removeExpired().catch(() => undefined);
  }

  /** Without a store nobody knows how much of a commit has happened: limits of people would begin anew. */
  #lose(cause: unknown): void {
    const message = "hub: a commit failed halfway, and no store has its state; make another hub";
    this.#states.enter("lost");
    this.#opened = Promise.reject<HubState>(new Error(message, { cause }));
    this.#opened.catch(() => undefined);
    this.#ready = undefined;
  }

  #forget(): void {
    this.#states.enter("unread");
    this.#opened = undefined;
    this.#ready = undefined;
  }

  /** Commits what is left and stores all sections. */
  async end(): Promise<void> {
    this.#isEnding = true;
    while (this.#running !== undefined) await this.#running;
    await (await this.#opened)?.checkpoint();
    this.#states.enter("ended");
  }
}

/** Whether a commit that waits takes so many events and reports more. */
const hasRoom = ({ size }: Commit, more: number): boolean => size === 0 || size + more <= MOST_EVENTS;
