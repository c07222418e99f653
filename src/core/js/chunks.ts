/**
 * What candidates for θ cost, in blocks of 2^β. Candidate a (from 0) stands for θ_(a+1), which a value of bin k exceeds
 * iff k > a. How many values lie above a block is counted for all blocks at once; how many lie above each candidate, only for
 * the few blocks that are looked into. Every number depends on how often each bin occurs, never on the order of the bins.
 * Twin of assembly/chunks.ts.
 */
import { HOPELESS_STRIDES } from "../layout.js";
import { penalty, type Selection } from "../tables/selection.js";

export class Blocks {
  readonly count: number;
  readonly #bins: ArrayLike<number>;
  readonly #selection: Selection;
  /** Values in block k. The last entry is for values above all candidates. */
  readonly #inside: Uint32Array;
  /** Values in blocks above k. */
  readonly #above: Uint32Array;
  #groupedFrom = 0;
  /** The values of blocks from #groupedFrom on, grouped by block; those of block k end at #ends[k]. */
  #grouped = new Uint32Array(0);
  readonly #ends: Uint32Array;
  /** Values above each candidate of block #open. */
  readonly #aboveEach: Uint32Array;
  #open = -1;

  constructor(bins: ArrayLike<number>, selection: Selection) {
    this.#bins = bins;
    this.#selection = selection;
    this.count = Math.ceil(selection.candidates / 2 ** selection.blockBits);
    this.#inside = new Uint32Array(this.count + 1);
    this.#above = new Uint32Array(this.count + 1);
    this.#ends = new Uint32Array(this.count + 1);
    this.#aboveEach = new Uint32Array(2 ** selection.blockBits);
    this.#countBlocks();
    this.#groupFrom(this.#firstHopeful());
  }

  /** No candidate of block k costs less. */
  bound(k: number): number {
    return (
      this.#selection.countWeight * this.#above[k]! +
      penalty(this.#selection, (k << this.#selection.blockBits) + 1)
    );
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
    if (k < this.#groupedFrom) this.#groupFrom(0);
    if (k !== this.#open) this.#openBlock(k);
    const { countWeight, blockBits } = this.#selection;
    return countWeight * this.#aboveEach[a - (k << blockBits)]! + penalty(this.#selection, a + 1);
  }

  #countBlocks(): void {
    const { candidates, blockBits } = this.#selection;
    for (let i = 0; i < this.#bins.length; i++) {
      const bin = this.#bins[i]!;
      this.#inside[bin >= candidates ? this.count : bin >> blockBits]!++;
    }
    for (let k = this.count, above = 0; k >= 0; above += this.#inside[k--]!) this.#above[k] = above;
  }

  /**
   * The first block that may well hold the winner: no earlier one has a candidate within HOPELESS_STRIDES of the lowest cost.
   * The answer affects speed alone.
   */
  #firstHopeful(): number {
    const { candidates, countWeight, blockBits, stride } = this.#selection;
    let hopeless = Infinity;
    for (let k = 0; k < this.count; k++) {
      const last = Math.min(candidates, (k + 1) << blockBits);
      hopeless = Math.min(hopeless, countWeight * this.#above[k]! + penalty(this.#selection, last));
    }
    hopeless += HOPELESS_STRIDES * stride;
    let k = 0;
    while (k < this.count - 1 && this.bound(k) > hopeless) k++;
    return k;
  }

  /** Sorts the values of blocks ≥ first by block. */
  #groupFrom(first: number): void {
    const { candidates, blockBits } = this.#selection;
    const start = first << blockBits;
    let end = 0;
    for (let k = first; k < this.count; k++) {
      this.#ends[k] = end;
      end += this.#inside[k]!;
    }
    this.#groupedFrom = first;
    this.#grouped.fill(0);
    this.#grouped = new Uint32Array(end);
    for (let i = 0; i < this.#bins.length; i++) {
      const bin = this.#bins[i]!;
      if (bin >= start && bin < candidates) this.#grouped[this.#ends[bin >> blockBits]!++] = bin;
    }
  }

  /** Overwrites what was copied from the bins: they are secret. */
  wipe(): void {
    for (const copy of [this.#inside, this.#above, this.#grouped, this.#ends, this.#aboveEach]) copy.fill(0);
  }

  /** Counts the values above each candidate of block k: those of higher blocks, and of higher bins in this one. */
  #openBlock(k: number): void {
    const each = this.#aboveEach.fill(0);
    const start = k << this.#selection.blockBits;
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
