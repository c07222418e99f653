/**
 * Published sums that hold back what looks like noise (docs/departures.md, "Shrunk corrections").
 *
 * A block's estimate strays by far more than its data: most of what the last position of a block would publish is noise,
 * and it comes back with the opposite sign when its family ends. So each running family of the tree (k finished children
 * with sum A, of b) publishes A − (1 − c)(A − kμ) so far, μ the mean child of the family before it, and the rest when it
 * ends: a tree, not a block, sums to its estimate. c = d k²/(d k² + V_k) weighs how far families were from the one before
 * them, d k², against the noise V_k of A.
 *
 * The prediction is that of the expert that has been best lately: the last finished node of each level, the mean of all
 * blocks, the running family, and the block one period ago.
 */
import { deviationVariances } from "../shrink.js";
import type { Smoother, SmootherContext } from "./smoother.js";

/** Weight of a family in the mean over past families, once there are eight. */
const FORGET = 1 / 8;
/** Share of an expert's past errors that is kept with every block. */
const KEEP = 63 / 64;
/** Nothing is moved by more standard deviations of the noise than this. */
const REACH = 2;

/** @param period of the data, in values; 0 for none */
export function shrunk(context: SmootherContext, period: number): Smoother {
  return new Shrunk(context, period);
}

/** The state is set, if at all, before the first block: the numbers that follow from it are kept between blocks. */
class Shrunk implements Smoother {
  /** Blocks, sum of all, held back, last nodes by level, errors and predictions of experts, past blocks, families. */
  readonly state: Float64Array;
  readonly #b: number;
  readonly #levels: number;
  readonly #blocksPerForest: number;
  /** How many blocks ago the period began; 0 for none. */
  readonly #lag: number;
  readonly #nodes: Float64Array;
  readonly #errors: Float64Array;
  readonly #predictions: Float64Array;
  readonly #past: Float64Array;
  /** Per level: A, μ, S_k − V_k for k = 1 … b − 1, and how many families have begun. */
  readonly #rows: readonly Float64Array[];
  /** Blocks of a node of each level. */
  readonly #sizes: Float64Array;
  /** V_k by level, for noise of variance 1 on every node. */
  readonly #unitNoise: readonly (readonly number[])[];
  /** V_k and REACH·√V_k by level. */
  readonly #noise: readonly Float64Array[];
  readonly #reach: readonly Float64Array[];
  /** Σ k², k < b */
  readonly #squaresOfK: number;
  /** By level, the k finished children of the running family, and what it holds back. */
  readonly #children: Int32Array;
  readonly #moves: Float64Array;
  /** What the numbers that follow from the state were made for. */
  #blocks = NaN;
  #nodeVariance = NaN;
  #inForest = 0;

  constructor({ fanout: b, levels, blocksPerForest, blockLength, first }: SmootherContext, period: number) {
    const families = levels - 1;
    const ring = period === 0 ? 0 : Math.ceil(period / blockLength) + 1;
    const experts = levels + 2 + (period === 0 ? 0 : 1);
    this.#b = b;
    this.#levels = levels;
    this.#blocksPerForest = Math.floor(blocksPerForest); // a small integer: engines take any power for a double
    this.#lag = period / blockLength;
    this.state = new Float64Array(3 + levels + 2 * experts + ring + families * (2 + b));
    let start = 3;
    const part = (length: number) => this.state.subarray(start, (start += length));
    this.#nodes = part(levels).fill(NaN);
    this.#errors = part(experts);
    this.#predictions = part(experts).fill(first);
    this.#past = part(ring);
    this.#rows = Array.from({ length: families }, () => part(2 + b));
    this.#sizes = Float64Array.from({ length: levels }, (_, g) => b ** g);
    this.#rows.forEach((row, g) => (row[1] = first * this.#sizes[g]!));
    this.#unitNoise = familyVariances(b, levels);
    this.#noise = this.#rows.map(() => new Float64Array(b));
    this.#reach = this.#rows.map(() => new Float64Array(b));
    this.#squaresOfK = ((b - 1) * b * (2 * b - 1)) / 6;
    this.#children = new Int32Array(families);
    this.#moves = new Float64Array(families);
  }

  get heldBack(): number {
    return this.state[2]!;
  }

  next(estimate: number, nodeVariance: number): number {
    const state = this.state;
    if (state[0] !== this.#blocks || nodeVariance !== this.#nodeVariance) this.#follow(nodeVariance);
    const best = this.#judge(estimate);
    if (this.#past.length > 0) this.#past[state[0]! % this.#past.length] = estimate;
    this.#blocks = ++state[0]!;
    state[1]! += estimate;
    const kept = this.#addBlock(estimate);
    if (++this.#inForest === this.#blocksPerForest) this.#endForest();
    let held = 0;
    for (let g = 0; g < this.#moves.length; g++) held += this.#moves[g]!;
    state[2] = held;
    this.#predict(estimate, kept);
    const prediction = this.#predictions[best]!;
    // Not held near the last block: a season may begin with a jump.
    if (best === this.#levels + 2) return prediction;
    const reach = this.#levels === 1 ? REACH * Math.sqrt(nodeVariance) : this.#reach[0]![1]!;
    return Math.max(estimate - reach, Math.min(estimate + reach, prediction));
  }

  /** Makes all that follows from the state and from the noise of the running tree. */
  #follow(nodeVariance: number): void {
    this.#blocks = this.state[0]!;
    this.#nodeVariance = nodeVariance;
    this.#inForest = Math.floor(this.#blocks % this.#blocksPerForest);
    for (let g = 0; g < this.#rows.length; g++) {
      for (let k = 0; k < this.#b; k++) {
        this.#noise[g]![k] = nodeVariance * this.#unitNoise[g]![k]!;
        this.#reach[g]![k] = REACH * Math.sqrt(this.#noise[g]![k]!);
      }
      const k = Math.floor(this.#inForest / this.#sizes[g]!) % this.#b;
      this.#children[g] = k;
      if (k > 0) this.#holdBack(g, k);
    }
  }

  /** Adds the error of every expert on a block. @returns the one with the least so far */
  #judge(estimate: number): number {
    const errors = this.#errors;
    const predictions = this.#predictions;
    const counts = this.state[0]! > 0;
    let best = 0;
    for (let i = 0; i < errors.length; i++) {
      const miss = estimate - predictions[i]!;
      errors[i] = KEEP * errors[i]! + (counts ? miss * miss : 0);
      if (errors[i]! < errors[best]!) best = i;
    }
    return best;
  }

  /** Adds a block to its family, and each family that ends to the one above. @returns c of the last of them */
  #addBlock(estimate: number): number {
    const b = this.#b;
    let node = estimate;
    for (let g = 0; g < this.#rows.length; g++) {
      this.#nodes[g] = node / this.#sizes[g]!;
      const row = this.#rows[g]!;
      const k = this.#children[g]! + 1;
      if (k === 1) row[1 + b]!++;
      row[0]! += node;
      if (k < b) {
        const weight = Math.max(FORGET, 1 / row[1 + b]!);
        const surplus = row[0]! - k * row[1]!;
        row[1 + k]! += weight * (surplus * surplus - this.#noise[g]![k]! - row[1 + k]!);
        this.#children[g] = k;
        return this.#holdBack(g, k);
      }
      node = row[0]!;
      row[0] = 0;
      row[1] = node / b;
      this.#children[g] = 0;
      this.#moves[g] = 0;
    }
    this.#nodes[this.#levels - 1] = node / this.#sizes[this.#levels - 1]!;
    return 1;
  }

  /** A forest may end inside a tree. */
  #endForest(): void {
    this.#inForest = 0;
    for (const row of this.#rows) row[0] = 0;
    this.#children.fill(0);
    this.#moves.fill(0);
  }

  /** Sets what the running family of level g holds back after its k-th child. @returns c */
  #holdBack(g: number, k: number): number {
    const row = this.#rows[g]!;
    const c = this.#kept(row, k, this.#noise[g]![k]!);
    const reach = this.#reach[g]![k]!;
    const move = (1 - c) * (row[0]! - k * row[1]!);
    this.#moves[g] = Math.max(-reach, Math.min(reach, move));
    return c;
  }

  /** c = d k²/(d k² + V_k) */
  #kept(row: Float64Array, k: number, noise: number): number {
    const b = this.#b;
    if (row[1 + b]! <= 1) return 1; // no family has ended yet
    let surplus = 0;
    for (let i = 2; i <= b; i++) surplus += row[i]!;
    const signal = (Math.max(0, surplus) / this.#squaresOfK) * (k * k);
    return signal / (signal + noise);
  }

  /** @param kept c of the block's family, if it runs */
  #predict(estimate: number, kept: number): void {
    const levels = this.#levels;
    const predictions = this.#predictions;
    for (let l = 0; l < levels; l++) {
      const node = this.#nodes[l]!;
      predictions[l] = Number.isNaN(node) ? estimate : node;
    }
    predictions[levels] = this.state[1]! / this.state[0]!;
    predictions[levels + 1] = this.#familyMean(estimate, kept);
    if (this.#lag > 0) predictions[levels + 2] = this.#onePeriodAgo(estimate);
  }

  #familyMean(estimate: number, kept: number): number {
    if (this.#levels === 1) return estimate;
    const row = this.#rows[0]!;
    const k = this.#children[0]!;
    return k === 0 ? row[1]! : row[1]! + kept * (row[0]! / k - row[1]!);
  }

  /** The next block began `lag` blocks after a place between two blocks. */
  #onePeriodAgo(estimate: number): number {
    const past = this.#past;
    const before = this.#blocks - this.#lag;
    const first = Math.floor(before);
    if (first < 0) return estimate;
    const second = Math.min(first + 1, this.#blocks - 1);
    const from = past[first % past.length]!;
    return from + (before - first) * (past[second % past.length]! - from);
  }
}

/** V_k = σ_g²·k(b − k)/b + k²·W_(g+1)/b²: variance of the noise in k children of a family, W that of a node. */
export function familyVariances(b: number, levels: number): number[][] {
  const sigma = deviationVariances(b, levels, 1);
  let parent = sigma[levels - 1]!; // W, from the trees down
  const rows: number[][] = [];
  for (let g = levels - 2; g >= 0; g--) {
    const above = parent;
    rows.unshift(
      Array.from({ length: b }, (_, k) => (sigma[g]! * k * (b - k)) / b + (k ** 2 * above) / b ** 2),
    );
    parent = sigma[g]! * (1 - 1 / b) + above / b ** 2;
  }
  return rows;
}
