/**
 * θ of events in the other way: instead of ε, the events are divided. Each event goes into one of three classes by a draw of
 * its own (1 : 1 : 6, as src/events/thresholdTally.ts divides ε), and each class has all of ε.
 *
 * Privacy: the draw of an event depends on no other event, so neighbours that share their draws differ by one event in one
 * class. Each class is ε-private given the outputs of those before it, and the mixture over the draws is too: ε in all.
 *
 * A class of a share s of the events at ε has the counts, hinge and penalty of all events at sε, times s: both ways have the
 * same noise beside the counts. What this way has beside is the chance that deals the events.
 */
import type { Core } from "../../src/core/core.js";
import { quantise } from "../../src/core/quantise.js";
import { Purpose, subStream } from "../../src/core/random.js";
import {
  binOf,
  type Choice,
  chooseCandidate,
  eventChoice,
  steepness,
} from "../../src/stream/holdout/choice.js";
import { uniformBelow } from "../uniform.js";

/** Eighths of the events. */
const EIGHTHS = 8;
const [SPARSITY, ROUGH, FINE] = [0, 1, 2];
const FINE_EIGHTHS = 6;

export class DealtTally {
  // Parameters
  readonly #max: number;
  readonly #resolution: number;
  readonly #rough: Choice;
  readonly #fine: Choice;
  // State
  /** Per class, events by how many candidates lie below their value. */
  readonly #counts: readonly Float64Array[];

  /** @param error the standard error of a whole day, per θ/ε */
  constructor(epsilon: number, max: number, resolution: number, error: number) {
    this.#max = max;
    this.#resolution = resolution;
    const all = eventChoice(epsilon, 1, EIGHTHS, error, Math.floor(max / resolution));
    const hingeOf = (eighths: number) => Math.floor((error * eighths) / (EIGHTHS * epsilon));
    this.#rough = { ...all, hinge: hingeOf(1) };
    this.#fine = { ...all, hinge: hingeOf(FINE_EIGHTHS) };
    this.#counts = [SPARSITY, ROUGH, FINE].map(() => new Float64Array(all.candidates.length + 1));
  }

  /** @param key of the draws that deal the events */
  addMany(values: Float64Array, key: Uint32Array): void {
    const draws = new Float64Array(values.length);
    uniformBelow(subStream(key, Purpose.baseline, 0, 0), EIGHTHS, draws);
    for (let i = 0; i < values.length; i++) {
      const bin = binOf(this.#fine.candidates, quantise(values[i]!, this.#max, this.#resolution));
      this.#counts[Math.min(draws[i]!, FINE)]![bin]!++;
    }
  }

  /** Θ, in grid units. */
  choose(core: Core, key: Uint32Array): number {
    const noise = new Float64Array(1);
    core.laplace(subStream(key, Purpose.holdout, SPARSITY, 0), this.#fine.countScale, noise);
    const noisy = this.#above(SPARSITY)[0]! + noise[0]!;
    const beta = steepness(this.#fine, (FINE_EIGHTHS * noisy) / 13);
    const pick = (choice: Choice, purpose: number, knee: number): number => {
      const random = subStream(key, Purpose.holdout, purpose, 0);
      return choice.candidates[chooseCandidate(core, random, choice, this.#above(purpose), beta, knee)]!;
    };
    return pick(this.#fine, FINE, 2 * pick(this.#rough, ROUGH, 0));
  }

  /** Per candidate, the events of a class above it. */
  #above(purpose: number): Float64Array {
    const counts = this.#counts[purpose]!;
    const above = new Float64Array(counts.length - 1);
    for (let k = above.length - 1, sum = 0; k >= 0; k--) above[k] = sum += counts[k + 1]!;
    return above;
  }
}
