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
import { lastMade } from "../../core/lastMade.js";
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

/** What a tree's shape says, the same for all streams that have it. */
interface TreeTable {
  /** Blocks of a node of each level. */
  readonly sizes: Float64Array;
  /** V_k by level, for noise of variance 1 on every node. */
  readonly unitNoise: readonly Float64Array[];
}

const tableFor = lastMade((b: number, levels: number): TreeTable => ({
  sizes: Float64Array.from({ length: levels }, (_, g) => b ** g),
  unitNoise: familyVariances(b, levels).map((row) => Float64Array.from(row)),
}));

/** Where the last nodes by level stand in the state: after the number of blocks, the sum of all, and what is held back. */
const NODES = 3;

/** Numbers that follow from the state are kept between blocks; `restart` makes them again. */
class Shrunk implements Smoother {
  /**
   * Blocks, sum of all, held back, last nodes by level, errors and predictions of experts, past blocks, families. Per family
   * of a level: A, μ, S_k − V_k for k = 1 … b − 1, and how many families have begun.
   */
  readonly state: Float64Array;
  readonly #b: number;
  readonly #levels: number;
  readonly #families: number;
  readonly #blocksPerForest: number;
  /** How many blocks ago the period began; 0 for none. */
  readonly #lag: number;
  readonly #experts: number;
  /** Past blocks that are kept. */
  readonly #ring: number;
  // Where the parts of the state begin: hubs have many streams, and a view of each part would take more than the state.
  readonly #errors: number;
  readonly #predictions: number;
  readonly #past: number;
  readonly #rows: number;
  readonly #table: TreeTable;
  /** Σ k², k < b */
  readonly #squaresOfK: number;
  /** By level, the k finished children of the running family, and what it holds back. */
  readonly #children: number[];
  readonly #moves: Float64Array;
  /** What the numbers that follow from the state were made for. */
  #blocks = NaN;
  #nodeVariance = NaN;
  #inForest = 0;

  constructor({ fanout: b, levels, blocksPerForest, blockLength, first }: SmootherContext, period: number) {
    this.#b = b;
    this.#levels = levels;
    this.#families = levels - 1;
    this.#blocksPerForest = Math.floor(blocksPerForest); // a small integer: engines take any power for a double
    this.#lag = period / blockLength;
    this.#ring = period === 0 ? 0 : Math.ceil(period / blockLength) + 1;
    this.#experts = levels + 2 + (period === 0 ? 0 : 1);
    this.#errors = NODES + levels;
    this.#predictions = this.#errors + this.#experts;
    this.#past = this.#predictions + this.#experts;
    this.#rows = this.#past + this.#ring;
    this.#table = tableFor(b, levels);
    this.#squaresOfK = ((b - 1) * b * (2 * b - 1)) / 6;
    this.state = new Float64Array(this.#rows + this.#families * (2 + b));
    this.state.fill(NaN, NODES, this.#errors);
    this.state.fill(first, this.#predictions, this.#past);
    this.#children = [];
    for (let g = 0; g < this.#families; g++) {
      this.state[this.#row(g) + 1] = first * this.#table.sizes[g]!;
      this.#children.push(0);
    }
    this.#moves = new Float64Array(this.#families);
  }

  /** Where the family of level g stands in the state. */
  #row(g: number): number {
    return this.#rows + g * (2 + this.#b);
  }

  restart(): void {
    this.#blocks = NaN;
  }

  get heldBack(): number {
    return this.state[2]!;
  }

  next(estimate: number, nodeVariance: number): number {
    const state = this.state;
    if (state[0] !== this.#blocks || nodeVariance !== this.#nodeVariance) this.#follow(nodeVariance);
    const best = this.#judge(estimate);
    if (this.#ring > 0) state[this.#past + (state[0]! % this.#ring)] = estimate;
    this.#blocks = ++state[0]!;
    state[1]! += estimate;
    const kept = this.#addBlock(estimate);
    if (++this.#inForest === this.#blocksPerForest) this.#endForest();
    let held = 0;
    for (let g = 0; g < this.#moves.length; g++) held += this.#moves[g]!;
    state[2] = held;
    this.#predict(estimate, kept);
    const prediction = state[this.#predictions + best]!;
    // Not held near the last block: a season may begin with a jump.
    if (best === this.#levels + 2) return prediction;
    const reach = this.#levels === 1 ? REACH * Math.sqrt(nodeVariance) : REACH * Math.sqrt(this.#noise(0, 1));
    return Math.max(estimate - reach, Math.min(estimate + reach, prediction));
  }

  /** V_k of level g, for the noise of the running tree. */
  #noise(g: number, k: number): number {
    return this.#nodeVariance * this.#table.unitNoise[g]![k]!;
  }

  /** Makes all that follows from the state and from the noise of the running tree. */
  #follow(nodeVariance: number): void {
    this.#blocks = this.state[0]!;
    this.#nodeVariance = nodeVariance;
    this.#inForest = Math.floor(this.#blocks % this.#blocksPerForest);
    for (let g = 0; g < this.#families; g++) {
      const k = Math.floor(this.#inForest / this.#table.sizes[g]!) % this.#b;
      this.#children[g] = k;
      this.#moves[g] = 0;
      if (k > 0) this.#holdBack(g, k);
    }
  }

  /** Adds the error of every expert on a block. @returns the one with the least so far */
  #judge(estimate: number): number {
    const state = this.state;
    const [errors, predictions] = [this.#errors, this.#predictions];
    const counts = state[0]! > 0;
    let best = 0;
    for (let i = 0; i < this.#experts; i++) {
      const miss = estimate - state[predictions + i]!;
      const error = KEEP * state[errors + i]! + (counts ? miss * miss : 0);
      state[errors + i] = error;
      if (error < state[errors + best]!) best = i;
    }
    return best;
  }

  /** Adds a block to its family, and each family that ends to the one above. @returns c of the last of them */
  #addBlock(estimate: number): number {
    const state = this.state;
    const b = this.#b;
    let node = estimate;
    for (let g = 0; g < this.#families; g++) {
      state[NODES + g] = node / this.#table.sizes[g]!;
      const row = this.#row(g);
      const k = this.#children[g]! + 1;
      if (k === 1) state[row + 1 + b]!++;
      state[row]! += node;
      if (k < b) {
        const weight = Math.max(FORGET, 1 / state[row + 1 + b]!);
        const surplus = state[row]! - k * state[row + 1]!;
        state[row + 1 + k]! += weight * (surplus * surplus - this.#noise(g, k) - state[row + 1 + k]!);
        this.#children[g] = k;
        return this.#holdBack(g, k);
      }
      node = state[row]!;
      state[row] = 0;
      state[row + 1] = node / b;
      this.#children[g] = 0;
      this.#moves[g] = 0;
    }
    state[NODES + this.#levels - 1] = node / this.#table.sizes[this.#levels - 1]!;
    return 1;
  }

  /** A forest may end inside a tree. */
  #endForest(): void {
    this.#inForest = 0;
    for (let g = 0; g < this.#families; g++) {
      this.state[this.#row(g)] = 0;
      this.#children[g] = 0;
      this.#moves[g] = 0;
    }
  }

  /** Sets what the running family of level g holds back after its k-th child. @returns c */
  #holdBack(g: number, k: number): number {
    const state = this.state;
    const row = this.#row(g);
    const noise = this.#noise(g, k);
    const c = this.#kept(row, k, noise);
    const reach = REACH * Math.sqrt(noise);
    const move = (1 - c) * (state[row]! - k * state[row + 1]!);
    this.#moves[g] = Math.max(-reach, Math.min(reach, move));
    return c;
  }

  /** c = d k²/(d k² + V_k) */
  #kept(row: number, k: number, noise: number): number {
    const state = this.state;
    const b = this.#b;
    if (state[row + 1 + b]! <= 1) return 1; // no family has ended yet
    let surplus = 0;
    for (let i = row + 2; i <= row + b; i++) surplus += state[i]!;
    const signal = (Math.max(0, surplus) / this.#squaresOfK) * (k * k);
    return signal / (signal + noise);
  }

  /** @param kept c of the block's family, if it runs */
  #predict(estimate: number, kept: number): void {
    const state = this.state;
    const levels = this.#levels;
    const predictions = this.#predictions;
    for (let l = 0; l < levels; l++) {
      const node = state[NODES + l]!;
      state[predictions + l] = Number.isNaN(node) ? estimate : node;
    }
    state[predictions + levels] = state[1]! / state[0]!;
    state[predictions + levels + 1] = this.#familyMean(estimate, kept);
    if (this.#lag > 0) state[predictions + levels + 2] = this.#onePeriodAgo(estimate);
  }

  #familyMean(estimate: number, kept: number): number {
    if (this.#levels === 1) return estimate;
    const sum = this.state[this.#rows]!;
    const mean = this.state[this.#rows + 1]!;
    const k = this.#children[0]!;
    return k === 0 ? mean : mean + kept * (sum / k - mean);
  }

  /** The next block began `lag` blocks after a place between two blocks. */
  #onePeriodAgo(estimate: number): number {
    const before = this.#blocks - this.#lag;
    const first = Math.floor(before);
    if (first < 0) return estimate;
    const second = Math.min(first + 1, this.#blocks - 1);
    const from = this.state[this.#past + (first % this.#ring)]!;
    return from + (before - first) * (this.state[this.#past + (second % this.#ring)]! - from);
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
