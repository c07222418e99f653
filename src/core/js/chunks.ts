/**
 * Costs of the candidates for θ, in chunks of 2^β. Candidate a (from 0) stands for θ_(a+1), which a value of bin k exceeds
 * iff k > a. How many values lie above a chunk is counted for all chunks at once; how many lie above each candidate, only for
 * the few chunks that are looked into. Every number depends on how often each bin occurs, never on the order of the bins.
 * Twin of assembly/chunks.ts.
 */
import { HOPELESS_STRIDES } from "../layout.js";
import { penalty, type Selection } from "../tables/selection.js";

export class Chunks {
  readonly count: number;
  readonly #bins: ArrayLike<number>;
  readonly #selection: Selection;
  /** Values in chunk k. The last entry is for values above all candidates. */
  readonly #inside: Uint32Array;
  /** Values in chunks above k. */
  readonly #above: Uint32Array;
  #groupedFrom = 0;
  /** The values of chunks from #groupedFrom on, grouped by chunk; those of chunk k end at #ends[k]. */
  #grouped = new Uint32Array(0);
  readonly #ends: Uint32Array;
  /** Values above each candidate of chunk #open. */
  readonly #aboveEach: Uint32Array;
  #open = -1;

  constructor(bins: ArrayLike<number>, selection: Selection) {
    this.#bins = bins;
    this.#selection = selection;
    this.count = Math.ceil(selection.candidates / 2 ** selection.chunkBits);
    this.#inside = new Uint32Array(this.count + 1);
    this.#above = new Uint32Array(this.count + 1);
    this.#ends = new Uint32Array(this.count + 1);
    this.#aboveEach = new Uint32Array(2 ** selection.chunkBits);
    this.#countChunks();
    this.#groupFrom(this.#firstHopeful());
  }

  /** No candidate of chunk k costs less. */
  bound(k: number): number {
    return (
      this.#selection.countWeight * this.#above[k]! +
      penalty(this.#selection, (k << this.#selection.chunkBits) + 1)
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

  /** The exact cost of candidate a of chunk k. */
  cost(a: number, k: number): number {
    if (k < this.#groupedFrom) this.#groupFrom(0);
    if (k !== this.#open) this.#openChunk(k);
    const { countWeight, chunkBits } = this.#selection;
    return countWeight * this.#aboveEach[a - (k << chunkBits)]! + penalty(this.#selection, a + 1);
  }

  #countChunks(): void {
    const { candidates, chunkBits } = this.#selection;
    for (let i = 0; i < this.#bins.length; i++) {
      const bin = this.#bins[i]!;
      this.#inside[bin >= candidates ? this.count : bin >> chunkBits]!++;
    }
    for (let k = this.count, above = 0; k >= 0; above += this.#inside[k--]!) this.#above[k] = above;
  }

  /**
   * The first chunk that may well hold the winner: no earlier one has a candidate within HOPELESS_STRIDES of the lowest cost.
   * The answer affects speed alone.
   */
  #firstHopeful(): number {
    const { candidates, countWeight, chunkBits, stride } = this.#selection;
    let hopeless = Infinity;
    for (let k = 0; k < this.count; k++) {
      const last = Math.min(candidates, (k + 1) << chunkBits);
      hopeless = Math.min(hopeless, countWeight * this.#above[k]! + penalty(this.#selection, last));
    }
    hopeless += HOPELESS_STRIDES * stride;
    let k = 0;
    while (k < this.count - 1 && this.bound(k) > hopeless) k++;
    return k;
  }

  /** Sorts the values of chunks ≥ first by chunk. */
  #groupFrom(first: number): void {
    const { candidates, chunkBits } = this.#selection;
    const start = first << chunkBits;
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
      if (bin >= start && bin < candidates) this.#grouped[this.#ends[bin >> chunkBits]!++] = bin;
    }
  }

  /** Overwrites what was copied from the bins: they are secret. */
  wipe(): void {
    for (const copy of [this.#inside, this.#above, this.#grouped, this.#ends, this.#aboveEach]) copy.fill(0);
  }

  /** Counts the values above each candidate of chunk k: those of higher chunks, and of higher bins in this one. */
  #openChunk(k: number): void {
    const each = this.#aboveEach.fill(0);
    const start = k << this.#selection.chunkBits;
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
