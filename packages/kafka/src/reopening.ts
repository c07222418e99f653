/** The life of a task: open, work, and after an error forget everything and open again. */
import { Refusal } from "brume/node";
import { setTimeout as sleep } from "node:timers/promises";

import { Fenced } from "./port.js";

const [FIRST_PAUSE, LONGEST_PAUSE] = [20, 2_000];

/** Grows while the work goes well. */
type Progress = Readonly<{ transactions: number }>;

/** A task that runs until it is stopped. */
export class Reopening {
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;

  /** As `reopening`. */
  constructor(open: () => Promise<void>, progress: Progress, onError: (error: Error) => void) {
    this.#done = reopening(open, progress, onError, this.#stop.signal);
  }

  /** Fires when the task shall end. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Resolves as the promise does, or to undefined as soon as the task shall end. */
  async unlessStopped<T>(promise: Promise<T>): Promise<T | undefined> {
    const { signal } = this.#stop;
    if (signal.aborted) return undefined;
    const watch = new AbortController();
    const aborted = new Promise<undefined>((resolve) =>
      signal.addEventListener("abort", () => resolve(undefined), { once: true, signal: watch.signal }),
    );
    return Promise.race([promise, aborted]).finally(() => watch.abort()); // or the listeners would add up
  }

  /** Ends when the task has ended. */
  stop(): Promise<void> {
    this.#stop.abort();
    return this.#done;
  }
}

/**
 * Calls `open` until it returns, refuses, or is stopped. An error is never taken for an abort of a transaction: only
 * opening again finds out what was committed.
 */
export async function reopening(
  open: () => Promise<void>,
  progress: Progress,
  onError: (error: Error) => void,
  signal: AbortSignal,
): Promise<void> {
  let pause = FIRST_PAUSE;
  while (!signal.aborted) {
    const before = progress.transactions;
    try {
      await open();
      return;
    } catch (error) {
      onError(error as Error);
      if (error instanceof Refusal) return;
      if (progress.transactions > before) pause = FIRST_PAUSE;
      // A fenced task waits longer: the group will soon say that the partition is another worker's.
      await sleep(error instanceof Fenced ? LONGEST_PAUSE : pause, undefined, { signal }).catch(() => {});
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    }
  }
}
