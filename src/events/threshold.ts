/**
 * Chooses θ from the events of the first ticks: noisy max over Θ_k = round(2^(k/4)) of
 *
 *     q(θ) = −max(#{v > θ} − ⌊1/ε⌋, 0) − (β/ε)·ln θ
 *
 * About 1/ε events above θ are what the noise of the release hides anyway, whatever the unit. Adding an event moves
 * all counts by at most one, in one direction, so one-sided noise of scale 1/ε is enough (docs/noisy-max.md). The
 * score has no number of events in it: that is private here.
 */
import type { Core } from "../core/core.js";
import { quantise } from "../core/quantise.js";
import { Stage, subStream } from "../core/random.js";
import { exactRational } from "../core/tables/fixedPoint.js";
import { makeScale } from "../core/tables/scale.js";
import type { Decoder, Encoder } from "../stream/codec.js";
import type { Settings } from "../stream/options.js";

/** β: what doubling θ costs in events, times ln 2/ε. */
const SLOPE = 3;
/** Scores are integers on a grid of 2⁻¹⁰ events. */
const GRID = 2 ** 10;

export class ThresholdTally {
  readonly #settings: Settings;
  /** Candidates for θ, in grid units, ascending. */
  readonly #candidates: readonly number[];
  /** Events whose value is above k candidates. */
  readonly #above: Float64Array;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#candidates = candidates(Math.floor(settings.max / settings.resolution));
    this.#above = new Float64Array(this.#candidates.length + 1);
  }

  add(value: number): void {
    const { max, resolution } = this.#settings;
    const units = quantise(value, max, resolution);
    let [low, high] = [0, this.#candidates.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#candidates[middle]! < units) low = middle + 1;
      else high = middle;
    }
    this.#above[low]!++;
  }

  /** Θ, in grid units. */
  choose(core: Core, key: Uint32Array, epsilon: number): number {
    const { numerator, denominator } = exactRational(epsilon);
    const noise = new Float64Array(this.#candidates.length);
    core.geometric(
      subStream(key, Stage.threshold, 0, 0),
      makeScale(BigInt(GRID) * denominator, numerator),
      noise,
    );
    const spared = Math.floor(1 / epsilon);
    let [best, highest, above] = [0, -Infinity, 0];
    for (let k = this.#candidates.length - 1; k >= 0; k--) {
      above += this.#above[k + 1]!;
      const penalty = Math.floor((GRID * SLOPE * Math.log(this.#candidates[k]!)) / epsilon + 0.5);
      const score = noise[k]! - GRID * Math.max(above - spared, 0) - penalty;
      if (score >= highest) [best, highest] = [k, score]; // ties go to the smaller θ
    }
    return this.#candidates[best]!;
  }

  /** As many bytes whatever the events were. */
  save(writer: Encoder): void {
    for (const count of this.#above) writer.double(count);
  }

  load(reader: Decoder): void {
    for (let k = 0; k < this.#above.length; k++) this.#above[k] = reader.double();
  }
}

/** 1, 2, 3, 4, 5, 6, 7, 8, 10, …, most. */
function candidates(most: number): number[] {
  const list: number[] = [];
  for (let k = 0; ; k++) {
    const next = Math.round(2 ** (k / 4));
    if (next >= most) return [...list, most];
    if (next !== list.at(-1)) list.push(next);
  }
}
