/**
 * What was published, kept by forest as prefix sums over blocks: 16 bytes a block, for the forests that are kept.
 * All numbers here are in grid units.
 */
import type { Decoder, Encoder } from "./codec.js";
import type { Shrinkage } from "./shrink.js";

/** How released values of one forest are remembered. */
export interface Forest {
  /** Sum of all estimates before this forest. */
  readonly before: number;
  /** prefix[k]: sum of the first k estimates of this forest. */
  prefix: Float64Array;
  /** perValue[k]: what every position of block k but its last published. */
  perValue: Float64Array;
  blocks: number;
  /** Made when an answer needs it. */
  shrinkage?: Shrinkage;
}

export interface BlocksShape {
  readonly blockLength: number;
  readonly blocksPerForest: number;
  /** Forests kept. */
  readonly history: number;
}

export class PublishedBlocks {
  readonly #shape: BlocksShape;
  readonly #forests: Forest[] = [];
  #dropped = 0;
  /** The last forest; before the first block, one that is in no list and has no room. */
  #running = emptyForest(0);
  /** What every position of the block that is not finished yet publishes, but its last. */
  prediction = NaN;

  constructor(shape: BlocksShape) {
    this.#shape = shape;
  }

  /** Takes a finished block. */
  add(estimate: number, perValue: number): void {
    if (this.#running.blocks === this.#running.perValue.length) this.#makeRoom(1);
    const forest = this.#running;
    const k = forest.blocks++;
    forest.perValue[k] = perValue;
    forest.prefix[k + 1] = forest.prefix[k]! + estimate;
  }

  /** Takes finished blocks in order; `perValues` may be longer. */
  addMany(estimates: Float64Array, perValues: Float64Array): void {
    for (let done = 0; done < estimates.length;) {
      if (this.#running.blocks === this.#running.perValue.length) this.#makeRoom(estimates.length - done);
      const forest = this.#running;
      const { prefix, perValue, blocks } = forest;
      const count = Math.min(estimates.length - done, perValue.length - blocks);
      perValue.set(perValues.subarray(done, done + count), blocks);
      let sum = prefix[blocks]!;
      for (let k = 0; k < count; k++) prefix[blocks + k + 1] = sum += estimates[done + k]!;
      forest.blocks += count;
      done += count;
    }
  }

  /** Makes room for a block or more where there is none, `wanted` of them as far as the forest goes. */
  #makeRoom(wanted: number): void {
    const { blocksPerForest } = this.#shape;
    if (this.#forests.length === 0 || this.#running.blocks === blocksPerForest) this.#beginForest();
    const { blocks, perValue } = this.#running;
    if (blocks === perValue.length)
      grow(this.#running, Math.min(blocksPerForest, Math.max(16, 2 * blocks, blocks + wanted)));
  }

  /** A new forest, in the arrays of the one that is dropped for it, if there is one. */
  #beginForest(): void {
    const { before, prefix, blocks } = this.#running;
    this.#running = emptyForest(before + prefix[blocks]!);
    if (this.#forests.length === this.#shape.history) {
      const old = this.#forests.shift()!;
      this.#running.prefix = old.prefix;
      this.#running.perValue = old.perValue;
      this.#dropped++;
    }
    this.#forests.push(this.#running);
  }

  /** What a position published, in grid units. */
  publishedAt(position: number): number {
    const { blockLength } = this.#shape;
    const [forest, k] = this.locate(Math.floor(position / blockLength));
    if (forest === undefined) return this.prediction;
    const perValue = forest.perValue[k]!;
    if (position % blockLength !== blockLength - 1) return perValue;
    return forest.prefix[k + 1]! - forest.prefix[k]! - (blockLength - 1) * perValue;
  }

  /** û of a finished block; undefined when it is not, or no longer, here. */
  estimate(block: number): number | undefined {
    const [forest, k] = this.locate(block);
    return forest === undefined ? undefined : forest.prefix[k + 1]! - forest.prefix[k]!;
  }

  /**
   * @param fraction estimates are multiples of 1/fraction
   * @param guess the likely prediction per value after an estimate: right for the default smoother
   */
  save(writer: Encoder, fraction: number, guess: (estimate: number) => number): void {
    writer.count(this.#dropped);
    writer.count(this.#forests.length);
    let last = NaN;
    for (const { before, prefix, perValue, blocks } of this.#forests) {
      const estimates = Float64Array.from({ length: blocks }, (_, k) => prefix[k + 1]! - prefix[k]!);
      writer.double(before);
      writer.multiples(estimates, fraction);
      writer.guessed(perValue.subarray(0, blocks), guessAfter(estimates, last, guess));
      last = estimates[blocks - 1]!;
    }
  }

  load(reader: Decoder, fraction: number, guess: (estimate: number) => number): void {
    this.#dropped = reader.count();
    this.#forests.length = 0;
    let last = NaN;
    for (let left = reader.count(); left > 0; left--) {
      const before = reader.double();
      const estimates = reader.multiples(fraction);
      const perValue = reader.guessed(guessAfter(estimates, last, guess));
      const blocks = estimates.length;
      const prefix = new Float64Array(blocks + 1);
      for (let k = 0; k < blocks; k++) prefix[k + 1] = prefix[k]! + estimates[k]!;
      this.#running = { before, prefix, perValue, blocks };
      this.#forests.push(this.#running);
      last = estimates[blocks - 1]!;
    }
  }

  /** First position that can still be asked for. */
  get oldest(): number {
    return this.#dropped * this.#shape.blocksPerForest * this.#shape.blockLength;
  }

  /** Bytes held. */
  get bytes(): number {
    return this.#forests.reduce(
      (sum, { prefix, perValue }) => sum + prefix.byteLength + perValue.byteLength,
      0,
    );
  }

  /** Finished blocks, counted over all forests. */
  get finished(): number {
    const { length } = this.#forests;
    return length === 0
      ? 0
      : (this.#dropped + length - 1) * this.#shape.blocksPerForest + this.#running.blocks;
  }

  /** Sum of all estimates before a block that is finished, or running. */
  estimatesBefore(block: number): number {
    const place = this.placeOf(block);
    const forest = this.#forests[place];
    if (forest === undefined) return 0; // no block is finished yet
    return forest.before + forest.prefix[block - this.firstBlock(place)]!;
  }

  /** The place of the forest that a block is in, or of the last forest where that one has not begun. */
  placeOf(block: number): number {
    const { blocksPerForest } = this.#shape;
    return Math.min(Math.floor(block / blocksPerForest) - this.#dropped, this.#forests.length - 1);
  }

  /** The forest that holds a finished block, and the block's place in it; undefined for the running block. */
  locate(block: number): [Forest | undefined, number] {
    const { blocksPerForest } = this.#shape;
    const forest = this.#forests[Math.floor(block / blocksPerForest) - this.#dropped];
    const k = block % blocksPerForest;
    return forest !== undefined && k < forest.blocks ? [forest, k] : [undefined, k];
  }

  /** By place: 0 is the oldest that is kept. */
  forestAt(place: number): Forest | undefined {
    return this.#forests[place];
  }

  /** The first block of the forest at a place. */
  firstBlock(place: number): number {
    return (this.#dropped + place) * this.#shape.blocksPerForest;
  }
}

/** The k-th block of a forest was predicted after the estimate before it. */
function guessAfter(estimates: Float64Array, last: number, guess: (estimate: number) => number) {
  return (k: number): number => guess(k === 0 ? last : estimates[k - 1]!);
}

function emptyForest(before: number): Forest {
  return { before, prefix: new Float64Array(1), perValue: new Float64Array(0), blocks: 0 };
}

function grow(forest: Forest, blocks: number): void {
  const [prefix, perValue] = [new Float64Array(blocks + 1), new Float64Array(blocks)];
  prefix.set(forest.prefix);
  perValue.set(forest.perValue);
  forest.prefix = prefix;
  forest.perValue = perValue;
}
