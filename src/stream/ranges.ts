/** Answers to range queries, in O(levels) from what was published. All numbers here are in grid units; `answer.ts` scales them. */
import type { AnswerKind } from "./answer.js";
import type { Forest, PublishedBlocks } from "./blocks.js";
import { Shrinkage } from "./shrink.js";
import { laplaceVariance, type Spread } from "./variance.js";
import { AnswerWeights, type NoiseShape, type PredictionNoise } from "./weights.js";

export interface RawAnswer {
  readonly sum: number;
  readonly spread: Spread;
}

export class RangeIndex {
  readonly #blocks: PublishedBlocks;
  readonly #shape: NoiseShape;
  readonly #nodeVariance: number;
  readonly #predictions: PredictionNoise;

  /** @param scale t of the noise on every node */
  constructor(blocks: PublishedBlocks, shape: NoiseShape, scale: number, predictions: PredictionNoise) {
    this.#blocks = blocks;
    this.#shape = shape;
    this.#nodeVariance = laplaceVariance(scale);
    this.#predictions = predictions;
  }

  /** The sum over positions [from, to), which must have been published. */
  answer(from: number, to: number, kind: AnswerKind): RawAnswer {
    const { variance, fourth } = this.#noise(from, to, kind);
    const signal = kind === "best" ? this.#signalVariance(from, to) : 0;
    return {
      sum: this.#sumBefore(to, kind) - this.#sumBefore(from, kind),
      spread: { variance: variance + signal, fourth },
    };
  }

  #sumBefore(end: number, kind: AnswerKind): number {
    if (kind === "published") return this.#publishedBefore(end);
    return kind === "blocks" ? this.#blocksBefore(end) : this.#bestBefore(end);
  }

  /** Sum of what positions before `end` published. */
  #publishedBefore(end: number): number {
    const { blockLength } = this.#shape;
    const block = Math.floor(end / blockLength);
    const rest = end % blockLength;
    if (rest === 0) return this.#blocks.publishedBefore(block);
    const [forest, k] = this.#blocks.locate(block);
    const perValue = forest === undefined ? this.#blocks.prediction : forest.perValue.at(k);
    return this.#blocks.publishedBefore(block) + rest * perValue;
  }

  /** The same with every finished block at its own estimate, part of a block in proportion. */
  #blocksBefore(end: number): number {
    const { blockLength } = this.#shape;
    const block = Math.floor(end / blockLength);
    const rest = end % blockLength;
    if (rest === 0) return this.#blocks.estimatesBefore(block);
    const [forest, k] = this.#blocks.locate(block);
    if (forest === undefined) return this.#blocks.estimatesBefore(block) + rest * this.#blocks.prediction;
    return (
      this.#blocks.estimatesBefore(block) +
      (forest.prefix.at(k + 1) - forest.prefix.at(k)) * (rest / blockLength)
    );
  }

  /** The same with finished trees shrunk. */
  #bestBefore(end: number): number {
    const { blockLength, fanout, levels } = this.#shape;
    const place = this.#blocks.placeOf(Math.floor(end / blockLength));
    const forest = this.#blocks.forestAt(place);
    if (forest === undefined) return this.#blocksBefore(end);
    const { trees } = this.#updated(forest);
    const leaves = end / blockLength - this.#blocks.firstBlock(place);
    if (trees === 0 || leaves > trees * fanout ** (levels - 1)) return this.#blocksBefore(end);
    return forest.before + forest.shrinkage!.sumBefore(leaves, forest.prefix);
  }

  /** The factors of a forest, up to date. Derived from released numbers alone, so snapshots need not hold them. */
  #updated(forest: Forest): Shrinkage {
    forest.shrinkage ??= new Shrinkage(this.#shape, this.#nodeVariance);
    forest.shrinkage.update(forest.prefix, forest.blocks);
    return forest.shrinkage;
  }

  /** Noise in the answer; for "best" that of "blocks", which is more. */
  #noise(from: number, to: number, kind: AnswerKind): Spread {
    const { blockLength } = this.#shape;
    const weights = new AnswerWeights(this.#shape, this.#predictions);
    const finished = this.#blocks.finished;
    const [start, end] = [from / blockLength, to / blockLength];
    if (kind === "published") {
      const [first, last] = [Math.floor(start), Math.floor(end)];
      weights.addBlocks(first, last, 1);
      weights.addPrediction(last, end - last);
      weights.addPrediction(first, first - start);
    } else {
      weights.addBlocks(Math.min(finished, start), Math.min(finished, end), 1);
      weights.addPrediction(finished, Math.max(finished, end) - Math.max(finished, start));
    }
    return weights.spread(this.#nodeVariance);
  }

  /**
   * How far the data themselves are expected to be from an even spread over a block, and from a prediction: as if what
   * is inside blocks varied like leaves vary in their families, independently. Part φ of a block then is off by
   * φ(1 − φ)τ², and part φ of a block that was predicted from another by φτ² + φ²τ².
   */
  #signalVariance(from: number, to: number): number {
    const { blockLength } = this.#shape;
    const finished = this.#blocks.finished;
    const [start, end] = [from, to].map((at) => Math.min(finished, at / blockLength)) as [number, number];
    const part = (share: number) => share * (1 - share);
    const [first, last] = [Math.floor(start), Math.floor(end)];
    const predicted = Math.max(finished, to / blockLength) - Math.max(finished, from / blockLength);
    const running = predicted * (1 + predicted) * this.#leafVariance(finished);
    if (first === last) return running + part(end - start) * this.#leafVariance(first);
    return (
      running + part(start - first) * this.#leafVariance(first) + part(end - last) * this.#leafVariance(last)
    );
  }

  /** τ² around a block: of its forest, or of the one before while no tree of its own has ended. */
  #leafVariance(block: number): number {
    const place = this.#blocks.placeOf(block);
    const [forest, before] = [this.#blocks.forestAt(place), this.#blocks.forestAt(place - 1)];
    if (forest === undefined) return 0;
    const own = this.#updated(forest);
    return own.trees > 0 || before === undefined ? own.leafVariance : this.#updated(before).leafVariance;
  }
}
