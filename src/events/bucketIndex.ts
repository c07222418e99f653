/** Sums of every column over any range of blocks, from prefix sums: 8 bytes a column and block, for the forests kept. */
import type { Decoder, Encoder } from "../stream/codec.js";
import type { Settings } from "../stream/options.js";
import { sameNoise } from "../stream/stretches.js";
import { laplaceVariance, NO_SPREAD, type Spread } from "../stream/variance.js";
import { AnswerWeights } from "../stream/weights.js";

/** The finished blocks of one forest. */
interface ForestRows {
  /** Row k: the sum of its first k blocks, per column. */
  rows: Float64Array;
  blocks: number;
}

export interface ColumnSums {
  readonly sums: Float64Array;
  /** Of the noise in each of them: all columns have noise of the same kind. */
  readonly spread: Spread;
}

export class BucketIndex {
  readonly #shape: Settings;
  readonly #columns: number;
  readonly #nodeVariance: number;
  readonly #forests: ForestRows[] = [];
  /** Arrays for the forests that the next blocks begin; the first row of each is 0. */
  readonly #spare: Float64Array[] = [];
  #dropped = 0;

  /** @param scale t of the noise on every node */
  constructor(shape: Settings, columns: number, scale: number) {
    this.#shape = shape;
    this.#columns = columns;
    this.#nodeVariance = laplaceVariance(scale);
  }

  /** The first block that is still kept. */
  get oldest(): number {
    return this.#dropped * this.#shape.blocksPerForest;
  }

  /** Finished blocks, counted over all forests. */
  get finished(): number {
    const last = this.#forests.at(-1);
    if (last === undefined) return 0;
    return (this.#dropped + this.#forests.length - 1) * this.#shape.blocksPerForest + last.blocks;
  }

  /** Takes a finished block. */
  add(estimates: Float64Array): void {
    const columns = this.#columns;
    const forest = this.#runningForest() ?? this.#beginForest();
    this.#grow(forest, 1);
    const { rows, blocks } = forest;
    for (let i = 0; i < columns; i++)
      rows[(blocks + 1) * columns + i] = rows[blocks * columns + i]! + estimates[i]!;
    forest.blocks++;
  }

  /** Makes room for `count` more blocks: `add` then needs no memory and cannot fail. */
  reserve(count: number): void {
    const { blocksPerForest, history } = this.#shape;
    const running = this.#runningForest();
    const here = running === undefined ? 0 : Math.min(count, blocksPerForest - running.blocks);
    if (running !== undefined) this.#grow(running, here);
    this.#spare.length = 0;
    for (let left = count - here; left > 0 && this.#spare.length < history; left -= blocksPerForest)
      this.#spare.push(new Float64Array((Math.min(left, blocksPerForest) + 1) * this.#columns));
  }

  /** The forest that takes the next block, if it has begun. */
  #runningForest(): ForestRows | undefined {
    const last = this.#forests.at(-1);
    return last === undefined || last.blocks === this.#shape.blocksPerForest ? undefined : last;
  }

  #beginForest(): ForestRows {
    const rows = this.#spare.shift() ?? new Float64Array(16 * this.#columns);
    if (this.#forests.length === this.#shape.history) {
      const { rows: emptied } = this.#forests.shift()!;
      this.#dropped++;
      emptied.fill(0, 0, this.#columns);
      this.#spare.push(emptied);
    }
    const forest = { rows, blocks: 0 };
    this.#forests.push(forest);
    return forest;
  }

  #grow(forest: ForestRows, more: number): void {
    const needed = (forest.blocks + more + 1) * this.#columns;
    if (needed <= forest.rows.length) return;
    const grown = new Float64Array(Math.max(needed, 2 * forest.rows.length));
    grown.set(forest.rows);
    forest.rows = grown;
  }

  /**
   * Sums over blocks [from, to), real positions: part of a block counts in proportion. What lies beyond the last
   * finished block counts at that block's estimates, and its noise counts with it.
   */
  sums(from: number, to: number): ColumnSums {
    const sums = new Float64Array(this.#columns);
    const { finished } = this;
    if (finished === 0 || from === to) return { sums, spread: NO_SPREAD };
    const [start, end] = [Math.min(from, finished), Math.min(to, finished)];
    const ahead = to - end - (from - start);
    this.#addBefore(sums, end, 1);
    this.#addBefore(sums, start, -1);
    this.#addBefore(sums, finished, ahead);
    this.#addBefore(sums, finished - 1, -ahead);
    const weights = new AnswerWeights(this.#shape, { first: NO_SPREAD, weights: undefined });
    weights.addBlocks(start, end, 1);
    weights.addBlocks(finished - 1, finished, ahead);
    return { sums, spread: weights.spread(sameNoise(this.#nodeVariance)) };
  }

  /** Adds `weight` times the sum of all kept blocks before a real position. */
  #addBefore(out: Float64Array, position: number, weight: number): void {
    if (weight === 0) return;
    const { blocksPerForest } = this.#shape;
    this.#forests.forEach(({ rows, blocks }, i) => {
      const within = Math.min(blocks, position - (this.#dropped + i) * blocksPerForest);
      if (within <= 0) return;
      const whole = Math.floor(within);
      this.#addRow(out, rows, whole, weight * (whole === within ? 1 : 1 - (within - whole)));
      if (whole < within) this.#addRow(out, rows, whole + 1, weight * (within - whole));
    });
  }

  #addRow(out: Float64Array, rows: Float64Array, row: number, weight: number): void {
    for (let i = 0; i < this.#columns; i++) out[i]! += weight * rows[row * this.#columns + i]!;
  }

  /** @param fraction estimates are multiples of 1/fraction */
  save(writer: Encoder, fraction: number): void {
    const columns = this.#columns;
    writer.count(this.#dropped);
    writer.count(this.#forests.length);
    for (const { rows, blocks } of this.#forests) {
      const estimates = Float64Array.from(
        { length: blocks * columns },
        (_, i) => rows[i + columns]! - rows[i]!,
      );
      writer.multiples(estimates, fraction);
    }
  }

  load(reader: Decoder, fraction: number): void {
    const columns = this.#columns;
    this.#dropped = reader.count();
    for (let left = reader.count(); left > 0; left--) {
      const estimates = reader.multiples(fraction);
      const rows = new Float64Array(Math.max(16 * columns, 2 * estimates.length));
      for (let i = 0; i < estimates.length; i++) rows[i + columns] = rows[i]! + estimates[i]!;
      this.#forests.push({ rows, blocks: estimates.length / columns });
    }
  }
}
