/** Whether a service can take events and give answers, and why not, in words that an operator can act on. No message holds private data. */
import { Refusal } from "brume/node";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "./clock.js";
import type { Mark } from "./mark.js";
import { Unavailable } from "./submission.js";

const TAKEN_OVER = "store: another service writes to the same state, so this one stops";
const UNPAID = "budget: the day cannot be charged, so nothing is published";
const TROUBLE =
  "store: it does not take anything; events are refused until it does. Check the disk and its permissions, or the database";
const IN_DOUBT =
  "store: it failed, and whether the batch is stored is not known; send it again with the same Idempotency-Key";

/** Milliseconds between two attempts on a store that fails. */
const RETRY = 250;

export const isStoreError = (error: unknown): boolean => (error as Error | undefined)?.name === "StoreError";

export class Health {
  // Parameters
  readonly #clock: Clock;
  readonly #tell: (message: string) => void;
  readonly #retry: () => Promise<unknown>;
  // State
  #storeTrouble: string | undefined;
  /** Why the next day could not be charged to the budget: no event of it is taken. */
  #unpaid: string | undefined;
  #ended: Error | undefined;
  #isStopping = false;
  #onEnd: ((reason: Error) => void) | undefined;
  /** Calls of the store that failed. */
  failures = 0;

  /**
   * @param tell told what an operator must know
   * @param retry a call of the store, made again while it fails
   */
  constructor(clock: Clock, tell: (message: string) => void, retry: () => Promise<unknown>) {
    this.#clock = clock;
    this.#tell = tell;
    this.#retry = retry;
  }

  /** Why nothing can be taken, if so. */
  get trouble(): string | undefined {
    return this.failure ?? this.#storeTrouble ?? this.#unpaid ?? this.#clockTrouble();
  }

  /** Why the service has ended, if so: only a new process can go on. */
  get failure(): string | undefined {
    return this.#ended?.message;
  }

  /** Whether the service ends, or has. */
  get isOver(): boolean {
    return this.#isStopping || this.#ended !== undefined;
  }

  #clockTrouble(): string | undefined {
    if (this.#clock.now() === undefined)
      return "clock: the machine's clock jumped by more than a minute; set it right, or start the service again if it is right now";
    const { behind } = this.#clock;
    return behind < 60_000
      ? undefined
      : `clock: the machine's clock is ${Math.round(behind / 1000)} s behind the newest stored time; set it right, or wait`;
  }

  /** Calls back if the service ends by itself: another one took the state over, or the state is damaged. */
  onEnd(listener: (reason: Error) => void): void {
    this.#onEnd = listener;
    if (this.#ended !== undefined) listener(this.#ended);
  }

  /** A call of the hub failed: the state in memory is gone, and is read from the store again. */
  fails(error: unknown): void {
    if (this.isOver) return;
    this.failures++;
    if (isTakenOver(error)) return this.#end(new Refusal(TAKEN_OVER, { cause: error }));
    if ((error as { code?: unknown } | undefined)?.code === "rolled-back")
      return this.#end(new Refusal((error as Error).message, { cause: error }));
    if (this.#storeTrouble !== undefined) return;
    this.#storeTrouble = TROUBLE;
    this.#tell(`${TROUBLE} (${codeOf(error)})`);
    void this.#recover();
  }

  /** A call that stores something failed. Returns what its caller is told. */
  storeFails(error: unknown): Unavailable {
    this.fails(error);
    return new Unavailable(this.failure ?? IN_DOUBT);
  }

  /** A call that reads failed. Returns what its caller is told: a wrong argument is no failure of the store. */
  readFails(error: unknown): unknown {
    if (!isStoreError(error) && this.#storeTrouble === undefined) return error;
    this.fails(error);
    return new Unavailable(this.failure ?? TROUBLE);
  }

  /** The day is charged to the budget. */
  paid(): void {
    if (this.#unpaid !== undefined) this.#tell("budget: the day is charged");
    this.#unpaid = undefined;
  }

  /** The day could not be charged to the budget. */
  payFails(error: unknown): void {
    const reason = error instanceof Refusal ? error.message : `${UNPAID} (${codeOf(error)})`;
    if (this.#unpaid !== reason) this.#tell(reason);
    this.#unpaid = reason;
  }

  async #recover(): Promise<void> {
    while (!this.isOver) {
      await sleep(RETRY);
      try {
        await this.#retry();
        this.#storeTrouble = undefined;
        return this.#tell("store: recovered");
      } catch (error) {
        this.fails(error);
      }
    }
  }

  #end(reason: Error): void {
    this.#ended ??= reason;
    this.#onEnd?.(reason);
  }

  /** The service is being stopped: what fails from now on is nobody's trouble. */
  stop(): void {
    this.#isStopping = true;
  }

  /** The service has stopped. */
  stopped(): void {
    this.#ended ??= new Unavailable("the service stops");
  }
}

/** Whether another process continued the journal: its row is where ours should be. */
function isTakenOver(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return code === "conflict" || (cause instanceof Error && isTakenOver(cause));
}

/** Makes a refusal of an error that a person can act on. The messages of the library hold public parameters only. */
export function asRefusal(error: unknown, mark: Mark | undefined): unknown {
  if (error instanceof Refusal || !(error instanceof Error)) return error;
  const { code } = error as { code?: unknown };
  if (code === "conflict") return new Refusal(TAKEN_OVER, { cause: error });
  if (code === "rolled-back" && mark !== undefined)
    return new Refusal(
      `${error.message}. The file ${mark.path} says how new the state must be; if you begin with an empty state, remove that file too (docs/operate.md, "Back up, and never roll back")`,
      { cause: error },
    );
  if (error.message.startsWith("clock:"))
    return new Refusal(
      error.message.replace("open with confirmClock: true", "start once with --confirm-clock"),
      { cause: error },
    );
  return isStoreError(error) || error instanceof RangeError || error instanceof TypeError
    ? new Refusal(error.message, { cause: error })
    : error;
}

/** A code such as ENOSPC, which says nothing about data. */
export function codeOf(error: unknown): string {
  const { code, cause } = Object(error) as { code?: unknown; cause?: unknown };
  if (typeof code === "string" && /^[A-Z_]{2,40}$/.test(code)) return code;
  return cause === undefined ? "no code" : codeOf(cause);
}
