/**
 * Mironov's attack (CCS 2012) on textbook Laplace noise: sum − t·ln u in doubles cannot give every double, and what it can
 * give depends on the sum. An output that is possible in one world only tells which world it is.
 */
import { play, trueSum } from "./game.js";

/** Releases a world's sum, and says whether an output can come from a sum at all. */
export interface Mechanism {
  release(which: 0 | 1): number;
  isPossible(output: number, sum: number): boolean;
}

const UNIFORMS = 2 ** 53;
/** Uniform numbers on both sides that rounding of exp, log and product may have moved an output by. */
const SLACK = 24;

/** Noise ±t·ln u of one of 2⁵³ uniform numbers. */
const noiseOf = (t: number, sign: number, k: number): number => sign * t * -Math.log(k / UNIFORMS);

export function textbook(t: number): Mechanism {
  return {
    release(which) {
      const [a, b] = crypto.getRandomValues(new Uint32Array(2)) as unknown as [number, number];
      const k = (a >>> 6) * 2 ** 27 + (b >>> 5) + 1; // 1 … 2⁵³
      return trueSum(which) + noiseOf(t, a & 1 ? 1 : -1, k);
    },
    /** Tries every uniform number whose noise lies near the difference. */
    isPossible(output, sum) {
      const noise = output - sum;
      const near = 2 ** -51 * (Math.abs(output) + Math.abs(sum)); // more than the last bits of both
      if (Math.abs(noise) <= near) return true; // the noise is so small that nearly all doubles are hit
      const uniform = (size: number) => Math.exp(-size / t) * UNIFORMS;
      const first = Math.max(1, Math.floor(uniform(Math.abs(noise) + near)) - SLACK);
      const last = Math.min(UNIFORMS, Math.ceil(uniform(Math.abs(noise) - near)) + SLACK);
      for (let k = first; k <= last; k++) if (sum + noiseOf(t, Math.sign(noise), k) === output) return true;
      return false;
    },
  };
}

/** Brume's outputs lie on one grid, and its noise is a whole number of steps: the attacker learns the grid from the outputs. */
export function brume(epsilon: number): Mechanism {
  let step = 1;
  return {
    release: (which) => play(epsilon, which).sum,
    isPossible(output, sum) {
      while (!Number.isInteger(output / step)) step /= 2;
      return Number.isInteger((output - sum) / step);
    },
  };
}

/** Evidence that an attacker gains from a number of releases. */
export interface Findings {
  readonly runs: number;
  /** Outputs that are possible only in the world they came from. */
  readonly given: number;
  /** A lower bound on ε, with 99 % confidence; 0 for nothing found. */
  readonly epsilon: number;
  readonly example: number | undefined;
}

/** Odds that the bound is wrong: half for each world. */
const WRONG = 0.01;

export class Breaker {
  readonly #mechanism: Mechanism;
  /** Per world: releases, and those whose output the other world cannot give. */
  readonly #runs: [number, number] = [0, 0];
  readonly #given: [number, number] = [0, 0];
  #example: number | undefined;

  constructor(mechanism: Mechanism) {
    this.#mechanism = mechanism;
  }

  once(which: 0 | 1): void {
    const output = this.#mechanism.release(which);
    this.#runs[which]++;
    if (this.#mechanism.isPossible(output, trueSum(which === 0 ? 1 : 0))) return;
    this.#given[which]++;
    this.#example ??= output;
  }

  /**
   * The event "world B cannot give this output" has a share p of A's releases, by Hoeffding at least p̂ − √(ln(1/α)/2n); none
   * of B's n releases has it, so its share there is at most 1 − α^(1/n). Their ratio is at most e^ε.
   */
  findings(): Findings {
    const [runs, other] = this.#runs;
    const alpha = WRONG / 2;
    const least = this.#given[0] / runs - Math.sqrt(Math.log(1 / alpha) / (2 * runs));
    const most = 1 - alpha ** (1 / other);
    return {
      runs: runs + other,
      given: this.#given[0] + this.#given[1],
      epsilon: Math.max(0, Math.log(Math.max(0, least) / most)),
      example: this.#example,
    };
  }
}
