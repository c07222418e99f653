/**
 * Online partition for sparse streams (Dwork, Naor, Reingold and Rothblum, ASIACRYPT 2015): error of order log T + log² n for n
 * values other than 0, where a tree has log² T.
 *
 * Half of ε cuts the stream into segments by sparse vector: a segment ends when its sum, plus noise, reaches a noisy bound
 * of order (log T)·Θ/ε, so that segments are few where values are few. The other half counts segments instead of
 * values: the sum of a finished segment is one entry of an unbounded counter (the Hybrid Mechanism). Between two ends the
 * last count is published again.
 *
 * A value is in one segment. With the cuts fixed it changes one entry by at most Θ; the cuts are AboveThreshold with sensitivity
 * Θ (Dwork and Roth 2014, Algorithm 1: bound Lap(2Θ/ε₁), sums Lap(4Θ/ε₁), ε₁ = ε/2), begun again for every segment.
 *
 * Departure: the paper leaves the constant of the bound to its proof. Here it is 4·ln(T)·Θ/ε₁, the size of the largest of T
 * noises, so that a segment without values is cut off about once in a stream.
 */
import type { Core } from "../../src/core/core.js";
import { type Draws, laplaceDraws, laplaceScale } from "./draws.js";
import { Hybrid } from "./hybrid.js";
import { type PrefixMechanism, UNKNOWN_SPREAD } from "./record.js";

const HALF = [1, 2] as const;

export class Partition implements PrefixMechanism {
  readonly #counter: Hybrid;
  readonly #boundNoise: Draws;
  readonly #sumNoise: Draws;
  readonly #bound: number;
  #noisyBound: number;
  #segment = 0;
  #counted = 0;

  constructor(core: Core, key: Uint32Array, theta: number, epsilon: number, horizon: number) {
    this.#boundNoise = laplaceDraws(core, key, laplaceScale(theta, epsilon, 2, HALF), 0, 1);
    this.#sumNoise = laplaceDraws(core, key, laplaceScale(theta, epsilon, 4, HALF), 0, 2);
    this.#counter = new Hybrid(core, key, theta, epsilon / 2, 2);
    this.#bound = (4 * Math.log(horizon) * theta) / (epsilon / 2);
    this.#noisyBound = this.#bound + this.#boundNoise.take();
  }

  push(x: number): number {
    this.#segment += x;
    if (this.#segment + this.#sumNoise.take() < this.#noisyBound) return this.#counted;
    this.#counted = this.#counter.push(this.#segment);
    this.#segment = 0;
    this.#noisyBound = this.#bound + this.#boundNoise.take();
    return this.#counted;
  }

  spread() {
    return UNKNOWN_SPREAD;
  }
}
