/** Closes ticks of all streams, a few milliseconds at a time, so that nobody waits for a thousand keys. */

/** Milliseconds before other work gets its turn. */
const SLICE = 4;

export class Sweep<T> {
  readonly #streams: readonly (T | undefined)[];
  readonly #advance: (stream: T) => void;
  readonly #onError: (error: unknown) => void;
  #place = 0;
  /** Streams that this round has not come to. */
  #left = 0;
  #again = false;

  /** @param onError told why a stream could not be advanced; the round ends */
  constructor(
    streams: readonly (T | undefined)[],
    advance: (stream: T) => void,
    onError: (error: unknown) => void,
  ) {
    this.#streams = streams;
    this.#advance = advance;
    this.#onError = onError;
  }

  /** Goes round all streams; once more if it is called on the way. */
  start(): void {
    if (this.#left > 0) {
      this.#again = true;
      return;
    }
    this.#left = this.#streams.length;
    this.#slice();
  }

  #slice(): void {
    try {
      this.#advanceSome();
    } catch (error) {
      this.#left = 0;
      this.#again = false;
      this.#onError(error);
    }
    if (this.#left > 0) setImmediate(() => this.#slice());
  }

  #advanceSome(): void {
    for (const start = performance.now(); this.#left > 0 && performance.now() - start < SLICE; this.#left--) {
      this.#place = (this.#place + 1) % this.#streams.length;
      const stream = this.#streams[this.#place];
      if (stream !== undefined) this.#advance(stream);
    }
    if (this.#left === 0 && this.#again) {
      this.#again = false;
      this.#left = this.#streams.length;
    }
  }
}
