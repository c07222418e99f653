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
  readonly sizes: readonly number[];
  /** V_k of each level for noise of variance 1 on every node. */
  readonly unitNoise: readonly Float64Array[];
}

const tableFor = lastMade((b: number, levels: number): TreeTable => ({
  sizes: Array.from({ length: levels }, (_, g) => b ** g),
  unitNoise: familyVariances(b, levels).map((row) => Float64Array.from(row)),
}));

/** The running family of one level. Fields hold doubles from the start, so that engines keep them in place. */
class Family {
  /** A, the sum of its finished children. */
  sum = NaN;
  /** μ, the mean child of the family before it. */
  mean: number;
  /** S_k − V_k at k − 1: squared distance of k children from k μ, less its noise, as a mean over families. */
  readonly squares: Float64Array;
  /** Families of this level so far, with this one. */
  begun = NaN;
  /** Amount of its children that published sums defer. */
  deferred = NaN;
  /** Blocks of a child. */
  readonly childSize: number;
  /** V_k at k, for noise of variance 1 on every node. */
  readonly unitNoise: Float64Array;

  constructor(b: number, first: number, childSize: number, unitNoise: Float64Array) {
    this.mean = first * childSize;
    this.squares = new Float64Array(b - 1);
    this.childSize = childSize;
    this.unitNoise = unitNoise;
    this.begun = 0;
    this.restart();
  }

  restart(): void {
    this.sum = 0;
    this.deferred = 0;
  }

  /** Adds child k, not the last one. @returns c */
  add(k: number, child: number, nodeVariance: number): number {
    if (k === 1) this.begun++;
    this.sum += child;
    const weight = this.begun < 1 / FORGET ? 1 / this.begun : FORGET;
    const surplus = this.sum - k * this.mean;
    const noise = nodeVariance * this.unitNoise[k]!;
    const { squares } = this;
    squares[k - 1]! += weight * (surplus * surplus - noise - squares[k - 1]!);
    return this.defer(k, nodeVariance);
  }

  /** Sets what is deferred after the k-th child. @returns c = d k²/(d k² + V_k) */
  defer(k: number, nodeVariance: number): number {
    const noise = nodeVariance * this.unitNoise[k]!;
    const b = this.squares.length + 1;
    const signal = (Math.max(0, sum(this.squares)) / (((b - 1) * b * (2 * b - 1)) / 6)) * (k * k); // d k², d = Σ S/Σ k²
    const c = this.begun <= 1 ? 1 : signal / (signal + noise); // 1: no family has ended yet
    const reach = REACH * Math.sqrt(noise);
    const move = (1 - c) * (this.sum - k * this.mean);
    this.deferred = Math.max(-reach, Math.min(reach, move));
    return c;
  }

  /** The last child ends it, and the next one begins. @returns its sum */
  end(lastChild: number): number {
    const total = lastChild + this.sum;
    this.mean = total / this.unitNoise.length;
    this.restart();
    return total;
  }
}

class Shrunk implements Smoother {
  readonly size: number;
  readonly #b: number;
  readonly #levels: number;
  readonly #blocksPerForest: number;
  /** How many blocks ago the period began; 0 for none. */
  readonly #lag: number;
  /** Finished blocks, and the sum of their estimates. */
  #blocks = 0;
  #sum = NaN;
  #deferred = NaN;
  /** Mean block of the last finished node of each level; NaN if there is none. */
  readonly #lastNodes: Float64Array;
  /** By expert: that of each level, of all blocks, of the running family and of the period. */
  readonly #errors: Float64Array;
  readonly #predictions: Float64Array;
  /** Ring of estimates, for the period. */
  readonly #past: Float64Array;
  /** By the level of their children. */
  readonly #families: readonly Family[];
  // What follows from the numbers above is kept between blocks; `load` makes it again.
  /** Finished blocks of the running forest, and of the running family. */
  #inForest = 0;
  #inFamily = 0;
  /** How many levels have a finished node: the lowest ones, and the first has one when it is asked for. */
  #known = 1;
  /** Variance of the noise that `deferred` of the families follows from. */
  #nodeVariance = NaN;

  constructor({ fanout: b, levels, blocksPerForest, blockLength, first }: SmootherContext, period: number) {
    const { sizes, unitNoise } = tableFor(b, levels);
    const experts = levels + 2 + (period === 0 ? 0 : 1);
    this.#b = b;
    this.#levels = levels;
    this.#blocksPerForest = Math.floor(blocksPerForest); // a small integer: engines take any power for a double
    this.#lag = period / blockLength;
    this.#sum = 0;
    this.#deferred = 0;
    this.#lastNodes = new Float64Array(levels).fill(NaN);
    this.#errors = new Float64Array(experts);
    this.#predictions = new Float64Array(experts).fill(first);
    this.#past = new Float64Array(period === 0 ? 0 : Math.ceil(this.#lag) + 1);
    this.#families = unitNoise.map((row, g) => new Family(b, first, sizes[g]!, row));
    this.size = 3 + levels + 2 * experts + this.#past.length + this.#families.length * (2 + b);
  }

  save(to: Float64Array): void {
    to.set([this.#blocks, this.#sum, this.#deferred]);
    let at = 3;
    for (const numbers of [this.#lastNodes, this.#errors, this.#predictions, this.#past]) {
      to.set(numbers, at);
      at += numbers.length;
    }
    for (const { sum, mean, squares, begun } of this.#families) {
      to.set([sum, mean], at);
      to.set(squares, at + 2);
      to[at + 1 + this.#b] = begun;
      at += 2 + this.#b;
    }
  }

  load(from: Float64Array): void {
    this.#blocks = from[0]!;
    this.#sum = from[1]!;
    this.#deferred = from[2]!;
    let at = 3;
    for (const numbers of [this.#lastNodes, this.#errors, this.#predictions, this.#past]) {
      numbers.set(from.subarray(at, at + numbers.length));
      at += numbers.length;
    }
    for (const family of this.#families) {
      family.sum = from[at]!;
      family.mean = from[at + 1]!;
      family.squares.set(from.subarray(at + 2, at + 1 + this.#b));
      family.begun = from[at + 1 + this.#b]!;
      at += 2 + this.#b;
    }
    this.#inForest = Math.floor(this.#blocks % this.#blocksPerForest);
    this.#inFamily = this.#inForest % this.#b;
    this.#known = 1;
    while (this.#known < this.#levels && !Number.isNaN(this.#lastNodes[this.#known]!)) this.#known++;
    this.#nodeVariance = NaN;
  }

  get deferred(): number {
    return this.#deferred;
  }

  next(estimate: number, nodeVariance: number): number {
    if (nodeVariance !== this.#nodeVariance) this.#setNoise(nodeVariance);
    const best = this.#judge(estimate);
    if (this.#lag > 0) this.#past[this.#blocks % this.#past.length] = estimate;
    this.#blocks++;
    this.#sum += estimate;
    const kept = this.#addBlock(estimate);
    if (++this.#inForest === this.#blocksPerForest) this.#endForest();
    let deferred = 0;
    for (const family of this.#families) deferred += family.deferred;
    this.#deferred = deferred;
    const levels = this.#levels;
    const predictions = this.#predictions;
    predictions[0] = estimate;
    for (let l = this.#known; l < levels; l++) predictions[l] = estimate; // the others changed with their nodes
    predictions[levels] = this.#sum / this.#blocks;
    predictions[levels + 1] = this.#familyMean(estimate, kept);
    if (this.#lag > 0) predictions[levels + 2] = this.#onePeriodAgo(estimate);
    const prediction = predictions[best]!;
    // Not kept near the last block: a season may begin with a jump.
    if (best === levels + 2) return prediction;
    const noise = levels === 1 ? nodeVariance : nodeVariance * this.#families[0]!.unitNoise[1]!;
    const reach = REACH * Math.sqrt(noise);
    return Math.max(estimate - reach, Math.min(estimate + reach, prediction));
  }

  /** Sets the amounts that running families defer, which follow from the noise of the running tree. */
  #setNoise(nodeVariance: number): void {
    this.#nodeVariance = nodeVariance;
    for (const family of this.#families) {
      const k = this.#childrenOf(family);
      family.deferred = 0;
      if (k > 0) family.defer(k, nodeVariance);
    }
  }

  /** How many children of the running family are finished. */
  #childrenOf(family: Family): number {
    return Math.floor(this.#inForest / family.childSize) % this.#b;
  }

  /** Adds the error of every expert on a block. @returns the one with the least so far */
  #judge(estimate: number): number {
    if (this.#blocks === 0) return 0;
    const errors = this.#errors;
    const predictions = this.#predictions;
    let best = 0;
    let least = Infinity;
    for (let i = 0; i < errors.length; i++) {
      const miss = estimate - predictions[i]!;
      const error = KEEP * errors[i]! + miss * miss;
      errors[i] = error;
      if (error < least) {
        least = error;
        best = i;
      }
    }
    return best;
  }

  /** Adds a block to its family, and each family that ends to the one above. @returns c of the block's family, if it runs */
  #addBlock(estimate: number): number {
    this.#lastNodes[0] = estimate;
    if (this.#families.length === 0) return 1;
    const k = this.#inFamily + 1;
    if (k === this.#b) {
      this.#endFamilies(estimate);
      return 1;
    }
    this.#inFamily = k;
    return this.#families[0]!.add(k, estimate, this.#nodeVariance);
  }

  /** The last child ends its family, which is then the next child of the family above. */
  #endFamilies(estimate: number): void {
    let node = estimate;
    let level = 0;
    this.#inFamily = 0;
    for (const family of this.#families) {
      const k = this.#childrenOf(family) + 1;
      if (k < this.#b) {
        family.add(k, node, this.#nodeVariance);
        return;
      }
      node = family.end(node);
      level++;
      const mean = node / (family.childSize * this.#b);
      this.#lastNodes[level] = mean;
      this.#predictions[level] = mean;
      this.#known = Math.max(this.#known, level + 1);
    }
  }

  /** A forest may end inside a tree. */
  #endForest(): void {
    this.#inForest = 0;
    this.#inFamily = 0;
    for (const family of this.#families) family.restart();
  }

  #familyMean(estimate: number, kept: number): number {
    if (this.#families.length === 0) return estimate;
    const { sum, mean } = this.#families[0]!;
    const k = this.#inFamily;
    return k === 0 ? mean : mean + kept * (sum / k - mean);
  }

  /** The next block began `lag` blocks after a place between two blocks. */
  #onePeriodAgo(estimate: number): number {
    const before = this.#blocks - this.#lag;
    const first = Math.floor(before);
    if (first < 0) return estimate;
    const second = Math.min(first + 1, this.#blocks - 1);
    const past = this.#past;
    const from = past[first % past.length]!;
    return from + (before - first) * (past[second % past.length]! - from);
  }
}

/** Σ numbers, in order. Five at a time: processors do not foresee the end of a long loop. */
function sum(numbers: Float64Array): number {
  const end = numbers.length;
  let total = 0;
  let i = 0;
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
