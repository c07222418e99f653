/** Discrete Laplace noise one number at a time, drawn in batches: the same numbers whatever the batches. */
import type { Core } from "../../src/core/core.js";
import type { Random } from "../../src/core/random.js";
import type { Scale } from "../../src/core/tables/scale.js";

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

  /** The next `out.length` numbers. */
  fill(out: Float64Array): void {
    const waiting = this.#batch.subarray(this.#next, this.#next + out.length);
    out.set(waiting);
    this.#next += waiting.length;
    if (waiting.length < out.length)
      this.#core.laplace(this.#random, this.#scale, out.subarray(waiting.length));
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
