/**
 * A first prediction from held-out values that took no part in choosing θ: their clamped integer sum plus discrete
 * Laplace noise of scale Θ/ε. The values are used for nothing else, so this composes in parallel and costs no ε.
 * Without it the first block is predicted as θ/2 a value, which at larger ε costs more than all the noise.
 */
import { oneLaplace } from "../../core/oneLaplace.js";
import type { Core } from "../../core/core.js";
import { Purpose, subStream } from "../../core/random.js";
import { noiseScale } from "../release/forest.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";

export class WarmStart {
  #sum = 0;
  #count = 0;

  /** @param clamped an integer in [0, Θ] */
  add(clamped: number): void {
    this.#sum += clamped;
    this.#count++;
  }

  save(writer: Encoder): void {
    writer.double(this.#sum);
    writer.count(this.#count);
  }

  load(reader: Decoder): void {
    this.#sum = reader.double();
    this.#count = reader.count();
  }

  /** The noisy mean, in grid units. */
  mean(core: Core, key: Uint32Array, theta: number, epsilon: number): number {
    const random = subStream(key, Purpose.warmStart, 0, 0);
    return (this.#sum + oneLaplace(core, random, noiseScale(1, theta, epsilon))) / this.#count;
  }
}
