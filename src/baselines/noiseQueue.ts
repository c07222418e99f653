/** Discrete Laplace noise one number at a time, drawn in batches: the same numbers whatever the batches. */
import type { Core } from "../core/core.js";
import type { Random } from "../core/random.js";
import type { Scale } from "../core/scale.js";

/** Batches double up to this, so that a level with few nodes draws few numbers. */
const MOST = 4096;

export class NoiseQueue {
  readonly #core: Core;
  readonly #random: Random;
  readonly #scale: Scale;
  #batch = new Float64Array(0);
  #next = 0;

  /** @param random a sub-stream of its own */
  constructor(core: Core, random: Random, scale: Scale) {
    this.#core = core;
    this.#random = random;
    this.#scale = scale;
  }

  /** The next `count` numbers, in an array that is the caller's. */
  takeMany(count: number): Float64Array {
    const numbers = new Float64Array(count);
    const waiting = this.#batch.subarray(this.#next, this.#next + count);
    numbers.set(waiting);
    this.#next += waiting.length;
    if (waiting.length < count)
      this.#core.laplace(this.#random, this.#scale, numbers.subarray(waiting.length));
    return numbers;
  }

  take(): number {
    if (this.#next === this.#batch.length) {
      this.#batch = new Float64Array(Math.min(MOST, Math.max(8, 2 * this.#batch.length)));
      this.#core.laplace(this.#random, this.#scale, this.#batch);
      this.#next = 0;
    }
    return this.#batch[this.#next++]!;
  }
}
