/**
 * What was published, kept by forest as prefix sums over blocks: 16 to 24 bytes a block, for the forests that are kept.
 * All numbers here are in grid units.
 */
import type { Decoder, Encoder } from "./codec.js";
import { Column } from "./growable.js";
import { type Columns, makeColumns, reserveBlocks, roomOf } from "./forestColumns.js";
import type { Shrinkage } from "./shrink.js";

const NONE = new Float64Array(0);

/** How released values of one forest are remembered. */
export interface Forest extends Columns {
  /** Sum of all estimates before this forest. */
  readonly before: number;
  /** State of the smoother before the first block; `undefined` if its predictions cannot be made again. */
  start: Float64Array | undefined;
  blocks: number;
  /** Shrinkage of each stretch of trees in the forest, by the stretch's first leaf; made when an answer needs them. */
  shrinkages: Map<number, Shrinkage> | undefined;
}

/** All forests are made here: they have one hidden class, and a push finds its way in them without a search. */
function makeForest(
  { prefix, perValue, held }: Columns,
  before: number,
  start: Float64Array | undefined,
  blocks: number,
): Forest {
  return { prefix, perValue, held, before, start, blocks, shrinkages: undefined };
}

/** What runs before the first block: it is in no list, and nothing is written to it. */
const NO_FOREST = /* @__PURE__ */ makeForest(/* @__PURE__ */ makeColumns(0, false, 0), 0, undefined, 0);

/** Repeats what a smoother makes of the estimates of the forest that begins with block `block`. */
export type Replay = (
  block: number,
  start: Float64Array,
  first: number,
  estimates: Float64Array,
) => { readonly perValue: Float64Array; readonly held: Float64Array };

export interface BlocksShape {
  readonly blockLength: number;
  readonly blocksPerForest: number;
  /** Forests kept. */
  readonly history: number;
}

export class PublishedBlocks {
  readonly #shape: BlocksShape;
  readonly #holdsBack: boolean;
  readonly #forests: Forest[] = [];
  #dropped = 0;
  /** The last forest. */
  #running = NO_FOREST;
  /** Columns for the forests that the next blocks begin. */
  readonly #spare: Columns[] = [];
  /** How many blocks the running forest can hold without further memory. */
  #room = 0;
  /** Number at every position of the unfinished block but its last. */
  prediction = NaN;

  /** @param holdsBack whether published sums may differ from estimates at the end of a block */
  constructor(shape: BlocksShape, holdsBack = false) {
    this.#shape = shape;
    this.#holdsBack = holdsBack;
  }

  /**
   * Takes a finished block.
   * @param start what the smoother remembered before it, if it is the first of a forest
   */
  add(estimate: number, perValue: number, start?: Float64Array): void {
    if (this.#running.blocks === this.#room) this.#makeRoom(1, start);
    const forest = this.#running;
    const k = forest.blocks++;
    forest.perValue.set(k, perValue);
    forest.prefix.set(k + 1, forest.prefix.at(k) + estimate);
  }

  /** Records the amount that sums up to the end of the last block hold back. */
  holdBack(held: number): void {
    this.#running.held?.set(this.#running.blocks - 1, held);
  }

  /**
   * Takes finished blocks in order; `perValues` may be longer.
   * @param starts what the smoother remembered before each first block of a forest
   */
  addMany(
    estimates: Float64Array,
    perValues: Float64Array,
    held: Float64Array = NONE,
    starts: readonly Float64Array[] = [],
  ): void {
    const unused = starts.values();
    for (let done = 0; done < estimates.length;) {
      if (this.#running.blocks === this.#room)
        this.#makeRoom(estimates.length - done, this.full ? unused.next().value : undefined);
      const forest = this.#running;
      const { prefix, blocks } = forest;
      const count = Math.min(estimates.length - done, this.#room - blocks);
      forest.perValue.setMany(perValues.subarray(done, done + count), blocks);
      forest.held?.setMany(held.subarray(done, done + count), blocks);
      let sum = prefix.at(blocks);
      for (let k = 0; k < count; k++) prefix.set(blocks + k + 1, (sum += estimates[done + k]!));
      forest.blocks += count;
      done += count;
    }
  }

  /** Whether the next block needs no further memory and begins no forest. */
  get hasRoom(): boolean {
    return this.#running.blocks < this.#room;
  }

  /** Whether the next block begins a forest. */
  get full(): boolean {
    return this.#forests.length === 0 || this.#running.blocks === this.#shape.blocksPerForest;
  }

  /**
   * Makes room for `count` more blocks: `add` and `addMany` then need no memory and cannot fail. A failure here changes
   * nothing that was published.
   */
  reserve(count: number): void {
    const { blocks } = this.#running;
    if (blocks + count <= this.#room) return;
    const { blocksPerForest, history } = this.#shape;
    const here = this.#forests.length === 0 ? 0 : Math.min(count, blocksPerForest - blocks);
    if (blocks + here > this.#room) this.#reserveRunning(blocks + here);
    if (here === count) return;
    this.#spare.length = 0;
    const begun = Math.ceil((count - here) / blocksPerForest);
    for (let i = 0; i < begun && this.#forests.length + i < history; i++)
      this.#spare.push(this.#makeColumns(Math.min(blocksPerForest, count - here - i * blocksPerForest)));
  }

  /** Makes room for a block or more where there is none, `wanted` of them as far as the forest goes. */
  #makeRoom(wanted: number, start: Float64Array | undefined): void {
    if (this.full) this.#beginForest(start);
    const { blocks } = this.#running;
    if (blocks === this.#room) this.#reserveRunning(Math.min(this.#shape.blocksPerForest, blocks + wanted));
  }

  #reserveRunning(blocks: number): void {
    reserveBlocks(this.#running, blocks);
    this.#room = roomOf(this.#running);
  }

  #makeColumns(blocks: number): Columns {
    return makeColumns(this.#shape.blocksPerForest, this.#holdsBack, blocks);
  }

  /** A new forest, in the columns of the one that is dropped for it, if there is one. */
  #beginForest(start: Float64Array | undefined): void {
    const before = this.#running.before + this.#running.prefix.at(this.#running.blocks);
    const full = this.#forests.length === this.#shape.history;
    const columns = full ? this.#forests[0]! : (this.#spare.shift() ?? this.#makeColumns(0));
    if (full) {
      this.#forests.shift();
      this.#dropped++;
    }
    this.#running = makeForest(columns, before, start, 0);
    this.#forests.push(this.#running);
    this.#room = roomOf(this.#running);
  }

  /** Number published at a position, in grid units. */
  publishedAt(position: number): number {
    const { blockLength } = this.#shape;
    const [forest, k] = this.locate(Math.floor(position / blockLength));
    if (forest === undefined) return this.prediction;
    const perValue = forest.perValue.at(k);
    if (position % blockLength !== blockLength - 1) return perValue;
    const held = (forest.held?.at(k) ?? 0) - (k === 0 ? 0 : (forest.held?.at(k - 1) ?? 0));
    return forest.prefix.at(k + 1) - forest.prefix.at(k) - held - (blockLength - 1) * perValue;
  }

  /** û of a finished block; undefined when it is not, or no longer, here. */
  estimate(block: number): number | undefined {
    const [forest, k] = this.locate(block);
    return forest === undefined ? undefined : forest.prefix.at(k + 1) - forest.prefix.at(k);
  }

  /**
   * @param fraction estimates are multiples of 1/fraction
   * @param replay makes predictions again, so that they need not be written
   */
  save(writer: Encoder, fraction: number, replay: Replay): void {
    writer.count(this.#dropped);
    writer.count(this.#forests.length);
    for (let place = 0; place < this.#forests.length; place++) {
      const { before, prefix, perValue, held, start, blocks } = this.#forests[place]!;
      const estimates = new Float64Array(blocks);
      for (let k = 0; k < blocks; k++) estimates[k] = prefix.at(k + 1) - prefix.at(k);
      writer.double(before);
      writer.multiples(estimates, fraction);
      writer.double(perValue.at(0));
      writer.count(start === undefined ? 0 : 1);
      if (start !== undefined) writer.guessed(start, () => 0);
      const again = replayed(replay, this.firstBlock(place), start, perValue.at(0), estimates);
      writer.guessed(perValue.toArray(blocks), (k) => again.perValue[k]!);
      writer.guessed(held?.toArray(blocks) ?? NONE, (k) => again.held[k]!);
    }
  }

  load(reader: Decoder, fraction: number, replay: Replay): void {
    const { blocksPerForest: most } = this.#shape;
    this.#dropped = reader.count();
    this.#forests.length = 0;
    for (let place = 0, forests = reader.count(); place < forests; place++) {
      const before = reader.double();
      const estimates = reader.multiples(fraction);
      const first = reader.double();
      const start = reader.count() === 0 ? undefined : reader.guessed(() => 0);
      const again = replayed(replay, this.firstBlock(place), start, first, estimates);
      const perValue = reader.guessed((k) => again.perValue[k]!);
      const held = reader.guessed((k) => again.held[k]!);
      const blocks = estimates.length;
      const prefix = new Float64Array(blocks + 1);
      estimates.forEach((estimate, k) => (prefix[k + 1] = prefix[k]! + estimate));
      const columns = {
        prefix: Column.of(prefix, most + 1),
        perValue: Column.of(perValue, most),
        held: this.#holdsBack ? Column.of(held, most) : undefined,
      };
      this.#running = makeForest(columns, before, start, blocks);
      this.#forests.push(this.#running);
      this.#room = roomOf(this.#running);
    }
  }

  /** First position that can still be asked for. */
  get oldest(): number {
    return this.#dropped * this.#shape.blocksPerForest * this.#shape.blockLength;
  }

  /** Finished blocks, counted over all forests. */
  get finished(): number {
    const { length } = this.#forests;
    return length === 0
      ? 0
      : (this.#dropped + length - 1) * this.#shape.blocksPerForest + this.#running.blocks;
  }

  /** Sum of all estimates before a block that is finished, or running. */
  estimatesBefore(block: number): number {
    const place = this.placeOf(block);
    const forest = this.#forests[place];
    if (forest === undefined) return 0; // no block is finished yet
    return forest.before + forest.prefix.at(block - this.firstBlock(place));
  }

  /** Sum of all that was published before a block that is finished, or running. */
  publishedBefore(block: number): number {
    const [forest, k] = block === 0 ? [undefined, 0] : this.locate(block - 1);
    const ended = (k + 1) % this.#shape.blocksPerForest === 0; // nothing is held back from one forest to the next
    return this.estimatesBefore(block) - (ended ? 0 : (forest?.held?.at(k) ?? 0));
  }

  /** The place of the forest that a block is in, or of the last forest where that one has not begun. */
  placeOf(block: number): number {
    const { blocksPerForest } = this.#shape;
    return Math.min(Math.floor(block / blocksPerForest) - this.#dropped, this.#forests.length - 1);
  }

  /** The forest that holds a finished block, and the block's place in it; undefined for the running block. */
  locate(block: number): [Forest | undefined, number] {
    const { blocksPerForest } = this.#shape;
    const forest = this.#forests[Math.floor(block / blocksPerForest) - this.#dropped];
    const k = block % blocksPerForest;
    return forest !== undefined && k < forest.blocks ? [forest, k] : [undefined, k];
  }

  /** By place: 0 is the oldest that is kept. */
  forestAt(place: number): Forest | undefined {
    return this.#forests[place];
  }

  /** The first block of the forest at a place. */
  firstBlock(place: number): number {
    return (this.#dropped + place) * this.#shape.blocksPerForest;
  }
}

/** Where predictions cannot be made again, no guess is right. */
function replayed(
  replay: Replay,
  block: number,
  start: Float64Array | undefined,
  first: number,
  estimates: Float64Array,
): ReturnType<Replay> {
  return start === undefined ? { perValue: NONE, held: NONE } : replay(block, start, first, estimates);
}
