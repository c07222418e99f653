/**
 * Noise for many columns of counts at once: one forest per column, all of the same shape. An event is in one node per
 * level of every column that it counts in, so noise of scale levels·Δ/ε protects it, with Δ columns per event.
 * A tree of every column is needed when a block begins a tree. They are drawn column by column while the tree before
 * is in use, so that no block waits for all of them. Noise lies leaf by leaf: what a block needs is in one piece.
 */
import type { Core } from "../core/core.js";
import { groupCount, leafCount } from "../core/tree.js";
import { Stage, subStream } from "../core/random.js";
import type { Scale } from "../core/tables/scale.js";
import { noiseScale } from "../stream/noise.js";
import type { Settings } from "../stream/options.js";

/** One tree per column, as far as they are drawn. */
interface Trees {
  /** The blocks [first, end) that they cover, counted over all forests. */
  first: number;
  end: number;
  /** Columns that are drawn. */
  drawn: number;
  /** Per leaf, the noise of every column. */
  readonly noise: Float64Array;
  /** Per group of sibling leaves, what consistency adds in every column; none for one level. */
  readonly corrections: Float64Array;
}

/** Memory of two trees for every column. */
const MOST_BYTES = 2 ** 30;

export class BucketForests {
  readonly #core: Core;
  readonly #key: Uint32Array;
  readonly #settings: Settings;
  readonly #columns: number;
  readonly #scale: Scale;
  readonly #fraction: number;
  #now: Trees;
  #next: Trees;

  /**
   * @param perEvent Δ: in how many columns an event counts
   * @param block the block that is asked for first
   */
  constructor(
    core: Core,
    key: Uint32Array,
    settings: Settings,
    columns: number,
    perEvent: number,
    fraction: number,
    block: number,
  ) {
    const { fanout, levels, epsilon } = settings;
    this.#core = core;
    this.#key = key;
    this.#settings = settings;
    this.#columns = columns;
    this.#scale = noiseScale(levels, perEvent, epsilon);
    this.#fraction = fraction;
    const [leaves, groups] = [leafCount(fanout, levels), groupCount(fanout, levels)];
    const bytes = 16 * columns * (leaves + groups);
    if (bytes > MOST_BYTES)
      throw new RangeError(
        `edges: noise for ${columns} columns of ${leaves} blocks takes ${bytes} bytes, at most 2^30 are supported; take fewer buckets, a shorter maxRange or a coarser finest`,
      );
    const room = (): Trees => ({
      first: 0,
      end: 0,
      drawn: 0,
      noise: new Float64Array(columns * leaves),
      corrections: new Float64Array(columns * groups),
    });
    this.#now = room();
    this.#next = room();
    this.#begin(this.#now, block);
    this.#draw(this.#now, columns);
  }

  /** û of every column for a block, from the true sums of integers: one kernel call. */
  estimate(block: number, sums: Float64Array): Float64Array {
    if (block < this.#now.first || block >= this.#now.end) this.#move(block);
    this.#draw(this.#now, this.#columns); // all of them: a call that failed may have left some without noise
    const { first, end, noise, corrections } = this.#now;
    const columns = this.#columns;
    const leaf = block - first;
    const group = Math.floor(leaf / this.#settings.fanout);
    const out = new Float64Array(columns);
    const tree = {
      noise: noise.subarray(leaf * columns, (leaf + 1) * columns),
      corrections: corrections.subarray(group * columns, (group + 1) * columns),
    };
    this.#core.estimateLeaves(sums, tree, 1, 0, out); // fan-out 1: every column has a correction of its own
    if (this.#next.first !== end) this.#begin(this.#next, end);
    this.#draw(this.#next, this.#next.drawn + Math.ceil(columns / (end - first)));
    return out;
  }

  #move(block: number): void {
    [this.#now, this.#next] = [this.#next, this.#now];
    if (block < this.#now.first || block >= this.#now.end) this.#begin(this.#now, block);
  }

  /** Trees for the blocks around `block`, with nothing drawn yet. */
  #begin(trees: Trees, block: number): void {
    const { fanout, levels, blocksPerForest } = this.#settings;
    const leaves = leafCount(fanout, levels);
    const start = block - (block % blocksPerForest);
    trees.first = start + Math.floor((block - start) / leaves) * leaves;
    trees.end = Math.min(trees.first + leaves, start + blocksPerForest);
    trees.drawn = 0;
  }

  /** Draws columns until `wanted` are there. */
  #draw(trees: Trees, wanted: number): void {
    const { fanout, levels, blocksPerForest } = this.#settings;
    const forest = Math.floor(trees.first / blocksPerForest);
    const top = (trees.first - forest * blocksPerForest) / leafCount(fanout, levels);
    for (const end = Math.min(wanted, this.#columns); trees.drawn < end; trees.drawn++) {
      const column = trees.drawn;
      const random = subStream(this.#key, Stage.forest, column, forest, top);
      const { noise, corrections } = this.#core.growTree(random, this.#scale, fanout, levels);
      for (let i = 0; i < noise.length; i++) trees.noise[i * this.#columns + column] = noise[i]!;
      for (let i = 0; i < corrections.length; i++)
        trees.corrections[i * this.#columns + column] =
          Math.floor(corrections[i]! * this.#fraction + 0.5) / this.#fraction;
    }
  }
}
