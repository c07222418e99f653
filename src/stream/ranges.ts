/**
 * Answers to range queries, in O(1) from prefix sums over blocks: 16 bytes a block, for the forests that are kept.
 * All numbers here are in grid units; the publisher scales them.
 */
import type { AnswerKind } from "./answer.js";
import type { Decoder, Encoder } from "./codec.js";
import { laplaceVariance, type Spread } from "./variance.js";
import { AnswerWeights, type NoiseShape, type PredictionNoise } from "./weights.js";

/** How released values of one forest are remembered. */
interface Chapter {
  /** Sum of all estimates before this forest. */
  readonly before: number;
  /** prefix[k]: sum of the first k estimates of this forest. */
  prefix: Float64Array;
  /** perValue[k]: what every position of block k but its last published. */
  perValue: Float64Array;
  blocks: number;
}

export interface RangeShape extends NoiseShape {
  /** Forests kept. */
  readonly history: number;
}

export interface RawAnswer {
  readonly sum: number;
  readonly spread: Spread;
}

export class RangeIndex {
  readonly #shape: RangeShape;
  readonly #nodeVariance: number;
  readonly #predictions: PredictionNoise;
  readonly #chapters: Chapter[] = [];
  #dropped = 0;
  /** The last chapter; before the first block, one that is in no list and has no room. */
  #running = emptyChapter(0);

  /** What every position of the block that is not finished yet publishes, but its last. */
  prediction = NaN;

  /** @param scale t of the noise on every node */
  constructor(shape: RangeShape, scale: number, predictions: PredictionNoise) {
    this.#shape = shape;
    this.#nodeVariance = laplaceVariance(scale);
    this.#predictions = predictions;
  }

  /** Takes a finished block. */
  add(estimate: number, perValue: number): void {
    if (this.#running.blocks === this.#running.perValue.length) this.#makeRoom(1);
    const chapter = this.#running;
    const k = chapter.blocks++;
    chapter.perValue[k] = perValue;
    chapter.prefix[k + 1] = chapter.prefix[k]! + estimate;
  }

  /** Takes finished blocks in order; `perValues` may be longer. */
  addMany(estimates: Float64Array, perValues: Float64Array): void {
    for (let done = 0; done < estimates.length;) {
      if (this.#running.blocks === this.#running.perValue.length) this.#makeRoom(estimates.length - done);
      const chapter = this.#running;
      const { prefix, perValue, blocks } = chapter;
      const count = Math.min(estimates.length - done, perValue.length - blocks);
      perValue.set(perValues.subarray(done, done + count), blocks);
      let sum = prefix[blocks]!;
      for (let k = 0; k < count; k++) prefix[blocks + k + 1] = sum += estimates[done + k]!;
      chapter.blocks += count;
      done += count;
    }
  }

  /** Makes room for a block or more where there is none, `wanted` of them as far as the forest goes. */
  #makeRoom(wanted: number): void {
    const { blocksPerForest } = this.#shape;
    if (this.#chapters.length === 0 || this.#running.blocks === blocksPerForest) this.#beginChapter();
    const { blocks, perValue } = this.#running;
    if (blocks === perValue.length)
      grow(this.#running, Math.min(blocksPerForest, Math.max(16, 2 * blocks, blocks + wanted)));
  }

  /** A new forest's chapter, in the arrays of the one that is dropped for it, if there is one. */
  #beginChapter(): void {
    const { before, prefix, blocks } = this.#running;
    this.#running = emptyChapter(before + prefix[blocks]!);
    if (this.#chapters.length === this.#shape.history) {
      const old = this.#chapters.shift()!;
      this.#running.prefix = old.prefix;
      this.#running.perValue = old.perValue;
      this.#dropped++;
    }
    this.#chapters.push(this.#running);
  }

  /** What a position published, in grid units. */
  publishedAt(position: number): number {
    const { blockLength } = this.#shape;
    const [chapter, k] = this.#locate(Math.floor(position / blockLength));
    if (chapter === undefined) return this.prediction;
    const perValue = chapter.perValue[k]!;
    if (position % blockLength !== blockLength - 1) return perValue;
    return chapter.prefix[k + 1]! - chapter.prefix[k]! - (blockLength - 1) * perValue;
  }

  /** û of a finished block; undefined when it is not, or no longer, here. */
  estimate(block: number): number | undefined {
    const [chapter, k] = this.#locate(block);
    return chapter === undefined ? undefined : chapter.prefix[k + 1]! - chapter.prefix[k]!;
  }

  /**
   * @param fraction estimates are multiples of 1/fraction
   * @param guess the likely prediction per value after an estimate: right for the default smoother
   */
  save(writer: Encoder, fraction: number, guess: (estimate: number) => number): void {
    writer.count(this.#dropped);
    writer.count(this.#chapters.length);
    let last = NaN;
    for (const { before, prefix, perValue, blocks } of this.#chapters) {
      const estimates = Float64Array.from({ length: blocks }, (_, k) => prefix[k + 1]! - prefix[k]!);
      writer.double(before);
      writer.multiples(estimates, fraction);
      writer.guessed(perValue.subarray(0, blocks), guessAfter(estimates, last, guess));
      last = estimates[blocks - 1]!;
    }
  }

  load(reader: Decoder, fraction: number, guess: (estimate: number) => number): void {
    this.#dropped = reader.count();
    this.#chapters.length = 0;
    let last = NaN;
    for (let left = reader.count(); left > 0; left--) {
      const before = reader.double();
      const estimates = reader.multiples(fraction);
      const perValue = reader.guessed(guessAfter(estimates, last, guess));
      const blocks = estimates.length;
      const prefix = new Float64Array(blocks + 1);
      for (let k = 0; k < blocks; k++) prefix[k + 1] = prefix[k]! + estimates[k]!;
      this.#running = { before, prefix, perValue, blocks };
      this.#chapters.push(this.#running);
      last = estimates[blocks - 1]!;
    }
  }

  /** First position that can still be asked for. */
  get oldest(): number {
    return this.#dropped * this.#shape.blocksPerForest * this.#shape.blockLength;
  }

  /** Bytes held. */
  get bytes(): number {
    return this.#chapters.reduce(
      (sum, { prefix, perValue }) => sum + prefix.byteLength + perValue.byteLength,
      0,
    );
  }

  /** The sum over positions [from, to), which must have been published. */
  answer(from: number, to: number, kind: AnswerKind): RawAnswer {
    const upTo = kind === "best" ? this.#bestBefore : this.#publishedBefore;
    return {
      sum: upTo.call(this, to) - upTo.call(this, from),
      spread: this.#spread(from, to, kind),
    };
  }

  /** Sum of what positions before `end` published. */
  #publishedBefore(end: number): number {
    const { blockLength } = this.#shape;
    const block = Math.floor(end / blockLength);
    const rest = end % blockLength;
    if (rest === 0) return this.#estimatesBefore(block);
    const [chapter, k] = this.#locate(block);
    return (
      this.#estimatesBefore(block) + rest * (chapter === undefined ? this.prediction : chapter.perValue[k]!)
    );
  }

  /** The same with every finished block at its own estimate, part of a block in proportion. */
  #bestBefore(end: number): number {
    const { blockLength } = this.#shape;
    const block = Math.floor(end / blockLength);
    const rest = end % blockLength;
    if (rest === 0) return this.#estimatesBefore(block);
    const [chapter, k] = this.#locate(block);
    if (chapter === undefined) return this.#estimatesBefore(block) + rest * this.prediction;
    return (
      this.#estimatesBefore(block) + (chapter.prefix[k + 1]! - chapter.prefix[k]!) * (rest / blockLength)
    );
  }

  #estimatesBefore(block: number): number {
    const { blocksPerForest } = this.#shape;
    const place = Math.min(Math.floor(block / blocksPerForest) - this.#dropped, this.#chapters.length - 1);
    const chapter = this.#chapters[place];
    if (chapter === undefined) return 0; // no block is finished yet
    return chapter.before + chapter.prefix[block - (place + this.#dropped) * blocksPerForest]!;
  }

  /** The forest that holds a finished block, and the block's place in it; undefined for the running block. */
  #locate(block: number): [Chapter | undefined, number] {
    const { blocksPerForest } = this.#shape;
    const chapter = this.#chapters[Math.floor(block / blocksPerForest) - this.#dropped];
    const k = block % blocksPerForest;
    return chapter !== undefined && k < chapter.blocks ? [chapter, k] : [undefined, k];
  }

  /** Finished blocks, counted over all forests. */
  get #finished(): number {
    const { length } = this.#chapters;
    return length === 0
      ? 0
      : (this.#dropped + length - 1) * this.#shape.blocksPerForest + this.#running.blocks;
  }

  #spread(from: number, to: number, kind: AnswerKind): Spread {
    const { blockLength } = this.#shape;
    const weights = new AnswerWeights(this.#shape, this.#predictions);
    const finished = this.#finished;
    const [start, end] = [from / blockLength, to / blockLength];
    if (kind === "best") {
      weights.addBlocks(Math.min(finished, start), Math.min(finished, end), 1);
      weights.addPrediction(finished, Math.max(finished, end) - Math.max(finished, start));
    } else {
      const [first, last] = [Math.floor(start), Math.floor(end)];
      weights.addBlocks(first, last, 1);
      weights.addPrediction(last, end - last);
      weights.addPrediction(first, first - start);
    }
    return weights.spread(this.#nodeVariance);
  }
}

/** The k-th block of a forest was predicted after the estimate before it. */
function guessAfter(estimates: Float64Array, last: number, guess: (estimate: number) => number) {
  return (k: number): number => guess(k === 0 ? last : estimates[k - 1]!);
}

function emptyChapter(before: number): Chapter {
  return { before, prefix: new Float64Array(1), perValue: new Float64Array(0), blocks: 0 };
}

function grow(chapter: Chapter, blocks: number): void {
  const [prefix, perValue] = [new Float64Array(blocks + 1), new Float64Array(blocks)];
  prefix.set(chapter.prefix);
  perValue.set(chapter.perValue);
  chapter.prefix = prefix;
  chapter.perValue = perValue;
}
