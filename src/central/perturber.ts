/**
 * Adds noise to block sums: the next leaf of a forest whose noise was made consistent before any value came.
 *
 * Every value is in one leaf and so in `levels` nodes of its tree; replacing it moves each of their sums by at
 * most Θ. Noise of scale t = levels·Θ/ε on every node therefore makes the noisy counts H = T + N ε-private, and
 * (T + N) + f is post-processing of H alone, in every bit: f comes from residuals that are the same integers for
 * N as for H (docs/privacy.md, "Release").
 */
import type { Core, Tree } from "../core/core.js";
import { exactRational } from "../core/fixedPoint.js";
import { Stage, subStream } from "../core/random.js";
import { makeScale, type Scale } from "../core/scale.js";

export interface PerturberShape {
  readonly epsilon: number;
  readonly fanout: number;
  readonly levels: number;
  readonly blocksPerForest: number;
}

/** t = levels·Θ/ε, with ε the exact rational that its double stands for. */
export function noiseScale(levels: number, theta: number, epsilon: number): Scale {
  const { numerator, denominator } = exactRational(epsilon);
  return makeScale(BigInt(levels) * BigInt(theta) * denominator, numerator);
}

export class Perturber {
  readonly #core: Core;
  readonly #key: Uint32Array;
  readonly #shape: PerturberShape;
  readonly #scale: Scale;
  readonly #treeLeaves: number;
  readonly #treesPerForest: number;
  /** f is rounded to multiples of 1/fraction, a power of two, so that sums of estimates are exact in a double. */
  readonly #fraction: number;
  #tree: Tree | undefined;
  #treeNumber = -1;

  /** @param theta Θ, the largest clamped value, in grid units */
  constructor(core: Core, key: Uint32Array, shape: PerturberShape, theta: number, fractionBits: number) {
    this.#core = core;
    this.#key = key;
    this.#shape = shape;
    this.#scale = noiseScale(shape.levels, theta, shape.epsilon);
    this.#treeLeaves = shape.fanout ** (shape.levels - 1);
    this.#treesPerForest = Math.ceil(shape.blocksPerForest / this.#treeLeaves);
    this.#fraction = 2 ** fractionBits;
  }

  /** û of block `block`, counted over all forests, in grid units, from its true sum of integers. */
  estimate(block: number, sum: number): number {
    const { fanout, levels, blocksPerForest } = this.#shape;
    const inForest = block % blocksPerForest;
    const leaf = inForest % this.#treeLeaves;
    const forest = (block - inForest) / blocksPerForest;
    const tree = this.#treeAt(forest, (inForest - leaf) / this.#treeLeaves);
    const noisy = sum + tree.noise[leaf]!;
    return levels === 1 ? noisy : noisy + tree.corrections[Math.floor(leaf / fanout)]!;
  }

  /** Turns the true sums of consecutive blocks into their estimates, in place. */
  estimateMany(block: number, sums: Float64Array): void {
    const { fanout, blocksPerForest } = this.#shape;
    for (let done = 0; done < sums.length;) {
      const inForest = (block + done) % blocksPerForest;
      const leaf = inForest % this.#treeLeaves;
      const forest = (block + done - inForest) / blocksPerForest;
      const tree = this.#treeAt(forest, (inForest - leaf) / this.#treeLeaves);
      const count = Math.min(sums.length - done, this.#treeLeaves - leaf, blocksPerForest - inForest);
      const part = sums.subarray(done, done + count);
      this.#core.estimateLeaves(part, tree, fanout, leaf, part);
      done += count;
    }
  }

  /** Bytes of noise held: one tree. */
  get bytes(): number {
    return this.#tree === undefined ? 0 : this.#tree.noise.byteLength + this.#tree.corrections.byteLength;
  }

  /** One tree is grown at a time, when its first leaf is due: the stream never waits for more than one top node's work. */
  #treeAt(forest: number, top: number): Tree {
    const number = forest * this.#treesPerForest + top;
    if (this.#tree !== undefined && this.#treeNumber === number) return this.#tree;
    const random = subStream(this.#key, Stage.forest, 0, forest, top);
    const tree = this.#core.growTree(random, this.#scale, this.#shape.fanout, this.#shape.levels);
    for (let i = 0; i < tree.corrections.length; i++)
      tree.corrections[i] = Math.floor(tree.corrections[i]! * this.#fraction + 0.5) / this.#fraction;
    this.#tree = tree;
    this.#treeNumber = number;
    return tree;
  }
}
