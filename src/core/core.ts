/**
 * What both cores can do. `wasm` runs the kernels of assembly/, `js` their twins in plain TypeScript; on the
 * same key they give the same answers, bit for bit. A core keeps nothing between calls: every array that goes
 * in or comes out belongs to the caller.
 */
import type { Random } from "./random.js";
import type { Transition } from "./transition.js";

/** ChaCha20 (RFC 8439). */
export interface Keystream {
  /** Fills `out` with the next words of the keystream. */
  keystream(random: Random, out: Uint32Array): void;
}

/** Expectation maximisation for the Square Wave mechanism, O(n) a step. */
export interface SquareWave {
  /**
   * Runs as many updates as `predicted` has rows of n = transition.bins, and keeps them all: the decision to stop is
   * taken outside, from logarithms that must not differ between cores.
   * @param counts reports per output bin
   * @param smooth EMS: [1, 2, 1]/4 after every update
   * @param estimates one row of n more than `predicted`; the first row goes in, sums to 1, each update writes the next
   * @param predicted M f of the estimate that entered each update
   */
  emSteps(
    transition: Transition,
    counts: Float64Array,
    smooth: boolean,
    estimates: Float64Array,
    predicted: Float64Array,
  ): void;
}

export interface Core extends Keystream, SquareWave {
  readonly name: "wasm" | "js";
}
