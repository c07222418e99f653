/**
 * Keeps the event loop free. Work that takes milliseconds gets a turn of the event loop to itself, and few reads wait at
 * once. So the longest that a request waits for others is one piece of work, however many ask.
 */

/** Reads that wait at once. */
const MOST_READS = 64;

/** Too many reads wait: try again after `seconds`. */
export class TooManyReads extends Error {
  readonly seconds = 1;
}

/** The reader has gone: nobody reads this error. */
export class Abandoned extends Error {}

export class WorkTurns {
  readonly #callers: (() => void)[] = [];
  #reads = 0;

  /** Runs a computation that a request asked for; rejects with `TooManyReads` if too many wait. */
  async read<T>(compute: () => Promise<T>): Promise<T> {
    if (this.#reads >= MOST_READS) throw new TooManyReads();
    this.#reads++;
    try {
      return await compute();
    } finally {
      this.#reads--;
    }
  }

  /** Resolves in a turn of the event loop that no other caller shares: for work that cannot yield. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#callers.push(resolve) === 1) setImmediate(this.#nextCaller);
    });
  }

  readonly #nextCaller = (): void => {
    this.#callers.shift()!();
    if (this.#callers.length > 0) setImmediate(this.#nextCaller);
  };
}
