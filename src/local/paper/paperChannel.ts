/** The channels of the paper's two phases: Square Wave on [0, max] to learn, Hybrid on [0, θ] to release. */
import type { Channel } from "../channel.js";
import { hybrid, squareWave } from "../mechanisms.js";
import { gridOf, type Phase } from "../report.js";

/**
 * Learning puts value v into cell ⌊v·2²⁰/max⌋; releasing takes the nearest multiple of θ/2²⁰, off by θ/2²¹ at most.
 * @param bound `max` when learning, θ when releasing; both are checked, so 2²⁰/bound is finite
 */
export function paperChannel(phase: Phase, epsilon: number, bound: number): Channel {
  const grid = gridOf(phase, epsilon, bound);
  if (phase === "learn") {
    const mechanism = squareWave(epsilon);
    return { phase, mechanism, grid, quantiser: { scale: (mechanism.top + 1) / bound, shift: 0 } };
  }
  const mechanism = hybrid(epsilon);
  return { phase, mechanism, grid, quantiser: { scale: mechanism.top / bound, shift: 0.5 } };
}
