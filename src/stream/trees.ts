/**
 * The trees of a stream's noise, one after another. The first estimate of a tree needs the noise of all its nodes, so a
 * large tree is drawn ahead, a slice with every block, while the one before it is in use. No push waits for a whole tree.
 */
import type { Core, Tree } from "../core/core.js";
import { type Random, Stage, subStream } from "../core/random.js";
import type { Scale } from "../core/tables/scale.js";
import { leafCount, nodeCount } from "../core/tree.js";
import { growInSlices, mostSlices, roundAll, roundInSlices } from "../core/treeSlices.js";

export interface ForestShape {
  readonly fanout: number;
  readonly levels: number;
  readonly blocksPerForest: number;
}

/** Which blocks a tree covers, counted over all forests: [first, end). */
interface Span {
  readonly first: number;
  readonly end: number;
}

export interface PlacedTree extends Span, Tree {}

/** A tree that is being drawn. */
interface DrawnTree extends Span {
  readonly slices: Generator<undefined, PlacedTree>;
  taken: number;
  tree?: PlacedTree;
}

/** Trees with more nodes are drawn before a push needs them wherever that is possible. */
const LARGE = 2 ** 15;

export class Trees {
  readonly #core: Core;
  readonly #key: Uint32Array;
  readonly #shape: ForestShape;
  /** Of the noise of the tree that was taken last: the next ones are drawn ahead with it. */
  #scale: Scale | undefined;
  /** Corrections are rounded to multiples of 1/fraction. */
  readonly #fraction: number;
  /** Slices of a tree; 0 if it is drawn at once when it is due. */
  readonly #slices: number;
  /** The next trees, in order. */
  readonly #ahead: DrawnTree[] = [];
  /** The first block that draws a slice of a next tree. */
  aheadFrom = Infinity;

  constructor(core: Core, key: Uint32Array, shape: ForestShape, fraction: number) {
    this.#core = core;
    this.#key = key;
    this.#shape = shape;
    this.#fraction = fraction;
    this.#slices = mostSlices(shape.fanout, shape.levels);
  }

  /** Whether drawing a tree at once would keep a caller waiting. */
  get large(): boolean {
    return nodeCount(this.#shape.fanout, this.#shape.levels) > LARGE;
  }

  /** The tree that covers a block, with noise of this scale: where that changes, what was drawn ahead is of no use. */
  take(block: number, scale: Scale): PlacedTree {
    const span = this.#spanOf(block);
    if (scale !== this.#scale) this.#ahead.length = 0;
    this.#scale = scale;
    while (this.#ahead.length > 0 && this.#ahead[0]!.first < span.first) this.#ahead.shift();
    const next = this.#ahead[0]?.first === span.first ? this.#ahead.shift() : undefined;
    const tree = (next && drawn(next, Infinity)) ?? this.#growAtOnce(span);
    this.aheadFrom = this.#slices === 0 ? Infinity : this.#beginning(span.end);
    return tree;
  }

  /** Draws the slices that are due by a block of `now`; what fails here is drawn again when it is due. */
  drawAhead(now: Span, block: number): void {
    try {
      for (let at = now.end, place = 0; block >= this.#beginning(at); place++) {
        const next = (this.#ahead[place] ??= this.#begin(this.#spanOf(at)));
        drawn(next, block - this.#beginning(at) + 1);
        at = next.end;
      }
    } catch {
      this.#ahead.length = 0;
    }
  }

  /** The block that draws the first slice of the tree that begins at `first`: earlier if hardly a block is between two trees. */
  #beginning(first: number): number {
    return Math.min(first, this.#spanOf(first).end - this.#slices) - this.#slices;
  }

  #begin(span: Span): DrawnTree {
    return { ...span, slices: this.#growInSlices(span), taken: 0 };
  }

  #spanOf(block: number): Span {
    const { fanout, levels, blocksPerForest } = this.#shape;
    const leaves = leafCount(fanout, levels);
    const inForest = block % blocksPerForest;
    const start = block - inForest;
    // floor() makes small integers of what powers made doubles: arrays are indexed by them.
    const first = Math.floor(start + inForest - (inForest % leaves));
    return { first, end: Math.floor(Math.min(first + leaves, start + blocksPerForest)) };
  }

  #growAtOnce(span: Span): PlacedTree {
    const { fanout, levels } = this.#shape;
    const tree = this.#core.growTree(this.#random(span), this.#scale!, fanout, levels);
    roundAll(tree.corrections, this.#fraction);
    return { ...tree, ...span };
  }

  *#growInSlices(span: Span): Generator<undefined, PlacedTree> {
    const { fanout, levels } = this.#shape;
    const tree = yield* growInSlices(this.#core, this.#random(span), this.#scale!, fanout, levels);
    yield* roundInSlices(tree.corrections, this.#fraction);
    return { ...tree, ...span };
  }

  /** Where a tree's noise stands in the keystream. */
  #random({ first }: Span): Random {
    const { fanout, levels, blocksPerForest } = this.#shape;
    const inForest = first % blocksPerForest;
    const top = inForest / leafCount(fanout, levels);
    return subStream(this.#key, Stage.forest, 0, (first - inForest) / blocksPerForest, top);
  }
}

/** Takes slices until there are `wanted`, or the tree is there. */
function drawn(next: DrawnTree, wanted: number): PlacedTree | undefined {
  for (; next.tree === undefined && next.taken < wanted; next.taken++) {
    const slice = next.slices.next();
    if (slice.done) next.tree = slice.value;
  }
  return next.tree;
}
