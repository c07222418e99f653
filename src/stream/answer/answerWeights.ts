/**
 * Whose noise an answer holds. Every answer is a weighted sum of block estimates, once predictions are traced back to
 * the blocks that they came from: Σ_t q_t û_t, and before the first block the first prediction. The noise of that sum
 * is known in closed form for any weights (variance.ts).
 */
import type { PastWeights } from "../predict/smoothers/smoother.js";
import type { NodeNoise } from "../release/epochs.js";
import {
  addSpreads,
  boundSpreads,
  forestSpread,
  laplaceVariance,
  NO_SPREAD,
  type Piece,
  scaleSpread,
  type Spread,
} from "./variance.js";

export interface NoiseShape {
  readonly fanout: number;
  readonly levels: number;
  readonly blockLength: number;
  readonly blocksPerForest: number;
}

export interface PredictionNoise {
  /** Noise in the first prediction, per value. */
  readonly first: Spread;
  /** How much each block counts in a prediction; `undefined` where a prediction is no weighted sum. */
  readonly weights: PastWeights | undefined;
}

/**
 * Noise in the first prediction, per value: that of the warm start's mean over `count` values. Without a warm start the
 * prediction is Θ/2 and holds no noise; a mean of values in [0, Θ] is at most Θ/2 away from it.
 */
export function firstSpread(count: number, theta: number, epsilon: number): Spread {
  const variance = count === 0 ? (theta / 2) ** 2 : laplaceVariance(theta / epsilon) / count ** 2;
  return { variance, fourth: count === 0 ? 0 : variance ** 2 };
}

/** The weights of one answer, collected. Blocks are counted over all forests. */
export class AnswerWeights {
  readonly #shape: NoiseShape;
  readonly #predictions: PredictionNoise;
  /** Where q changes, and by how much. */
  readonly #changes = new Map<number, number>();
  /** Values that count at the first prediction, and shares of blocks that count at a prediction that is no weighted sum. */
  #first = 0;
  readonly #unknown: { readonly block: number; readonly share: number }[] = [];

  constructor(shape: NoiseShape, predictions: PredictionNoise) {
    this.#shape = shape;
    this.#predictions = predictions;
  }

  /** Blocks in [from, to), real positions, count at their own estimates. */
  addBlocks(from: number, to: number, weight: number): void {
    if (from === to) return;
    this.#changes.set(from, (this.#changes.get(from) ?? 0) + weight);
    this.#changes.set(to, (this.#changes.get(to) ?? 0) - weight);
  }

  /** Part of block `block` counts at its prediction; a negative share takes it away. */
  addPrediction(block: number, share: number): void {
    if (share === 0) return;
    const past = block === 0 ? undefined : this.#predictions.weights?.(block);
    if (block === 0) this.#first += share * this.#shape.blockLength;
    else if (past === undefined) this.#unknown.push({ block, share: Math.abs(share) });
    let end = block;
    for (const { blocks, weight } of past ?? []) {
      this.addBlocks(end - blocks, end, share * weight);
      end -= blocks;
    }
  }

  spread(noise: NodeNoise): Spread {
    const known = addSpreads(this.#blockSpread(noise), scaleSpread(this.#predictions.first, this.#first));
    const { fanout, levels } = this.#shape;
    return this.#unknown.reduce((spread, { block, share }) => {
      // The prediction has the noise of the block before it, from which it came, or of blocks like that.
      const variance = noise.varianceAt(block - 1);
      const oneBlock = forestSpread([{ from: 0, to: 1, weight: 1 }], fanout, levels, variance);
      return boundSpreads(spread, scaleSpread(oneBlock, share));
    }, known);
  }

  /** Forests and epochs are independent, and all forests that lie inside one piece and one epoch have the same spread. */
  #blockSpread(noise: NodeNoise): Spread {
    const { fanout, levels, blocksPerForest } = this.#shape;
    let spread = NO_SPREAD;
    let group = { forest: -1, epoch: -1, variance: 0 };
    let pieces: Piece[] = [];
    const finishGroup = (): void => {
      if (pieces.length > 0)
        spread = addSpreads(spread, forestSpread(pieces, fanout, levels, group.variance));
      pieces = [];
    };
    for (const { from, to, weight } of this.#pieces())
      for (let start = from; start < to;) {
        const block = Math.floor(start);
        const [forest, epoch] = [Math.floor(start / blocksPerForest), noise.startOf(block)];
        if (forest !== group.forest || epoch !== group.epoch) {
          finishGroup();
          group = { forest, epoch, variance: noise.varianceAt(block) };
        }
        const { variance } = group;
        const begin = forest * blocksPerForest;
        const end = Math.min(to, noise.endOf(block));
        const whole = start === begin ? Math.floor((end - begin) / blocksPerForest) : 0;
        if (whole > 1) {
          const one = forestSpread([{ from: 0, to: blocksPerForest, weight }], fanout, levels, variance);
          spread = addSpreads(spread, { variance: one.variance * whole, fourth: one.fourth * whole });
          start = begin + whole * blocksPerForest;
        } else {
          const until = Math.min(end, begin + blocksPerForest);
          pieces.push({ from: start - begin, to: until - begin, weight });
          start = until;
        }
      }
    finishGroup();
    return spread;
  }

  /** q as disjoint pieces in order. */
  #pieces(): Piece[] {
    const ends = [...this.#changes.keys()].sort((a, b) => a - b);
    const pieces: Piece[] = [];
    let weight = 0;
    for (let i = 0; i + 1 < ends.length; i++) {
      weight += this.#changes.get(ends[i]!)!;
      if (weight !== 0) pieces.push({ from: ends[i]!, to: ends[i + 1]!, weight });
    }
    return pieces;
  }
}
