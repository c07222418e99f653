/**
 * Whose noise an answer holds. Every answer is a weighted sum of block estimates, once predictions are traced back to
 * the blocks that they came from: Σ_t q_t û_t, and before the first block the first prediction. The noise of that sum
 * is known in closed form for any weights (variance.ts).
 */
import type { PastWeights } from "./smoothers/smoother.js";
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
  /** Values that count at the first prediction, and blocks that count at a prediction that is no weighted sum. */
  #first = 0;
  #unknown = 0;

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
    else if (past === undefined) this.#unknown += Math.abs(share);
    let end = block;
    for (const { blocks, weight } of past ?? []) {
      this.addBlocks(end - blocks, end, share * weight);
      end -= blocks;
    }
  }

  /** @param nodeVariance of the noise on every node */
  spread(nodeVariance: number): Spread {
    const known = addSpreads(
      this.#blockSpread(nodeVariance),
      scaleSpread(this.#predictions.first, this.#first),
    );
    if (this.#unknown === 0) return known;
    const { fanout, levels } = this.#shape;
    const oneBlock = forestSpread([{ from: 0, to: 1, weight: 1 }], fanout, levels, nodeVariance);
    return boundSpreads(known, scaleSpread(oneBlock, this.#unknown));
  }

  /** Forests are independent, and all that lie inside one piece have the same spread. */
  #blockSpread(nodeVariance: number): Spread {
    const { fanout, levels, blocksPerForest } = this.#shape;
    let spread = NO_SPREAD;
    let forest = 0;
    let inForest: Piece[] = [];
    const finishForest = (): void => {
      if (inForest.length > 0)
        spread = addSpreads(spread, forestSpread(inForest, fanout, levels, nodeVariance));
      inForest = [];
    };
    for (const { from, to, weight } of this.#pieces())
      for (let start = from; start < to;) {
        const next = Math.floor(start / blocksPerForest);
        if (next !== forest) finishForest();
        forest = next;
        const begin = forest * blocksPerForest;
        const whole = start === begin ? Math.floor((to - begin) / blocksPerForest) : 0;
        if (whole > 1) {
          const one = forestSpread([{ from: 0, to: blocksPerForest, weight }], fanout, levels, nodeVariance);
          spread = addSpreads(spread, { variance: one.variance * whole, fourth: one.fourth * whole });
          start = begin + whole * blocksPerForest;
        } else {
          const end = Math.min(to, begin + blocksPerForest);
          inForest.push({ from: start - begin, to: end - begin, weight });
          start = end;
        }
      }
    finishForest();
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
