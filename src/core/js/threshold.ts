/** Bins → the noisy best θ: twin of assembly/threshold.ts. The algorithm and its proof: docs/lazy-scan.md. */
import type { Thresholds } from "../core.js";
import { MAX_LEVEL } from "../layout.js";
import { checkBins, type Selection } from "../tables/selection.js";
import type { Random } from "../random.js";
import { Chunks } from "./chunks.js";
import { drawGeometric, drawLaplace, type Tables, tablesOf } from "./laplace.js";
import { WordReader } from "./reader.js";

export const noisyMax: Thresholds["noisyMax"] = (random, bins, selection) => {
  checkBins(bins, selection);
  return new Run(random, bins, selection).winner() + 1;
};

/** One selection. Candidates are numbered from 0 here: a stands for θ_(a+1), which a value of bin k exceeds iff k > a. */
class Run {
  readonly #chunks: Chunks;
  readonly #selection: Selection;
  readonly #words: WordReader;
  readonly #tables: Tables;
  /** The mark: the best score plus noise so far, and whose it is. */
  #mark = -Infinity;
  #holder = 0;

  constructor(random: Random, bins: ArrayLike<number>, selection: Selection) {
    this.#chunks = new Chunks(bins, selection);
    this.#selection = selection;
    this.#words = new WordReader(random);
    this.#tables = tablesOf(selection.scale);
  }

  /** The most promising chunk sets a mark; one word is then enough to see that most others stay below it. */
  winner(): number {
    try {
      const first = this.#chunks.cheapest();
      this.#visit(first);
      for (let k = 0; k < this.#chunks.count; k++) if (k !== first) this.#visit(k);
      this.#words.finish();
      return this.#holder;
    } finally {
      this.#chunks.wipe();
    }
  }

  /** Looks for candidates of chunk k with noise ≥ j·T: any other stays below the mark, whatever its score. */
  #visit(k: number): void {
    const { chunkBits, candidates } = this.#selection;
    const end = Math.min(candidates, (k + 1) << chunkBits);
    for (let a = k << chunkBits; a < end;) {
      const j = this.#level(this.#mark + this.#chunks.bound(k));
      const width = Math.min(j, chunkBits);
      const skipped = this.#firstLucky(j, width);
      a += skipped;
      if (skipped >> width === 0 && a < end) this.#consider(a++, k, j);
    }
  }

  /** The largest j with j·T ≤ gap, within bounds. Any smaller j is right too, so a quotient rounded up is all to mend. */
  #level(gap: number): number {
    const { stride } = this.#selection;
    if (gap < stride) return 0;
    const j = Math.min(MAX_LEVEL, Math.floor(gap / stride));
    return j * stride > gap ? j - 1 : j;
  }

  /**
   * Among 2^width candidates, each lucky with probability x = 2^−j: the index of the first, or 2^width if none is.
   * P(i) = x(1 − x)^i = 2^(width−j) · 2^−width · (1 − x)^i, in that order: most chunks end after one word.
   */
  #firstLucky(j: number, width: number): number {
    const none = 1 << width;
    if (!this.#zeros(j - width)) return none;
    const i = width === 0 ? 0 : this.#words.next() >>> (32 - width);
    for (let before = 0; before < i; before++) if (this.#zeros(j)) return none;
    return i;
  }

  /** True with probability 2^−bits. */
  #zeros(bits: number): boolean {
    for (; bits >= 32; bits -= 32) if (this.#words.next() !== 0) return false;
    return bits === 0 || this.#words.next() >>> (32 - bits) === 0;
  }

  /** Lucky candidate a: coins thin 2^−j to P(noise ≥ j·T) = 2^−j·c^j, and what exceeds j·T is geometric again. */
  #consider(a: number, k: number, j: number): void {
    const { noise, stride, strideCoin, sideCoin } = this.#selection;
    const twoSided = noise === "laplace";
    if (j > 0 && twoSided && !this.#words.flip(sideCoin)) return;
    for (let i = 0; i < j; i++) if (!this.#words.flip(strideCoin)) return;
    const draw = j === 0 && twoSided ? drawLaplace : drawGeometric;
    const score = j * stride + draw(this.#words, this.#tables) - this.#chunks.cost(a, k);
    if (score > this.#mark || (score === this.#mark && a < this.#holder)) {
      this.#mark = score;
      this.#holder = a;
    }
  }
}
