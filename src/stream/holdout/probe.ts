/**
 * Is the stream too rough for the levels that "auto" skips? The last held-out values answer: their sums over blocks of
 * b^(s−1) values, each with discrete Laplace noise of scale Θ/ε, show how far part of a block of b^s values strays from
 * its share of the block. With S = Σ over groups of b blocks of the squared running deviations from the group's mean,
 * G groups and v the variance of the noise, the mean square of what the ends of a range miss is
 *
 *     (2/b)·(S/G − v·(b² − 1)/6).
 *
 * One level less is skipped where that is above half of what skipping the level saves, ½(C_{s−1} − C_s)(Θ/ε)². A value
 * is in one sum and in no other stage: ε, in parallel with the rest of the hold-out.
 */
import type { Core } from "../../core/core.js";
import { Purpose, subStream } from "../../core/random.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import { noiseScale } from "../release/forest.js";
import { laplaceVariance, meanVariance } from "../answer/variance.js";

export interface ProbeShape {
  readonly epsilon: number;
  readonly fanout: number;
  readonly levels: number;
  /** s ≥ 1, as "auto" has it. */
  readonly skipped: number;
  readonly maxRange: number;
  /** Values that the probe reads: a multiple of b^s. */
  readonly probing: number;
}

export class Probe {
  readonly #shape: ProbeShape;
  readonly #theta: number;
  readonly #length: number;
  readonly #sums: Float64Array;
  #count = 0;

  /** @param theta Θ in grid units */
  constructor(shape: ProbeShape, theta: number) {
    this.#shape = shape;
    this.#theta = theta;
    this.#length = shape.fanout ** (shape.skipped - 1);
    this.#sums = new Float64Array(shape.probing / this.#length);
  }

  /** @param clamped an integer in [0, Θ] */
  add(clamped: number): void {
    this.#sums[Math.floor(this.#count++ / this.#length)]! += clamped;
  }

  /** The levels to skip, after the last value: s, or s − 1 on a rough stream. */
  decide(core: Core, key: Uint32Array): number {
    const { epsilon, fanout, levels, skipped, maxRange } = this.#shape;
    const noisy = new Float64Array(this.#sums.length);
    core.laplace(subStream(key, Purpose.probe, 0, 0), noiseScale(1, this.#theta, epsilon), noisy);
    for (let i = 0; i < noisy.length; i++) noisy[i]! += this.#sums[i]!;
    const noise = (laplaceVariance(this.#theta / epsilon) * (fanout ** 2 - 1)) / 6;
    const missed = (2 / fanout) * (roughness(noisy, fanout) - noise);
    const saved =
      meanVariance(maxRange, fanout, levels + 1, skipped - 1) -
      meanVariance(maxRange, fanout, levels, skipped);
    return missed > (saved / 2) * (this.#theta / epsilon) ** 2 ? skipped - 1 : skipped;
  }

  save(writer: Encoder): void {
    writer.double(this.#count);
    for (const sum of this.#sums) writer.double(sum);
  }

  load(reader: Decoder): void {
    this.#count = reader.double();
    for (let i = 0; i < this.#sums.length; i++) this.#sums[i] = reader.double();
  }
}

/** S/G: over groups of b numbers, the mean of Σ_k (sum of the first k deviations from the group's mean)². */
export function roughness(numbers: Float64Array, fanout: number): number {
  let total = 0;
  for (let start = 0; start < numbers.length; start += fanout) {
    let sum = 0;
    for (let i = start; i < start + fanout; i++) sum += numbers[i]!;
    const mean = sum / fanout;
    let running = 0;
    for (let i = start; i < start + fanout; i++) {
      running += numbers[i]! - mean;
      total += running ** 2;
    }
  }
  return total / (numbers.length / fanout);
}
