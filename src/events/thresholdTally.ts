/**
 * Chooses θ from all events of the hold-out by the rule of src/stream/holdout/choice.ts. All events take part in three steps that
 * compose, with shares of ε of 1 : 1 : 6.
 *
 *     share   step                                                            noise
 *     1/8     sparsity: how many events there are above the smallest candidate    Lap(8/ε)
 *     1/8     a rough θ_w                                                     permute-and-flip, scale 8/ε
 *     6/8     θ                                                               permute-and-flip, scale 8/(6ε)
 *
 * Adding an event moves the counts of a step by at most one, in one direction. The number of events is private: it is in no
 * score. The hinge is ⌊M/ε⌋ with M = the standard error of a whole day per θ/ε: an error of that size is there anyway.
 *
 * Before that, one noisy count of the new events of each day says whether there are enough: its days are disjoint, and it
 * takes the share of sparsity, of which the choice then uses the sum.
 */
import { oneLaplace } from "../core/oneLaplace.js";
import type { NoiseCore } from "../core/core.js";
import { quantise } from "../core/quantise.js";
import { Purpose, subStream } from "../core/random.js";
import type { Scale } from "../core/tables/scale.js";
import { binOf, type Choice, chooseByBins, eventChoice, steepness } from "../stream/holdout/choice.js";
import type { Decoder, Encoder } from "../snapshot/codec.js";

const SPARSITY = 0;
const ROUGH = 1;
const FINE = 2;

/** So many events per 1/ε are needed: fewer tell nothing of their size. */
const ENOUGH = 40;

export class ThresholdTally {
  // Parameters
  readonly #epsilon: number;
  readonly #max: number;
  readonly #resolution: number;
  readonly #rough: Choice;
  readonly #fine: Choice;
  readonly #countScale: Scale;
  // State
  /** Events by how many candidates lie below their value. */
  readonly #counts: Float64Array;
  /** Events above the smallest candidate since the last noisy count. */
  #fresh = 0;
  /** The sum of the noisy counts so far, and how many there are. */
  #noisy = 0;
  #days = 0;

  /**
   * @param divisor one event has ε/divisor for the choice
   * @param error the standard error of a whole day, per θ/ε
   */
  constructor(epsilon: number, divisor: number, max: number, resolution: number, error: number) {
    this.#epsilon = epsilon / divisor;
    this.#max = max;
    this.#resolution = resolution;
    const largest = Math.floor(max / resolution);
    this.#rough = eventChoice(epsilon, divisor, 1, error, largest);
    this.#fine = eventChoice(epsilon, divisor, 6, error, largest);
    this.#countScale = this.#rough.countScale;
    this.#counts = new Float64Array(this.#fine.candidates.length + 1);
  }

  add(value: number): void {
    const bin = binOf(this.#fine.candidates, quantise(value, this.#max, this.#resolution));
    this.#counts[bin]!++;
    if (bin > 0) this.#fresh++;
  }

  /**
   * Counts the new events of a day, with noise. Returns whether θ can be chosen; if not, the hold-out goes on for a day.
   * Changes nothing: `endDay` takes the count.
   */
  countDay(core: NoiseCore, key: Uint32Array): { readonly noisy: number; readonly enough: boolean } {
    const random = subStream(key, Purpose.holdout, SPARSITY, this.#days);
    const noisy = this.#noisy + this.#fresh + oneLaplace(core, random, this.#countScale);
    return { noisy, enough: noisy * this.#epsilon >= ENOUGH };
  }

  /** Takes the count of a day after which the hold-out goes on. Cannot fail. */
  endDay(noisy: number): void {
    this.#noisy = noisy;
    this.#fresh = 0;
    this.#days++;
  }

  /** Θ, in grid units. @param noisy the noisy number of events */
  choose(core: NoiseCore, key: Uint32Array, noisy: number): number {
    // `steepness` expects the count of one class of thirteen.
    const beta = steepness(this.#fine, noisy / 13);
    const pick = (choice: Choice, purpose: number, knee: number): number => {
      const random = subStream(key, Purpose.holdout, purpose, 0);
      return choice.candidates[chooseByBins(core, random, choice, this.#counts, beta, knee)]!;
    };
    return pick(this.#fine, FINE, 2 * pick(this.#rough, ROUGH, 0));
  }

  /** Overwrites the true counts. */
  wipe(): void {
    this.#counts.fill(0);
    this.#fresh = 0;
  }

  /** As many bytes whatever the events were. */
  save(writer: Encoder): void {
    for (const count of this.#counts) writer.double(count);
    for (const number of [this.#fresh, this.#noisy, this.#days]) writer.double(number);
  }

  load(reader: Decoder): void {
    for (let k = 0; k < this.#counts.length; k++) this.#counts[k] = reader.double();
    this.#fresh = reader.double();
    this.#noisy = reader.double();
    this.#days = reader.double();
  }
}
