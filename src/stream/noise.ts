/**
 * Adds noise to block sums: the next leaf of a forest whose noise was made consistent before any value came.
 *
 * Every value is in one leaf and so in `levels` nodes of its tree; replacing it moves each of their sums by at
 * most Θ. Noise of scale t = levels·Θ/ε on every node therefore makes the noisy counts H = T + N ε-private, and
 * (T + N) + f is post-processing of H alone, in every bit: f comes from residuals that are the same integers for
 * N as for H (docs/privacy.md, "Release").
 */
import type { Core, Tree } from "../core/core.js";
import { exactRational } from "../core/tables/fixedPoint.js";
import { Stage, subStream } from "../core/random.js";
import { makeScale, type Scale } from "../core/tables/scale.js";

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
  /** f is rounded to multiples of 1/fraction, a power of two, so that sums of estimates are exact in a double. */
  readonly #fraction: number;
  /** The tree that covers blocks [first, end), counted over all forests. */
  #tree: Tree = { noise: new Float64Array(0), corrections: new Float64Array(0) };
  #first = 0;
  #end = 0;

  /** @param theta Θ, the largest clamped value, in grid units */
  constructor(core: Core, key: Uint32Array, shape: PerturberShape, theta: number, fractionBits: number) {
    this.#core = core;
    this.#key = key;
    this.#shape = shape;
    this.#scale = noiseScale(shape.levels, theta, shape.epsilon);
    this.#fraction = 2 ** fractionBits;
  }

  /** û of block `block`, counted over all forests, in grid units, from its true sum of integers. */
  estimate(block: number, sum: number): number {
    if (block < this.#first || block >= this.#end) this.#growFor(block);
    const leaf = block - this.#first;
    const noisy = sum + this.#tree.noise[leaf]!;
    const { levels, fanout } = this.#shape;
    return levels === 1 ? noisy : noisy + this.#tree.corrections[(leaf / fanout) | 0]!; // | 0: a division of integers
  }

  /** Turns the true sums of consecutive blocks into their estimates, in place. */
  estimateMany(block: number, sums: Float64Array): void {
    for (let done = 0; done < sums.length;) {
      const next = block + done;
      if (next < this.#first || next >= this.#end) this.#growFor(next);
      const part = sums.subarray(done, done + this.#end - next);
      this.#core.estimateLeaves(part, this.#tree, this.#shape.fanout, next - this.#first, part);
      done += part.length;
    }
  }

  /** One tree is grown at a time, when its first leaf is due: the stream never waits for more than one top node's work. */
  #growFor(block: number): void {
    const { fanout, levels, blocksPerForest } = this.#shape;
    const leaves = fanout ** (levels - 1);
    const inForest = block % blocksPerForest;
    const top = Math.floor(inForest / leaves);
    const start = block - inForest;
    const random = subStream(this.#key, Stage.forest, 0, start / blocksPerForest, top);
    const tree = this.#core.growTree(random, this.#scale, fanout, levels);
    for (let i = 0; i < tree.corrections.length; i++)
      tree.corrections[i] = Math.floor(tree.corrections[i]! * this.#fraction + 0.5) / this.#fraction;
    this.#tree = tree;
    // floor() makes small integers of what powers made doubles: `estimate` indexes by them.
    this.#first = Math.floor(start + top * leaves);
    this.#end = Math.floor(Math.min(this.#first + leaves, start + blocksPerForest));
  }
}
