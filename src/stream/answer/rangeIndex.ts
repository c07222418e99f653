/** Answers to range queries, in O(levels) from what was published. All numbers here are in grid units; `answer.ts` scales them. */
import type { AnswerKind } from "./answer.js";
import type { History } from "../release/history.js";
import { Shrinkage } from "./shrinkage.js";
import type { NodeNoise } from "../release/epochs.js";
import { NO_SPREAD, type Spread } from "./variance.js";
import { AnswerWeights, type NoiseShape, type PredictionNoise } from "./answerWeights.js";

/** A sum of estimates, and the noise in it. */
export interface NoisySum {
  readonly sum: number;
  readonly spread: Spread;
}

export interface RawAnswer extends NoisySum {
  /** Whether an end of the range lies inside a block, or behind the last finished one. */
  readonly cut?: boolean;
  /** For "best": the sum with finished trees shrunk. */
  readonly shrunk?: number;
  /** Bounds that hold for any data; absent if values have no public bound. */
  readonly bounds?: Bounds;
}

/** Values are not below a public number, so a range sums to at least the blocks inside it and at most those it touches. */
export interface Bounds {
  /** The whole finished blocks in the range. */
  readonly inside: NoisySum;
  /** The finished blocks that meet the range, and θ for each of its values in the running block. */
  readonly touched: NoisySum;
  /** The least and the most that values between 0 and θ sum to. */
  readonly least: number;
  readonly most: number;
}

const NOTHING: NoisySum = { sum: 0, spread: NO_SPREAD };

export class RangeIndex {
  readonly #blocks: History;
  readonly #shape: NoiseShape;
  readonly #noise: NodeNoise;
  readonly #predictions: PredictionNoise;
  readonly #thetaAt: ((block: number) => number) | undefined;

  /** @param thetaAt the most that a value of a block counts; without it answers have no bounds */
  constructor(
    blocks: History,
    shape: NoiseShape,
    noise: NodeNoise,
    predictions: PredictionNoise,
    thetaAt?: (block: number) => number,
  ) {
    this.#blocks = blocks;
    this.#shape = shape;
    this.#noise = noise;
    this.#predictions = predictions;
    this.#thetaAt = thetaAt;
  }

  /** The sum over positions [from, to), which must have been published. */
  answer(from: number, to: number, kind: AnswerKind): RawAnswer {
    const { blockLength: n } = this.#shape;
    const cut = from % n !== 0 || to % n !== 0 || to > this.#blocks.finished * n;
    const sum =
      kind === "published"
        ? this.#publishedBefore(to) - this.#publishedBefore(from)
        : this.#blocksBefore(to) - this.#blocksBefore(from);
    const spread = this.#spread(from, to, kind);
    return {
      sum,
      spread,
      cut,
      ...(kind === "best" ? { shrunk: this.#shrunkBefore(to) - this.#shrunkBefore(from) } : {}),
      ...(this.#thetaAt === undefined
        ? {}
        : { bounds: this.#bounds(from, to, this.#thetaAt, cut ? undefined : spread) }),
    };
  }

  /** @param whole noise of a range of whole finished blocks, which is computed once for all its parts */
  #bounds(from: number, to: number, thetaAt: (block: number) => number, whole: Spread | undefined): Bounds {
    const { blockLength: n } = this.#shape;
    const finished = this.#blocks.finished;
    const inside = this.#wholeBlocks(Math.ceil(from / n), Math.min(finished, Math.floor(to / n)), whole);
    const most = this.#most(from, to, thetaAt);
    const least = 0;
    if (whole !== undefined) return { inside, touched: inside, least, most };
    const { sum, spread } = this.#wholeBlocks(Math.floor(from / n), Math.min(finished, Math.ceil(to / n)));
    const running = Math.max(0, to - Math.max(from, finished * n)) * thetaAt(finished);
    return { inside, touched: { sum: sum + running, spread }, least, most };
  }

  /** Finished blocks [first, end). */
  #wholeBlocks(first: number, end: number, known?: Spread): NoisySum {
    if (first >= end) return NOTHING;
    const sum = this.#blocks.estimatesBefore(end) - this.#blocks.estimatesBefore(first);
    if (known !== undefined) return { sum, spread: known };
    const weights = new AnswerWeights(this.#shape, this.#predictions);
    weights.addBlocks(first, end, 1);
    return { sum, spread: weights.spread(this.#noise) };
  }

  /** Σθ over positions [from, to), each at the θ of its time. */
  #most(from: number, to: number, thetaAt: (block: number) => number): number {
    const { blockLength: n } = this.#shape;
    let sum = 0;
    for (let at = from; at < to;) {
      const block = Math.floor(at / n);
      const end = Math.min(to, this.#noise.endOf(block) * n);
      sum += (end - at) * thetaAt(block);
      at = end;
    }
    return sum;
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

  /** Sum of positions before `end`, every finished block at its own estimate, part of a block in proportion. */
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

  /** Sum of positions before `end`, with finished trees shrunk. */
  #shrunkBefore(end: number): number {
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
   * The factors of the epoch of trees that a block is in, up to date; undefined before a tree of it has ended. Derived
   * from released numbers alone, so snapshots need not hold them.
   */
  #shrinkageAt(block: number): Shrinkage | undefined {
    const place = this.#blocks.placeOf(block);
    const forest = this.#blocks.forestAt(place);
    if (forest === undefined) return undefined;
    const first = this.#blocks.firstBlock(place);
    const last = Math.min(block, first + forest.blocks - 1);
    const start = Math.max(0, this.#noise.startOf(last) - first);
    const known = (forest.shrinkages ??= new Map<number, Shrinkage>());
    let shrinkage = known.get(start);
    if (shrinkage === undefined) {
      shrinkage = new Shrinkage(this.#shape, this.#noise.varianceAt(last), start);
      known.set(start, shrinkage);
    }
    shrinkage.update(forest.prefix, Math.min(forest.blocks, this.#noise.endOf(last) - first));
    return shrinkage.end === start ? undefined : shrinkage;
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
}
