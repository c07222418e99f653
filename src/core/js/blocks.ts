/**
 * What candidates for θ cost, in blocks of 2^β: exactly where it matters, from below elsewhere. Candidate a
 * (from 0) stands for θ_(a+1), which a value of bin k exceeds iff k > a. Twin of assembly/blocks.ts.
 */
import { penalty, type Selection } from "../tables/selection.js";

/** How many values are counted to find the blocks that matter; m below twice that, all of them. */
const SAMPLE = 8192;

/** Blocks that are not counted exactly must be this many T worse than the best seems to be. */
const HOPELESS = 32;

/** Allowance for the sample that says so. */
const STANDARD_ERRORS = 4;

export class Blocks {
  readonly count: number;
  readonly #bins: ArrayLike<number>;
  readonly #race: Selection;
  /** Values in block k; a sample of them below #exactFrom. The last entry is for values above all candidates. */
  readonly #inside: Uint32Array;
  /** Values in blocks above k, or fewer. */
  readonly #above: Uint32Array;
  #exactFrom = 0;
  /** The values of exact blocks, grouped by block; those of block k end at #ends[k]. */
  #grouped = new Uint32Array(0);
  readonly #ends: Uint32Array;
  /** Values above each candidate of block #open. */
  readonly #aboveEach: Uint32Array;
  #open = -1;

  constructor(bins: ArrayLike<number>, race: Selection) {
    this.#bins = bins;
    this.#race = race;
    this.count = Math.ceil(race.candidates / 2 ** race.blockBits);
    this.#inside = new Uint32Array(this.count + 1);
    this.#above = new Uint32Array(this.count + 1);
    this.#ends = new Uint32Array(this.count + 1);
    this.#aboveEach = new Uint32Array(2 ** race.blockBits);
    this.#countFrom(this.#firstToCount());
  }

  /** No candidate of block k costs less. */
  bound(k: number): number {
    return this.#race.countWeight * this.#above[k]! + penalty(this.#race, (k << this.#race.blockBits) + 1);
  }

  cheapest(): number {
    let best = 0;
    let least = this.bound(0);
    for (let k = 1; k < this.count; k++) {
      const cost = this.bound(k);
      if (cost < least) {
        least = cost;
        best = k;
      }
    }
    return best;
  }

  /** The exact cost of candidate a of block k. */
  cost(a: number, k: number): number {
    if (k < this.#exactFrom) this.#countFrom(0);
    if (k !== this.#open) this.#openBlock(k);
    const { countWeight, blockBits } = this.#race;
    return countWeight * this.#aboveEach[a - (k << blockBits)]! + penalty(this.#race, a + 1);
  }

  /**
   * The block from which on values are to be counted exactly: as few as leave good bounds for the blocks below, which
   * are what is counted and the sampled values in between. Of one value in `every`, s above a block stand for
   * every·s, give or take sqrt(every·s·(every − 1)). The answer affects speed alone.
   */
  #firstToCount(): number {
    const { candidates, countWeight, blockBits, stride } = this.#race;
    const every = Math.max(1, Math.floor(this.#bins.length / SAMPLE));
    for (let i = 0; i < this.#bins.length; i += every)
      this.#inside[Math.min(candidates, this.#bins[i]!) >> blockBits]!++;
    this.#sumAbove();
    let hopeless = Infinity;
    for (let k = 0; k < this.count; k++) {
      const last = Math.min(candidates, (k + 1) << blockBits);
      hopeless = Math.min(hopeless, countWeight * every * this.#above[k]! + penalty(this.#race, last));
    }
    hopeless += HOPELESS * stride;
    for (let k = 0, least = Infinity; k < this.count - 1; k++) {
      const sampled = this.#above[k]!;
      const counted = every * sampled - STANDARD_ERRORS * Math.sqrt(every * sampled * (every - 1));
      least = Math.min(least, this.bound(k));
      if (least + countWeight * (counted - sampled) <= hopeless) return k;
    }
    return this.count - 1;
  }

  /** Counts the values in blocks ≥ first exactly, and groups them. */
  #countFrom(first: number): void {
    const { candidates, blockBits } = this.#race;
    const start = first << blockBits;
    this.#inside.fill(0, first);
    const kept = new Uint32Array(this.#bins.length);
    let length = 0;
    for (let i = 0; i < this.#bins.length; i++) {
      const bin = Math.min(candidates, this.#bins[i]!);
      if (bin < start) continue;
      kept[length++] = bin;
      this.#inside[bin >> blockBits]!++;
    }
    this.#exactFrom = first;
    this.#sumAbove();
    let end = 0;
    for (let k = first; k <= this.count; k++) {
      this.#ends[k] = end;
      end += this.#inside[k]!;
    }
    this.#grouped = new Uint32Array(length);
    for (let i = 0; i < length; i++) this.#grouped[this.#ends[kept[i]! >> blockBits]!++] = kept[i]!;
  }

  #sumAbove(): void {
    for (let k = this.count, above = 0; k >= 0; above += this.#inside[k--]!) this.#above[k] = above;
  }

  /** Counts the values above each candidate of block k: those of higher blocks, and of higher bins in this one. */
  #openBlock(k: number): void {
    const each = this.#aboveEach.fill(0);
    const start = k << this.#race.blockBits;
    const end = this.#ends[k]!;
    for (let i = end - this.#inside[k]!; i < end; i++) each[this.#grouped[i]! - start]!++;
    for (let a = each.length - 1, above = this.#above[k]!; a >= 0; a--) {
      const here = each[a]!;
      each[a] = above;
      above += here;
    }
    this.#open = k;
  }
}
