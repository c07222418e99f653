/**
 * Turns of the event loop, one caller each. Answers are computed in turns, so however many are asked for at once, whatever
 * else a process does waits for one of them at most.
 */

/** After what waits has had its turn. A browser has no `setImmediate`. */
const soon: (run: () => void) => unknown =
  typeof setImmediate === "function" ? (run) => setImmediate(run) : (run) => setTimeout(run);

export class Turns {
  readonly #waiting: (() => void)[] = [];

  /** Resolves in a turn of the event loop that no other caller shares. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) soon(this.#run);
    });
  }

  readonly #run = (): void => {
    this.#waiting.shift()!();
    if (this.#waiting.length > 0) soon(this.#run);
  };

  /** Runs a computation to its end: after every `slice` milliseconds it waits for its next turn. */
  async finish<T>(pieces: Iterator<void, T>, slice: number): Promise<T> {
    for (;;) {
      await this.next();
      const start = performance.now();
      do {
        const step = pieces.next();
        if (step.done === true) return step.value;
      } while (performance.now() - start < slice);
    }
  }
}
