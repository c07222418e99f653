/**
 * FAST (Fan and Xiong, TKDE 2014): ε for all values of a horizon T together, that is for a person who owns them all.
 *
 * At most M of the T values are sampled; a sample gets noise of scale ΘM/ε. A Kalman filter for a signal that wanders,
 * x_k = x_(k−1) + N(0, Q), observed with variance R, corrects its prediction at samples:
 *
 *     P⁻ = P + Q,   K = P⁻/(P⁻ + R),   x̂ = x̂⁻ + K(z − x̂⁻),   P = (1 − K)P⁻,
 *
 * and publishes the prediction elsewhere. How long it waits for the next sample is up to a PID controller of the feedback
 * error E = |x̂ − x̂⁻|/max(x̂, Θ): Δ = C_p·E + C_i·(mean of the last T_i errors) + C_d·(rise of E per value),
 * I ← max(1, I + 10·(1 − e^((Δ − ξ)/ξ))).
 *
 * Parameters of the paper: M = 15 % of T, C_p = 0.9, C_i = 0.1, C_d = 0, T_i = 5, ξ = 0.1; R is the variance of the noise.
 * Q is open: 10⁻⁸·R, the best of 10⁻², 10⁻⁴, 10⁻⁶, 10⁻⁸ and 10⁻¹⁰ on the tuning streams at ε = 1. Departures: the bound on the error's divisor
 * is Θ, since the paper's counts have Θ = 1; the first T_i values are samples, so that the controller has errors to go by.
 */
import type { Core } from "../../src/core/core.js";
import { laplaceVariance } from "../../src/stream/answer/variance.js";
import { type Draws, laplaceDraws, laplaceScale } from "./draws.js";
import { type Mechanism, UNKNOWN_SPREAD } from "./record.js";

const SAMPLED = 0.15;
const [PROPORTIONAL, INTEGRAL, DERIVATIVE] = [0.9, 0.1, 0];
const ERRORS = 5;
const REACH = 10;
const SET_POINT = 0.1;
const PROCESS = 1e-8;

/** M. */
export const fastSamples = (horizon: number): number => Math.max(1, Math.floor(SAMPLED * horizon));

export class Fast implements Mechanism {
  readonly #theta: number;
  readonly #draws: Draws;
  readonly #round: (x: number) => number;
  /** R, and Q. */
  readonly #observed: number;
  readonly #process: number;
  /** The latest errors, newest last. */
  readonly #errors: number[] = [];
  #samples: number;
  #estimate = 0;
  #variance: number;
  #interval = 1;
  /** Values until the next sample, and since the last one. */
  #wait = 0;
  #since = 1;

  constructor(
    core: Core,
    key: Uint32Array,
    theta: number,
    epsilon: number,
    horizon: number,
    part: number,
    round: (x: number) => number,
  ) {
    this.#theta = theta;
    this.#samples = fastSamples(horizon);
    const scale = laplaceScale(theta, epsilon, this.#samples);
    this.#draws = laplaceDraws(core, key, scale, part, 1);
    this.#observed = laplaceVariance((theta * this.#samples) / epsilon);
    this.#process = PROCESS * this.#observed;
    this.#variance = this.#observed;
    this.#round = round;
  }

  push(x: number): number {
    this.#variance += this.#process;
    if (this.#wait > 0 || this.#samples === 0) {
      this.#wait--;
      this.#since++;
      return this.#round(this.#estimate);
    }
    this.#samples--;
    const predicted = this.#estimate;
    const gain = this.#variance / (this.#variance + this.#observed);
    this.#estimate = predicted + gain * (x + this.#draws.take() - predicted);
    this.#variance *= 1 - gain;
    this.#schedule(Math.abs(this.#estimate - predicted) / Math.max(this.#estimate, this.#theta));
    return this.#round(this.#estimate);
  }

  /** @param error E of the sample just made */
  #schedule(error: number): void {
    const before = this.#errors[this.#errors.length - 1] ?? error;
    this.#errors.push(error);
    if (this.#errors.length > ERRORS) this.#errors.shift();
    if (this.#errors.length === ERRORS) {
      const mean = this.#errors.reduce((sum, e) => sum + e, 0) / ERRORS;
      const control = PROPORTIONAL * error + INTEGRAL * mean + (DERIVATIVE * (error - before)) / this.#since;
      this.#interval = Math.max(
        1,
        this.#interval + REACH * (1 - Math.exp((control - SET_POINT) / SET_POINT)),
      );
    }
    this.#wait = Math.floor(this.#interval) - 1;
    this.#since = 1;
  }

  spread() {
    return UNKNOWN_SPREAD;
  }
}
