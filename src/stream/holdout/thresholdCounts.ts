/**
 * The values that choose θ, held-out ones or those of the first tree (refining.ts), dealt out by position, so that
 * every value serves one purpose:
 *
 *     position mod 32      purpose                                                        noise
 *     3, 19                sparsity: how many values are above the smallest candidate     Lap(1/ε)
 *     7, 23                a rough θ_w                                                    permute-and-flip, scale 1/ε
 *     15                   the mean of values clamped to θ: the first prediction          Lap(Θ/ε)
 *     31                   how many values are above θ (clipping.ts)                      Lap(1/ε)
 *     the 26 others        θ                                                              permute-and-flip, scale 1/ε
 *
 * Each purpose is ε-private given the outputs of those before it, and a value is in one of them: adaptive parallel
 * composition, ε in all (docs/privacy-values.md). Only counters are kept: values per candidate, and their sums for the mean.
 */
import { oneLaplace } from "../../core/oneLaplace.js";
import type { Core } from "../../core/core.js";
import { countHeldOut } from "../../core/js/heldOut.js";
import { HELD_OUT_MEAN as MEAN, HELD_OUT_PURPOSES as PURPOSES } from "../../core/layout.js";
import { Purpose, subStream } from "../../core/random.js";
import { binOf, type Choice, chooseByBins, isSparse, steepness } from "./choice.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import { noiseScale } from "../release/forest.js";
import type { Scale } from "../../core/tables/scale.js";

/** Purposes, as numbers of their sub-streams and of their counters. */
const SPARSITY = 0;
const ROUGH = 1;
const FINE = 2;
const ABOVE = 4;

/** A value's purpose by its position mod 32. */
const PURPOSE_AT = Uint8Array.from({ length: 32 }, (_, i) =>
  i % 16 === 3 ? SPARSITY : i % 16 === 7 ? ROUGH : i === 15 ? MEAN : i === 31 ? ABOVE : FINE,
);

/** How many held-out values, of `values` that were looked at, are above θ: with noise, so it may be negative. */
export interface AboveCount {
  readonly count: number;
  readonly values: number;
}

/** Result of the choice: θ and what the counts say of it. */
export interface Chosen {
  /** Θ in grid units. */
  readonly theta: number;
  /** Noisy mean of clamped values, in grid units. */
  readonly mean: number;
  readonly above: AboveCount;
  /** So few values are above the smallest candidate, by the noisy count for sparsity, that θ may be far off. */
  readonly sparse: boolean;
}

export class ThresholdCounts {
  readonly #choice: Choice;
  /** Candidates of the choice: every value looks its bin up. */
  readonly #candidates: Float64Array;
  readonly #smallBins: Uint8Array;
  /** 1/step, exactly: a power of two. */
  readonly #perStep: number = NaN;
  /** Per purpose, values by how many candidates lie below them; then, for the mean, the sums of values in each bin. */
  readonly #counters: Float64Array;
  readonly #bins: number;
  #held = 0;

  constructor(choice: Choice) {
    this.#choice = choice;
    this.#candidates = choice.candidates;
    this.#smallBins = choice.smallBins;
    this.#perStep = 1 / choice.step;
    this.#bins = choice.candidates.length + 1;
    this.#counters = new Float64Array((PURPOSES + 1) * this.#bins);
  }

  /** Values counted. */
  get held(): number {
    return this.#held;
  }

  /** @param x a value in grid units, from 0 to max/g */
  add(x: number): void {
    const purpose = PURPOSE_AT[this.#held % 32]!;
    const steps = Math.ceil(x * this.#perStep);
    const bin = steps < this.#smallBins.length ? this.#smallBins[steps]! : binOf(this.#candidates, x);
    const sumAt = purpose === MEAN ? PURPOSES * this.#bins + bin : -1;
    // All calls are above, where a full stack may cut them short: from here on nothing fails.
    this.#held++;
    this.#counters[purpose * this.#bins + bin]!++;
    if (sumAt >= 0) this.#counters[sumAt]! += x;
  }

  /** Adds the first `count` values of a batch, in units of the stream; cannot fail. @param max in the same units */
  addMany(core: Core, values: Float64Array, count: number, max: number, resolution: number): void {
    const part = values.subarray(0, count);
    const rest = [max, resolution, this.#choice, PURPOSE_AT, this.#held % 32, this.#counters] as const;
    try {
      core.countHeldOut(part, ...rest);
    } catch {
      countHeldOut(part, ...rest); // needs no memory, and gives the same bits
    }
    this.#held += count;
  }

  /** Chooses θ from the counts. @param whose purpose of the noise */
  choose(core: Core, key: Uint32Array, whose: Purpose.holdout | Purpose.refining = Purpose.holdout): Chosen {
    const choice = this.#choice;
    const random = (purpose: number) => subStream(key, whose, purpose, 0);
    const laplace = (purpose: number, scale: Scale): number => oneLaplace(core, random(purpose), scale);
    const pick = (purpose: number, knee: number): number => {
      const bins = this.#counters.subarray(purpose * this.#bins, (purpose + 1) * this.#bins);
      return chooseByBins(core, random(purpose), choice, bins, beta, knee);
    };

    const larger = this.#countAbove(SPARSITY, 0) + laplace(SPARSITY, choice.countScale);
    const beta = steepness(choice, larger);
    const rough = choice.candidates[pick(ROUGH, 0)]!;
    const winner = pick(FINE, 2 * rough);
    const theta = choice.candidates[winner]!;
    return {
      theta,
      mean:
        (this.#clampedSum(winner) + laplace(MEAN, noiseScale(1, theta, choice.epsilon))) /
        this.#total(MEAN, 0, this.#bins),
      sparse: isSparse(choice, larger),
      above: {
        count: this.#countAbove(ABOVE, winner) + laplace(ABOVE, choice.countScale),
        values: this.#total(ABOVE, 0, this.#bins),
      },
    };
  }

  /** The values of a purpose above candidate k. */
  #countAbove(purpose: number, k: number): number {
    return this.#total(purpose, k + 1, this.#bins);
  }

  /** The counters of a purpose, or with PURPOSES the sums, over bins [from, to). */
  #total(purpose: number, from: number, to: number): number {
    const first = purpose * this.#bins;
    let sum = 0;
    for (let bin = from; bin < to; bin++) sum += this.#counters[first + bin]!;
    return sum;
  }

  /** Σ min(x, Θ) over the values of the mean: bins up to the winner's hold values of at most Θ. */
  #clampedSum(winner: number): number {
    const theta = this.#choice.candidates[winner]!;
    return this.#total(PURPOSES, 0, winner + 1) + theta * this.#countAbove(MEAN, winner);
  }

  copy(): ThresholdCounts {
    const copy = new ThresholdCounts(this.#choice);
    copy.#held = this.#held;
    copy.#counters.set(this.#counters);
    return copy;
  }

  /** Overwrites the true counts. */
  wipe(): void {
    this.#counters.fill(0);
  }

  save(writer: Encoder): void {
    writer.double(this.#held);
    for (const x of this.#counters) writer.double(x);
  }

  load(reader: Decoder): void {
    this.#held = reader.double();
    for (let i = 0; i < this.#counters.length; i++) this.#counters[i] = reader.double();
  }
}
