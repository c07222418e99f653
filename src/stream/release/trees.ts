/**
 * The trees of a stream's noise, one after another. The first estimate of a tree needs the noise of all its nodes, so a
 * large tree is drawn ahead, a slice with every block, while the one before it is in use. No push waits for a whole tree.
 */
import type { Core, Tree } from "../../core/core.js";
import { type Random, Purpose, subStream } from "../../core/random.js";
import type { Scale } from "../../core/tables/scale.js";
import { leafCount, nodeCount } from "../../core/tree.js";
import { growInSlices, mostSlices, roundAll, roundInSlices } from "../../core/treeSlices.js";

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

/** Scales that the next tree may have, other than that of the running one, by Θ. */
export interface OtherScales {
  /** Chooses a Θ that is not known yet and can be. @returns whether it did so now, which is work enough for a push */
  chooseEarly(): boolean;
  thetas(): readonly number[];
  scaleOf(theta: number): Scale;
}

/** A tree that is being drawn. */
interface DrawnTree extends Span {
  readonly scale: Scale;
  readonly slices: Generator<undefined, PlacedTree>;
  taken: number;
  tree?: PlacedTree;
}

/** Trees with more nodes are drawn before a push needs them wherever that is possible. */
const LARGE = 2 ** 15;
/** Drawing one with more nodes at once takes about a millisecond. */
export const HUGE = 3 * 2 ** 15;

export class Trees {
  readonly #core: Core;
  readonly #key: Uint32Array;
  readonly #shape: ForestShape;
  /** Scale of the noise of the tree that was taken last: the next ones are drawn ahead with it. */
  #scale: Scale | undefined;
  /** Corrections are rounded to multiples of 1/fraction. */
  readonly #fraction: number;
  /** Slices of a tree; 0 if it is drawn at once when it is due. */
  readonly #slices: number;
  /** The next trees, in order, with noise of that scale. */
  readonly #ahead: DrawnTree[] = [];
  /** The next tree with noise of another scale, by Θ: which one it will be is known only when the running tree ends. */
  #others: Map<number, DrawnTree> | undefined;
  readonly #otherScales: OtherScales | undefined;
  /** The next tree, where its scale is known only shortly before its first block. */
  #soon: DrawnTree | undefined;
  /** The first block that draws a slice of a next tree. */
  aheadFrom = Infinity;

  constructor(core: Core, key: Uint32Array, shape: ForestShape, fraction: number, others?: OtherScales) {
    this.#core = core;
    this.#key = key;
    this.#shape = shape;
    this.#fraction = fraction;
    this.#otherScales = others;
    this.#slices = mostSlices(shape.fanout, shape.levels);
  }

  /** Whether drawing a tree at once would keep a caller waiting. */
  get large(): boolean {
    return this.#nodes > LARGE;
  }

  get #nodes(): number {
    return nodeCount(this.#shape.fanout, this.#shape.levels);
  }

  /** The tree that covers a block, with noise of this scale: what was drawn ahead with other scales is of no use. */
  take(block: number, scale: Scale): PlacedTree {
    const span = this.#spanOf(block);
    const next = this.#find(span, scale);
    this.#others = undefined;
    this.#soon = undefined;
    if (scale !== this.#scale) this.#ahead.length = 0;
    this.#scale = scale;
    while (this.#ahead.length > 0 && this.#ahead[0]!.first <= span.first) this.#ahead.shift();
    const tree = (next && drawn(next, Infinity)) ?? this.#growAtOnce(span);
    this.aheadFrom = this.#slices === 0 ? Infinity : this.#beginning(span.end);
    return tree;
  }

  #find(span: Span, scale: Scale): DrawnTree | undefined {
    if (this.#ahead.length === 0 && this.#others === undefined && this.#soon === undefined) return undefined;
    const begun = [
      ...this.#ahead,
      ...(this.#others?.values() ?? []),
      ...(this.#soon === undefined ? [] : [this.#soon]),
    ];
    return begun.find((tree) => tree.first === span.first && tree.scale === scale);
  }

  /**
   * Draws the slices that are due by a block of `now`; what fails here is drawn again when it is due.
   * @param others whether the next tree is drawn with all scales that it may have: a push must not wait, a batch may
   */
  drawAhead(now: Span, block: number, others: boolean): void {
    try {
      for (let at = now.end, place = 0; block >= this.#beginning(at); place++) {
        const next = (this.#ahead[place] ??= this.#begin(this.#spanOf(at), this.#scale!));
        drawn(next, block - this.#beginning(at) + 1);
        at = next.end;
      }
      if (others && this.#otherScales !== undefined && this.#nodes > HUGE)
        this.#drawOthers(this.#otherScales, now.end, block);
    } catch {
      this.#forget();
    }
  }

  /** Draws ahead for the other scales that the next tree may have; a scale takes a part of a millisecond to make: one with a block. */
  #drawOthers(scales: OtherScales, first: number, block: number): void {
    if (scales.chooseEarly()) return;
    const others = (this.#others ??= new Map<number, DrawnTree>());
    const fresh = scales.thetas().find((theta) => !others.has(theta));
    if (fresh !== undefined) others.set(fresh, this.#begin(this.#spanOf(first), scales.scaleOf(fresh)));
    for (const tree of others.values()) drawn(tree, block - this.#beginning(first) + 1);
  }

  #forget(): void {
    this.#ahead.length = 0;
    this.#others = undefined;
    this.#soon = undefined;
  }

  /** Draws the tree that covers a block, before it is taken, up to so many slices; what fails here is drawn when it is due. */
  drawSoon(block: number, scale: Scale, slices: number): void {
    try {
      const span = this.#spanOf(block);
      drawn(this.#find(span, scale) ?? (this.#soon = this.#begin(span, scale)), slices);
    } catch {
      this.#forget();
    }
  }

  /** The block that draws the first slice of the tree that begins at `first`: earlier if hardly a block is between two trees. */
  #beginning(first: number): number {
    return Math.min(first, this.#spanOf(first).end - this.#slices) - this.#slices;
  }

  #begin(span: Span, scale: Scale): DrawnTree {
    return { ...span, scale, slices: this.#growInSlices(span, scale), taken: 0 };
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
    const { noise, corrections } = this.#core.growTree(this.#random(span), this.#scale!, fanout, levels);
    roundAll(corrections, this.#fraction);
    return { noise, corrections, first: span.first, end: span.end };
  }

  *#growInSlices(span: Span, scale: Scale): Generator<undefined, PlacedTree> {
    const { fanout, levels } = this.#shape;
    const tree = yield* growInSlices(this.#core, this.#random(span), scale, fanout, levels);
    yield* roundInSlices(tree.corrections, this.#fraction);
    return { ...tree, ...span };
  }

  /** Where a tree's noise stands in the keystream. */
  #random({ first }: Span): Random {
    const { fanout, levels, blocksPerForest } = this.#shape;
    const inForest = first % blocksPerForest;
    const top = inForest / leafCount(fanout, levels);
    return subStream(this.#key, Purpose.forest, 0, (first - inForest) / blocksPerForest, top);
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
