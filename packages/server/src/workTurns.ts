/**
 * Keeps the event loop free. Work that takes milliseconds gets a turn of the event loop to itself, and few reads wait at
 * once. So the longest that a request waits for others is one piece of work, however many ask.
 */
import { Turns } from "brume/node";

/** Reads that wait at once. */
const MOST_READS = 64;

/** Too many reads wait: try again after `seconds`. */
export class TooManyReads extends Error {
  readonly seconds = 1;
}

/** The reader has gone: nobody reads this error. */
export class Abandoned extends Error {}

export class WorkTurns extends Turns {
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
}
