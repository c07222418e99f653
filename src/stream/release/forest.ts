/**
 * Adds noise to block sums: the next leaf of a forest whose noise was made consistent before any value came.
 *
 * Every value is in one leaf and so in `levels` nodes of its tree; replacing it moves each of their sums by at
 * most Θ. Noise of scale t = levels·Θ/ε on every node, ε the share that nodes have of it, therefore makes the noisy counts H = T + N ε-private, and
 * (T + N) + f is post-processing of H alone, in every bit: f comes from residuals that are the same integers for
 * N as for H (docs/privacy-values.md, "Release").
 */
import type { Core } from "../../core/core.js";
import { exactRational } from "../../core/tables/fixedPoint.js";
import { makeScale, type Scale } from "../../core/tables/scale.js";
import type { Settings } from "../options.js";
import { type ForestShape, type OtherScales, type PlacedTree, Trees } from "./trees.js";

/**
 * t = levels·Θ/ε, with ε the exact rational that its double stands for.
 * @param share how many 32nds of ε there are to spend
 */
export function noiseScale(levels: number, theta: number, epsilon: number, share = 32): Scale {
  const { numerator, denominator } = exactRational(epsilon);
  return makeScale(32n * BigInt(levels) * BigInt(theta) * denominator, BigInt(share) * numerator);
}

/** The largest sum over a forest, noise included, in grid units. @param epsilon the least that the nodes of a tree have */
export function largestSum(settings: Settings, epsilon: number, theta: number): number {
  const { levels, fanout, blocksPerForest, blockLength } = settings.tree;
  return theta * blocksPerForest * blockLength + 100 * ((levels * theta) / epsilon) * fanout;
}

/** Bits after the binary point that leave sums up to `largest` exact in a double. */
export function fractionBits(largest: number): number {
  return Math.max(0, Math.min(20, 51 - Math.ceil(Math.log2(largest))));
}

/** Before the first block no tree is in use. */
const NO_TREE: PlacedTree = {
  noise: new Float64Array(0),
  corrections: new Float64Array(0),
  first: 0,
  end: 0,
};

export class Forest {
  // Parameters
  readonly #core: Core;
  readonly #fanout: number;
  readonly #levels: number;
  readonly #trees: Trees;
  // State
  /** The tree in use. */
  #tree = NO_TREE;
  /** Parts of the tree, which are found faster here, and the blocks [first, end) that it covers, counted over all forests. */
  #noise = this.#tree.noise;
  #corrections = this.#tree.corrections;
  #first = 0;
  #end = 0;
  /** Scale of the noise of that tree. */
  #scale: Scale | undefined;
  /** Blocks of that tree from this one on draw a next tree ahead. */
  #aheadFrom = 0;
  /** Blocks [from, until) have the same parent, and so the same correction f; none of them draws ahead. */
  #from = 0;
  #until = 0;
  #correction = NaN;

  /**
   * @param fractionBits f is rounded to multiples of 2^−fractionBits, so that sums of estimates are exact in a double
   * @param others what else the scale of the next tree may be
   */
  constructor(core: Core, key: Uint32Array, shape: ForestShape, fractionBits: number, others?: OtherScales) {
    this.#core = core;
    this.#fanout = shape.fanout;
    this.#levels = shape.levels;
    this.#trees = new Trees(core, key, shape, 2 ** fractionBits, others);
  }

  /** Draws what takes long before a push needs it: called outside of pushes. */
  prepare(block: number, scale: Scale): void {
    if (block === 0) scale.words(this.#core.fillDigit); // later ones may be asked for ranges alone
    if (!this.#trees.large) return;
    this.#moveTo(block, scale);
    if (block >= this.#aheadFrom) this.#trees.drawAhead(this.#tree, block, true);
  }

  /** Draws a large tree of a new scale up to so many slices, before its first block; cannot fail. */
  drawSoon(block: number, scale: Scale, slices: number): void {
    if (this.#trees.large && scale !== this.#scale) this.#trees.drawSoon(block, scale, slices);
  }

  /**
   * û of block `block`, counted over all forests, in grid units, from its true sum of integers.
   * @param scale of the noise of its tree
   */
  estimate(block: number, sum: number, scale: Scale): number {
    if (block < this.#from || block >= this.#until || scale !== this.#scale) this.#seek(block, scale);
    return sum + this.#noise[block - this.#first]! + this.#correction;
  }

  /** Makes `block` the first of blocks with the same parent. */
  #seek(block: number, scale: Scale): void {
    if (block < this.#first || block >= this.#end || scale !== this.#scale) this.#moveTo(block, scale);
    const ahead = block >= this.#aheadFrom;
    if (ahead) this.#trees.drawAhead(this.#tree, block, true);
    const parent = Math.floor((block - this.#first) / this.#fanout);
    this.#correction = this.#levels === 1 ? 0 : this.#corrections[parent]!;
    this.#from = block;
    this.#until = ahead ? block + 1 : Math.min(this.#first + (parent + 1) * this.#fanout, this.#aheadFrom);
  }

  /** Turns the true sums of consecutive blocks into their estimates, in place; their trees have noise of one scale. */
  estimateMany(block: number, sums: Float64Array, scale: Scale): void {
    if (sums.length === 0) return;
    let next = block;
    for (const end = block + sums.length; next < end;) {
      if (next < this.#first || next >= this.#end || scale !== this.#scale) this.#moveTo(next, scale);
      const part = sums.subarray(next - block, this.#end - block);
      this.#core.estimateLeaves(part, this.#tree, this.#fanout, next - this.#first, part);
      next += part.length;
    }
    if (next > this.#aheadFrom) this.#trees.drawAhead(this.#tree, next - 1, false);
  }

  #moveTo(block: number, scale: Scale): void {
    this.#tree = this.#trees.take(block, scale);
    this.#scale = scale;
    this.#first = this.#tree.first;
    this.#end = this.#tree.end;
    this.#noise = this.#tree.noise;
    this.#corrections = this.#tree.corrections;
    this.#aheadFrom = Math.min(this.#end, this.#trees.aheadFrom);
    this.#until = 0; // nothing of the tree before holds any longer
  }
}
