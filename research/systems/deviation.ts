/** Σ |x − mean| over a growing set of small integers, rounded down, in O(log size): two Fenwick trees, of counts and of sums. */

export class Deviation {
  readonly #size: number;
  readonly #counts: Float64Array;
  readonly #sums: Float64Array;
  count = 0;
  #sum = 0;

  /** @param largest the largest integer; (largest + 1)·count² stays below 2⁵³ */
  constructor(largest: number) {
    this.#size = largest + 1;
    this.#counts = new Float64Array(this.#size + 1);
    this.#sums = new Float64Array(this.#size + 1);
  }

  clear(): void {
    this.#counts.fill(0);
    this.#sums.fill(0);
    this.count = this.#sum = 0;
  }

  add(x: number): void {
    this.#change(x, 1);
  }

  remove(x: number): void {
    this.#change(x, -1);
  }

  #change(x: number, by: 1 | -1): void {
    this.count += by;
    this.#sum += by * x;
    for (let i = x + 1; i <= this.#size; i += i & -i) {
      this.#counts[i]! += by;
      this.#sums[i]! += by * x;
    }
  }

  /** With k of n values at or below the mean S/n, and s their sum: Σ |x − S/n| = 2(k·S − n·s)/n. Exact in integers. */
  floor(): number {
    const [n, total] = [this.count, this.#sum];
    let [k, s] = [0, 0];
    for (let i = (total - (total % n)) / n + 1; i > 0; i -= i & -i) {
      k += this.#counts[i]!;
      s += this.#sums[i]!;
    }
    const twice = 2 * (k * total - n * s);
    return (twice - (twice % n)) / n;
  }
}
