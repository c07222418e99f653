/** Sums over ranges of a stream in O(1), for its last `history` values: a ring of running sums. */
export class RecentSums {
  readonly #history: number;
  /** #sums[i mod length] is the sum of the first i values; one place more than values kept. */
  #sums = new Float64Array(1024);
  #count = 0;

  /** @param history memory: at most 8 bytes per value kept, for streams of any length */
  constructor(history: number) {
    this.#history = history;
  }

  /** Values added so far. */
  get count(): number {
    return this.#count;
  }

  /** The first position that can still be asked for. */
  get oldest(): number {
    return Math.max(0, this.#count - this.#history);
  }

  /** Adds values in order. Room is made first: if there is no memory for it, nothing changes. */
  add(values: Float64Array): void {
    this.#reserve(values.length);
    const { length } = this.#sums;
    for (const value of values) {
      this.#sums[(this.#count + 1) % length] = this.#sums[this.#count % length]! + value;
      this.#count++;
    }
  }

  /** Sum of values from … to − 1; oldest ≤ from ≤ to ≤ count, checked by the caller. */
  between(from: number, to: number): number {
    const { length } = this.#sums;
    return this.#sums[to % length]! - this.#sums[from % length]!;
  }

  /** A ring that is not at its full size has not wrapped, so it is copied as it is. */
  #reserve(more: number): void {
    const full = this.#history + 1;
    const needed = Math.min(this.#count + more + 1, full);
    if (needed <= this.#sums.length) return;
    const larger = new Float64Array(Math.max(needed, Math.min(2 * this.#sums.length, full)));
    larger.set(this.#sums);
    this.#sums = larger;
  }
}
