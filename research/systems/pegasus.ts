/**
 * PeGaSus (Chen, Machanavajjhala, Hay and Miklau, CCS 2017): perturber, grouper, smoother.
 *
 * - Perturber: every value gets noise of scale Θ/ε_p.
 * - Grouper (Algorithm 2): values are put into groups of small deviation Σ |x − mean|, decided by sparse vector: a group's
 *   bound is 5Θ/ε_g with noise of scale 4Θ/ε_g; a value joins if the deviation with it, plus noise of scale 8Θ/ε_g, is below the
 *   bound. The deviation moves by at most 2Θ. A value that does not join makes a closed group of its own.
 * - Smoother: the published number is the average or the median of the group's noisy values so far, or James and Stein's
 *   estimate (x̃ − average)/|group| + average.
 *
 * ε_p = 0.8 ε and ε_g = 0.2 ε (Section 6.1). A value is in one group, and its noisy self is published once: ε in all.
 *
 * Departures: the grouper sees values in steps of Θ/4096 and rounds the deviation down, which keeps its sensitivity and makes
 * every comparison exact; a group ends after 2²⁰ values. The paper has counts and Θ = 1.
 */
import type { Core } from "../../src/core/core.js";
import { Deviation } from "./deviation.js";
import { type Draws, laplaceDraws, laplaceScale } from "./draws.js";
import { type Mechanism, UNKNOWN_SPREAD } from "./record.js";
import { RunningMedian } from "./runningMedian.js";

export type PegasusSmoother = "average" | "median" | "james-stein";

/** Σ |x − mean| stays exact: 4096·2²⁰·2²⁰ < 2⁵³. */
const STEPS = 4096;
const LONGEST = 2 ** 20;
const PERTURBER_SHARE = [4, 5] as const;
const GROUPER_SHARE = [1, 5] as const;
const BOUND = 5;

export class Pegasus implements Mechanism {
  readonly #smooth: (noisy: number) => number;
  readonly #round: (x: number) => number;
  readonly #noise: Draws;
  readonly #boundNoise: Draws;
  readonly #queryNoise: Draws;
  readonly #bound: number;
  /** Grid units per step of the grouper. */
  readonly #step: number;
  readonly #group: Deviation;
  readonly #members: number[] = [];
  readonly #median = new RunningMedian();
  #noisyBound = 0;
  #closed = true;
  #sum = 0;
  #count = 0;

  constructor(
    core: Core,
    key: Uint32Array,
    theta: number,
    epsilon: number,
    smoother: PegasusSmoother,
    round: (x: number) => number,
  ) {
    const steps = Math.min(STEPS, theta);
    const draws = (scale: ReturnType<typeof laplaceScale>, purpose: number) =>
      laplaceDraws(core, key, scale, 0, purpose);
    this.#noise = draws(laplaceScale(theta, epsilon, 1, PERTURBER_SHARE), 1);
    this.#boundNoise = draws(laplaceScale(steps, epsilon, 4, GROUPER_SHARE), 2);
    this.#queryNoise = draws(laplaceScale(steps, epsilon, 8, GROUPER_SHARE), 3);
    this.#bound = (BOUND * steps * GROUPER_SHARE[1]) / (GROUPER_SHARE[0] * epsilon);
    this.#step = theta / steps;
    this.#group = new Deviation(steps);
    this.#round = round;
    this.#smooth = this.#smootherOf(smoother);
  }

  push(x: number): number {
    const noisy = x + this.#noise.take();
    this.#place(Math.floor(x / this.#step));
    return this.#round(this.#smooth(noisy));
  }

  /** Puts the value into the open group, or into a new one. */
  #place(x: number): void {
    if (this.#closed || this.#group.count >= LONGEST) {
      this.#begin(x);
      this.#closed = false;
      this.#noisyBound = this.#bound + this.#boundNoise.take();
      return;
    }
    this.#group.add(x);
    this.#members.push(x);
    if (this.#group.floor() + this.#queryNoise.take() < this.#noisyBound) return;
    this.#begin(x);
    this.#closed = true;
  }

  #begin(x: number): void {
    if (this.#members.length > STEPS / 8) this.#group.clear();
    else for (const member of this.#members) this.#group.remove(member);
    this.#members.length = 0;
    this.#group.add(x);
    this.#members.push(x);
    this.#sum = this.#count = 0;
    this.#median.clear();
  }

  #smootherOf(name: PegasusSmoother): (noisy: number) => number {
    const average = (noisy: number) => (this.#sum += noisy) / ++this.#count;
    if (name === "average") return average;
    if (name === "median")
      return (noisy) => {
        this.#median.add(noisy);
        return this.#median.value;
      };
    return (noisy) => {
      const mean = average(noisy);
      return mean + (noisy - mean) / this.#count;
    };
  }

  spread() {
    return UNKNOWN_SPREAD;
  }
}
