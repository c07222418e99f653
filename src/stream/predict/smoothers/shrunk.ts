/**
 * Published sums that defer what looks like noise (docs/departures.md, "Shrunk corrections").
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
import { lastMade } from "../../../core/lastMade.js";
import { deviationVariances } from "../../answer/shrinkage.js";
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

/** Numbers that follow from the shape of a tree; streams of one shape share them. */
interface TreeTable {
  /** Blocks of a node of each level. */
  readonly sizes: Float64Array;
  /** V_k for noise of variance 1 on every node: b of them for each level. */
  readonly unitNoise: Float64Array;
}

const tableFor = lastMade((b: number, levels: number): TreeTable => ({
  sizes: Float64Array.from({ length: levels }, (_, g) => b ** g),
  unitNoise: Float64Array.from(familyVariances(b, levels).flat()),
}));

/** Where the last nodes by level stand in the state: after the number of blocks, the sum of all, and what is deferred. */
const NODES = 3;

/** Numbers that follow from the state are kept between blocks; `restart` makes them again. */
class Shrunk implements Smoother {
  /**
   * Blocks, sum of all, deferred, last nodes by level, errors and predictions of experts, past blocks, families. Per family
   * of a level: A, μ, S_k − V_k for k = 1 … b − 1, and how many families have begun.
   */
  readonly state: Float64Array;
  readonly #b: number;
  readonly #levels: number;
  readonly #families: number;
  readonly #blocksPerForest: number;
  /** How many blocks ago the period began; 0 for none. */
  readonly #lag: number;
  // Where the parts of the state begin. Hubs have many streams, and a view of each part would take more than the state;
  // and engines look at every array anew with each block.
  readonly #errors: number;
  readonly #predictions: number;
  readonly #past: number;
  readonly #rows: number;
  readonly #sizes: Float64Array;
  readonly #unitNoise: Float64Array;
  /** Σ k², k < b */
  readonly #squaresOfK: number;
  /** Finished blocks of the running forest, and of the running family. */
  #inForest = 0;
  #inFamily = 0;
  /** By level, what the running family defers. */
  readonly #moves: Float64Array;
  /** How many levels have a finished node: the lowest ones, and the first has one when it is asked for. */
  #known = 1;
  /** Number of blocks and variance that the numbers above follow from. */
  #blocks = NaN;
  #nodeVariance = NaN;

  constructor({ fanout: b, levels, blocksPerForest, blockLength, first }: SmootherContext, period: number) {
    const experts = levels + 2 + (period === 0 ? 0 : 1);
    const { sizes, unitNoise } = tableFor(b, levels);
    this.#b = b;
    this.#levels = levels;
    this.#families = levels - 1;
    this.#blocksPerForest = Math.floor(blocksPerForest); // a small integer: engines take any power for a double
    this.#lag = period / blockLength;
    this.#errors = NODES + levels;
    this.#predictions = this.#errors + experts;
    this.#past = this.#predictions + experts;
    this.#rows = this.#past + (period === 0 ? 0 : Math.ceil(this.#lag) + 1);
    this.#sizes = sizes;
    this.#unitNoise = unitNoise;
    this.#squaresOfK = ((b - 1) * b * (2 * b - 1)) / 6;
    this.#moves = new Float64Array(this.#families);
    this.state = new Float64Array(this.#rows + this.#families * (2 + b));
    this.state.fill(NaN, NODES, this.#errors);
    this.state.fill(first, this.#predictions, this.#past);
    for (let g = 0; g < this.#families; g++) this.state[this.#row(g) + 1] = first * sizes[g]!;
  }

  /** Where the family of level g stands in the state. */
  #row(g: number): number {
    return this.#rows + g * (2 + this.#b);
  }

  restart(): void {
    this.#blocks = NaN;
  }

  get deferred(): number {
    return this.state[2]!;
  }

  next(estimate: number, nodeVariance: number): number {
    const state = this.state;
    if (state[0] !== this.#blocks || nodeVariance !== this.#nodeVariance) this.#follow(nodeVariance);
    const best = this.#judge(estimate);
    if (this.#lag > 0) this.#remember(estimate);
    const blocks = (state[0]! += 1);
    const sum = (state[1]! += estimate);
    this.#blocks = blocks;
    const kept = this.#addBlock(estimate);
    if (++this.#inForest === this.#blocksPerForest) this.#endForest();
    let deferred = 0;
    for (let g = 0; g < this.#families; g++) deferred += this.#moves[g]!;
    state[2] = deferred;
    const levels = this.#levels;
    const predictions = this.#predictions;
    state[predictions] = estimate;
    for (let l = this.#known; l < levels; l++) state[predictions + l] = estimate; // the others changed with their nodes
    state[predictions + levels] = sum / blocks;
    state[predictions + levels + 1] = this.#familyMean(estimate, kept);
    if (this.#lag > 0) state[predictions + levels + 2] = this.#onePeriodAgo(estimate);
    const prediction = state[best]!;
    // Not kept near the last block: a season may begin with a jump.
    if (best === predictions + levels + 2) return prediction;
    const noise = levels === 1 ? nodeVariance : nodeVariance * this.#unitNoise[1]!;
    const reach = REACH * Math.sqrt(noise);
    return Math.max(estimate - reach, Math.min(estimate + reach, prediction));
  }

  /** Makes all that follows from the state and from the noise of the running tree. */
  #follow(nodeVariance: number): void {
    this.#blocks = this.state[0]!;
    this.#nodeVariance = nodeVariance;
    this.#inForest = Math.floor(this.#blocks % this.#blocksPerForest);
    this.#inFamily = this.#inForest % this.#b;
    this.#known = 1;
    while (this.#known < this.#levels && !Number.isNaN(this.state[NODES + this.#known]!)) this.#known++;
    for (let g = 0; g < this.#families; g++) {
      const k = this.#childrenOf(g);
      this.#moves[g] = 0;
      if (k > 0) this.#defer(g, k);
    }
  }

  /** The finished children of the running family of level g. */
  #childrenOf(g: number): number {
    return Math.floor(this.#inForest / this.#sizes[g]!) % this.#b;
  }

  /** Adds the error of every expert on a block. @returns where the prediction of the one with the least so far stands */
  #judge(estimate: number): number {
    const state = this.state;
    const predictions = this.#predictions;
    let best = predictions;
    if (this.#blocks === 0) return best;
    let least = Infinity;
    for (let i = this.#errors, expert = predictions; i < predictions; i++, expert++) {
      const miss = estimate - state[expert]!;
      const error = KEEP * state[i]! + miss * miss;
      state[i] = error;
      if (error < least) {
        least = error;
        best = expert;
      }
    }
    return best;
  }

  /** Adds a block to its family, and each family that ends to the one above. @returns c of the block's family, if it runs */
  #addBlock(estimate: number): number {
    this.state[NODES] = estimate;
    if (this.#families === 0) return 1;
    const k = this.#inFamily + 1;
    if (k === this.#b) {
      this.#endFamilies(estimate);
      return 1;
    }
    this.#inFamily = k;
    return this.#addChild(0, k, estimate);
  }

  /** The last child ends its family, which is then the next child of the family above. */
  #endFamilies(estimate: number): void {
    const state = this.state;
    let node = estimate;
    this.#inFamily = 0;
    for (let g = 0; g < this.#families; g++) {
      const k = this.#childrenOf(g) + 1;
      if (k < this.#b) {
        this.#addChild(g, k, node);
        return;
      }
      const row = this.#row(g);
      node += state[row]!;
      state[row] = 0;
      state[row + 1] = node / this.#b;
      this.#moves[g] = 0;
      const mean = node / this.#sizes[g + 1]!;
      state[NODES + g + 1] = mean;
      state[this.#predictions + g + 1] = mean;
      this.#known = Math.max(this.#known, g + 2);
    }
  }

  /** Adds child k, not the last one, to the running family of level g. @returns c */
  #addChild(g: number, k: number, child: number): number {
    const b = this.#b;
    const state = this.state;
    const row = this.#rows + g * (2 + b);
    if (k === 1) state[row + 1 + b]!++;
    state[row]! += child;
    const begun = state[row + 1 + b]!;
    const weight = begun < 1 / FORGET ? 1 / begun : FORGET;
    const surplus = state[row]! - k * state[row + 1]!;
    const noise = this.#nodeVariance * this.#unitNoise[g * b + k]!;
    state[row + 1 + k]! += weight * (surplus * surplus - noise - state[row + 1 + k]!);
    return this.#defer(g, k);
  }

  /** A forest may end inside a tree. */
  #endForest(): void {
    this.#inForest = 0;
    this.#inFamily = 0;
    for (let g = 0; g < this.#families; g++) {
      this.state[this.#row(g)] = 0;
      this.#moves[g] = 0;
    }
  }

  /** Sets what the running family of level g defers after its k-th child. @returns c = d k²/(d k² + V_k) */
  #defer(g: number, k: number): number {
    const b = this.#b;
    const state = this.state;
    const row = this.#rows + g * (2 + b);
    const noise = this.#nodeVariance * this.#unitNoise[g * b + k]!;
    const squares = Math.max(0, sum(state, row + 2, row + 1 + b));
    const signal = (squares / this.#squaresOfK) * (k * k);
    const c = state[row + 1 + b]! <= 1 ? 1 : signal / (signal + noise); // 1: no family has ended yet
    const reach = REACH * Math.sqrt(noise);
    const move = (1 - c) * (state[row]! - k * state[row + 1]!);
    this.#moves[g] = Math.max(-reach, Math.min(reach, move));
    return c;
  }

  #familyMean(estimate: number, kept: number): number {
    if (this.#families === 0) return estimate;
    const state = this.state;
    const before = state[this.#rows + 1]!;
    const k = this.#inFamily;
    return k === 0 ? before : before + kept * (state[this.#rows]! / k - before);
  }

  #remember(estimate: number): void {
    this.state[this.#past + (this.#blocks % (this.#rows - this.#past))] = estimate;
  }

  /** The next block began `lag` blocks after a place between two blocks. */
  #onePeriodAgo(estimate: number): number {
    const before = this.#blocks - this.#lag;
    const first = Math.floor(before);
    if (first < 0) return estimate;
    const second = Math.min(first + 1, this.#blocks - 1);
    const ring = this.#rows - this.#past;
    const from = this.state[this.#past + (first % ring)]!;
    return from + (before - first) * (this.state[this.#past + (second % ring)]! - from);
  }
}

/** Σ numbers[i], from ≤ i < end, in order. Five at a time: processors do not foresee the end of a long loop. */
function sum(numbers: Float64Array, from: number, end: number): number {
  let total = 0;
  let i = from;
  for (; i + 4 < end; i += 5)
    total = total + numbers[i]! + numbers[i + 1]! + numbers[i + 2]! + numbers[i + 3]! + numbers[i + 4]!;
  for (; i < end; i++) total += numbers[i]!;
  return total;
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
