/** Answers to range queries, in O(levels) from what was published. All numbers here are in grid units; `answer.ts` scales them. */
import type { AnswerKind } from "./answer.js";
import type { PublishedBlocks } from "./blocks.js";
import { Shrinkage } from "./shrink.js";
import type { NodeNoise } from "./stretches.js";
import type { Spread } from "./variance.js";
import { AnswerWeights, type NoiseShape, type PredictionNoise } from "./weights.js";

export interface RawAnswer {
  readonly sum: number;
  readonly spread: Spread;
}

export class RangeIndex {
  readonly #blocks: PublishedBlocks;
  readonly #shape: NoiseShape;
  readonly #noise: NodeNoise;
  readonly #predictions: PredictionNoise;

  constructor(blocks: PublishedBlocks, shape: NoiseShape, noise: NodeNoise, predictions: PredictionNoise) {
    this.#blocks = blocks;
    this.#shape = shape;
    this.#noise = noise;
    this.#predictions = predictions;
  }

  /** The sum over positions [from, to), which must have been published. */
  answer(from: number, to: number, kind: AnswerKind): RawAnswer {
    const sum = this.#sumBefore(to, kind) - this.#sumBefore(from, kind);
    const spread = this.#spread(from, to, kind);
    if (kind !== "best") return { sum, spread };
    const left = Math.max(0, 1 - this.#saved(from, to) / spread.variance);
    const signal = this.#signalVariance(from, to);
    return { sum, spread: { variance: spread.variance * left + signal, fourth: spread.fourth * left ** 2 } };
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
    const block = Math.floor(end / this.#shape.blockLength);
    const place = this.#blocks.placeOf(block);
    const forest = this.#blocks.forestAt(place);
    const shrinkage = this.#shrinkageAt(block);
    const leaves = end / this.#shape.blockLength - this.#blocks.firstBlock(place);
    if (forest === undefined || shrinkage === undefined || leaves > shrinkage.end)
      return this.#blocksBefore(end);
    return forest.before + shrinkage.sumBefore(leaves, forest.prefix);
  }

  /**
   * The factors of the stretch of trees that a block is in, up to date; undefined before a tree of it has ended. Derived
   * from released numbers alone, so snapshots need not hold them.
   */
  #shrinkageAt(block: number): Shrinkage | undefined {
    const place = this.#blocks.placeOf(block);
    const forest = this.#blocks.forestAt(place);
    if (forest === undefined) return undefined;
    const first = this.#blocks.firstBlock(place);
    const inForest = Math.min(block, first + forest.blocks - 1);
    const start = Math.max(0, this.#noise.startOf(inForest) - first);
    const known = (forest.shrinkages ??= new Map<number, Shrinkage>());
    let shrinkage = known.get(start);
    if (shrinkage === undefined) {
      shrinkage = new Shrinkage(this.#shape, this.#noise.varianceAt(inForest), start);
      known.set(start, shrinkage);
    }
    shrinkage.update(forest.prefix, Math.min(forest.blocks, this.#noise.endOf(inForest) - first));
    return shrinkage.end === start ? undefined : shrinkage;
  }

  /** What shrinking takes off the noise: it changes sums only in the stretches of trees that the range ends in. */
  #saved(from: number, to: number): number {
    const { blockLength } = this.#shape;
    const ends = [from, to].map((end) => {
      const block = Math.floor(end / blockLength);
      const first = this.#blocks.firstBlock(this.#blocks.placeOf(block));
      return { shrinkage: this.#shrinkageAt(block), first };
    });
    const saved = ({ shrinkage, first }: (typeof ends)[number]): number =>
      shrinkage?.saved(from / blockLength - first, to / blockLength - first) ?? 0;
    return saved(ends[0]!) + (ends[0]!.shrinkage === ends[1]!.shrinkage ? 0 : saved(ends[1]!));
  }

  /** Noise in the answer; for "best" that of "blocks". */
  #spread(from: number, to: number, kind: AnswerKind): Spread {
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
    return weights.spread(this.#noise);
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

  /** τ² around a block: of its stretch, or of the one before while no tree of its own has ended. */
  #leafVariance(block: number): number {
    const own = this.#shrinkageAt(block);
    if (own !== undefined) return own.leafVariance;
    const place = this.#blocks.placeOf(block);
    if (this.#blocks.forestAt(place) === undefined) return 0;
    const first = Math.max(this.#blocks.firstBlock(place), this.#noise.startOf(block));
    return (
      (first <= this.#blocks.firstBlock(0) ? undefined : this.#shrinkageAt(first - 1))?.leafVariance ?? 0
    );
  }
}
