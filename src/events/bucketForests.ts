/**
 * Noise for many columns of counts at once: one forest per column, all of the same shape. An event is in one node per
 * level of every column that it counts in, so noise of scale levels·Δ/ε protects it, with Δ columns per event.
 * A tree of every column is needed when a block begins a tree. They are drawn in slices while the trees before are in
 * use, so that no block waits for all of them. Noise lies leaf by leaf: what a block needs is in one piece.
 */
import type { Core } from "../core/core.js";
import { groupCount, leafCount } from "../core/tree.js";
import { Stage, subStream } from "../core/random.js";
import type { Scale } from "../core/tables/scale.js";
import { growInSlices, mostSlices, roundInSlices, SLICE } from "../core/treeSlices.js";
import { noiseScale } from "../stream/noise.js";
import type { Settings } from "../stream/options.js";

/** One tree per column, as far as they are drawn. */
interface Trees {
  /** The blocks [first, end) that they cover, counted over all forests. */
  first: number;
  end: number;
  /** Columns that are drawn, and the one that is being drawn. */
  drawn: number;
  slices: Generator<undefined, void> | undefined;
  /** Per leaf, the noise of every column. */
  readonly noise: Float64Array;
  /** Per group of sibling leaves, what consistency adds in every column; none for one level. */
  readonly corrections: Float64Array;
}

/** Memory of all trees that are in use or drawn ahead. */
const MOST_BYTES = 2 ** 30;

export class BucketForests {
  readonly #core: Core;
  readonly #key: Uint32Array;
  readonly #settings: Settings;
  readonly #columns: number;
  readonly #scale: Scale;
  readonly #fraction: number;
  /** Slices that a tree of one column takes at most. */
  readonly #slices: number;
  /** The trees in use; those after them as far as they are drawn ahead, in order; and room for others. */
  #now: Trees;
  readonly #ahead: Trees[] = [];
  readonly #room: Trees[];

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
    const slices = mostSlices(fanout, levels);
    this.#slices = slices === 0 ? 1 : slices + 2 * Math.ceil(leaves / SLICE);
    // A forest may end with a tree of hardly a block: the one after it is drawn ahead as well.
    const sets = settings.blocksPerForest % leaves === 0 ? 2 : 3;
    const bytes = 8 * sets * columns * (leaves + groups);
    if (bytes > MOST_BYTES)
      throw new RangeError(
        `edges: noise for ${columns} columns of ${leaves} blocks takes ${bytes} bytes, at most 2^30 are supported; take fewer buckets, a shorter maxRange or a coarser finest`,
      );
    this.#room = Array.from({ length: sets }, () => ({
      ...{ first: 0, end: 0, drawn: 0, slices: undefined },
      noise: new Float64Array(columns * leaves),
      corrections: new Float64Array(columns * groups),
    }));
    this.#now = this.#begin(block);
    this.#draw(this.#now, Infinity);
  }

  /** û of every column for a block, from the true sums of integers: one kernel call. */
  estimate(block: number, sums: Float64Array): Float64Array {
    if (block < this.#now.first || block >= this.#now.end) this.#move(block);
    this.#draw(this.#now, Infinity); // nothing is left to draw, unless an earlier call failed on it
    const { first, noise, corrections } = this.#now;
    const columns = this.#columns;
    const leaf = block - first;
    const group = Math.floor(leaf / this.#settings.fanout);
    const out = new Float64Array(columns);
    const tree = {
      noise: noise.subarray(leaf * columns, (leaf + 1) * columns),
      corrections: corrections.subarray(group * columns, (group + 1) * columns),
    };
    this.#core.estimateLeaves(sums, tree, 1, 0, out); // fan-out 1: every column has a correction of its own
    this.#drawAhead();
    return out;
  }

  /** Draws this block's share of the trees that come next: of those up to the next whole one. */
  #drawAhead(): void {
    const { fanout, levels } = this.#settings;
    const leaves = leafCount(fanout, levels);
    const { first, end } = this.#now;
    let at = end;
    for (let place = 0; place === 0 || at - this.#ahead[place - 1]!.first < leaves; place++) {
      const next = (this.#ahead[place] ??= this.#begin(at));
      try {
        this.#draw(next, Math.ceil((this.#columns * this.#slices) / (end - first)));
      } catch {
        // What fails ahead is drawn when it is due.
      }
      at = next.end;
    }
  }

  #move(block: number): void {
    this.#room.push(this.#now);
    while (this.#ahead.length > 0 && block >= this.#ahead[0]!.end) this.#room.push(this.#ahead.shift()!);
    if (this.#ahead.length > 0 && block < this.#ahead[0]!.first) this.#room.push(...this.#ahead.splice(0));
    this.#now = this.#ahead.shift() ?? this.#begin(block);
  }

  /** Trees for the blocks around `block`, with nothing drawn yet. */
  #begin(block: number): Trees {
    const { fanout, levels, blocksPerForest } = this.#settings;
    const leaves = leafCount(fanout, levels);
    const start = block - (block % blocksPerForest);
    const trees = this.#room.pop()!;
    trees.first = start + Math.floor((block - start) / leaves) * leaves;
    trees.end = Math.min(trees.first + leaves, start + blocksPerForest);
    trees.drawn = 0;
    trees.slices = undefined;
    return trees;
  }

  /** Draws slices, column after column: `count` of them, or as many as there are. A column that fails begins anew. */
  #draw(trees: Trees, count: number): void {
    for (; count > 0 && trees.drawn < this.#columns; count--) {
      const slices = trees.slices ?? this.#growColumn(trees, trees.drawn);
      trees.slices = undefined;
      if (slices.next().done) trees.drawn++;
      else trees.slices = slices;
    }
  }

  *#growColumn(trees: Trees, column: number): Generator<undefined, void> {
    const { fanout, levels, blocksPerForest } = this.#settings;
    const forest = Math.floor(trees.first / blocksPerForest);
    const top = (trees.first - forest * blocksPerForest) / leafCount(fanout, levels);
    const random = subStream(this.#key, Stage.forest, column, forest, top);
    const { noise, corrections } = yield* growInSlices(this.#core, random, this.#scale, fanout, levels);
    yield* this.#spread(noise, trees.noise, column);
    yield* roundInSlices(corrections, this.#fraction);
    yield* this.#spread(corrections, trees.corrections, column);
  }

  /** Numbers of one column, to where those of all columns lie row by row. */
  *#spread(numbers: Float64Array, rows: Float64Array, column: number): Generator<undefined, void> {
    for (let i = 0; i < numbers.length; i++) {
      if (i > 0 && i % SLICE === 0) yield;
      rows[i * this.#columns + column] = numbers[i]!;
    }
  }
}
