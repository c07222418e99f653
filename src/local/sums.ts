/** Sums over ranges of a stream in O(1), for its last `keep` values: a ring of running sums. */
export class RecentSums {
  readonly #keep: number;
  /** #sums[i mod length] is the sum of the first i values; one place more than values kept. */
  #sums = new Float64Array(1024);
  #count = 0;

  /** @param keep memory: at most 8 bytes per value kept, however long the stream */
  constructor(keep: number) {
    this.#keep = keep;
  }

  /** Values pushed so far. */
  get count(): number {
    return this.#count;
  }

  /** The first position that can still be asked for. */
  get oldest(): number {
    return Math.max(0, this.#count - this.#keep);
  }

  push(value: number): void {
    const next = this.#count + 1;
    if (next === this.#sums.length && next <= this.#keep) this.#grow();
    const { length } = this.#sums;
    this.#sums[next % length] = this.#sums[this.#count % length]! + value;
    this.#count = next;
  }

  /** Sum of values from … to − 1; oldest ≤ from ≤ to ≤ count, checked by the caller. */
  between(from: number, to: number): number {
    const { length } = this.#sums;
    return this.#sums[to % length]! - this.#sums[from % length]!;
  }

  #grow(): void {
    const larger = new Float64Array(Math.min(2 * this.#sums.length, this.#keep + 1));
    larger.set(this.#sums);
    this.#sums = larger;
  }
}
