/**
 * Chooses θ from the events of the first ticks by the rule of src/stream/choice.ts. Ticks are dealt into classes, since
 * an event that were dealt by its number would move all that come after it into other classes:
 *
 *     tick mod 16      purpose                                                       noise
 *     3                sparsity: how many events are above the smallest candidate    Lap(1/ε)
 *     7                a rough θ_w                                                   permute-and-flip, scale 1/ε
 *     the 14 others    θ                                                             permute-and-flip, scale 1/ε
 *
 * An event is in one class, and adding it moves all counts of that class by at most one, in one direction: ε in all.
 * The score has no number of events in it, which is private here; the guess of it is public.
 */
import type { Core } from "../core/core.js";
import { quantise } from "../core/quantise.js";
import { Stage, subStream } from "../core/random.js";
import { binOf, type Choice, chooseCandidate, makeChoice, steepness } from "../stream/choice.js";
import type { Decoder, Encoder } from "../stream/codec.js";
import type { Settings } from "../stream/options.js";

const SPARSITY = 0;
const ROUGH = 1;
const FINE = 2;
const CLASSES = 3;

const classOf = (tick: number): number => (tick % 16 === 3 ? SPARSITY : tick % 16 === 7 ? ROUGH : FINE);

export class ThresholdTally {
  readonly #settings: Settings;
  readonly #choice: Choice;
  /** Per class, events by how many candidates lie below their value. */
  readonly #counts: readonly Float64Array[];

  /** @param ticks how many of them choose θ, and `perTick` the guess of how many events each has */
  constructor(settings: Settings, ticks: number, perTick: number) {
    const { epsilon, maxRange, max, resolution } = settings;
    this.#settings = settings;
    this.#choice = makeChoice(epsilon, ticks * perTick, maxRange * perTick, Math.floor(max / resolution));
    const bins = this.#choice.candidates.length + 1;
    this.#counts = Array.from({ length: CLASSES }, () => new Float64Array(bins));
  }

  /** For Θ, in grid units, ascending. */
  get candidates(): Float64Array {
    return this.#choice.candidates;
  }

  add(value: number, tick: number): void {
    const { max, resolution } = this.#settings;
    const bin = binOf(this.#choice.candidates, quantise(value, max, resolution));
    this.#counts[classOf(tick)]![bin]!++;
  }

  /** Θ, in grid units. */
  choose(core: Core, key: Uint32Array): number {
    const random = (purpose: number) => subStream(key, Stage.holdout, purpose, 0);
    const noise = new Float64Array(1);
    core.laplace(random(SPARSITY), this.#choice.countScale, noise);
    const beta = steepness(this.#choice, this.#above(SPARSITY)[0]! + noise[0]!);
    const pick = (purpose: number, knee: number): number => {
      const winner = chooseCandidate(core, random(purpose), this.#choice, this.#above(purpose), beta, knee);
      return this.#choice.candidates[winner]!;
    };
    return pick(FINE, 2 * pick(ROUGH, 0));
  }

  /** Per candidate, the events of a class that are above it. */
  #above(purpose: number): Float64Array {
    const counts = this.#counts[purpose]!;
    const above = new Float64Array(counts.length - 1);
    for (let k = above.length - 1, sum = 0; k >= 0; k--) above[k] = sum += counts[k + 1]!;
    return above;
  }

  /** Overwrites the true counts. */
  wipe(): void {
    for (const counts of this.#counts) counts.fill(0);
  }

  /** As many bytes whatever the events were. */
  save(writer: Encoder): void {
    for (const counts of this.#counts) for (const count of counts) writer.double(count);
  }

  load(reader: Decoder): void {
    for (const counts of this.#counts) for (let k = 0; k < counts.length; k++) counts[k] = reader.double();
  }
}
