/**
 * The history of published blocks, kept by forest as prefix sums over blocks: 16 to 24 bytes a block, for the forests that are kept.
 * All numbers here are in grid units.
 */
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import { Growable } from "./growable.js";
import type { Shrinkage } from "../answer/shrinkage.js";

const NONE = new Float64Array(0);

/** Arrays over the blocks of one forest. */
interface BlockArrays {
  /** prefix[k]: sum of the first k estimates of a forest. */
  readonly prefix: Growable;
  /** perValue[k]: what every position of block k but its last published. */
  readonly perValue: Growable;
  /** deferred[k]: what sums up to the end of block k defer of the estimates; none if the smoother never does. */
  readonly deferred: Growable | undefined;
}

/**
 * @param most blocks of a forest
 * @param blocks there is room for as many
 */
function makeArrays(most: number, defers: boolean, blocks: number): BlockArrays {
  const arrays = {
    prefix: new Growable(most + 1),
    perValue: new Growable(most),
    deferred: defers ? new Growable(most) : undefined,
  };
  reserveBlocks(arrays, blocks);
  return arrays;
}

/** Makes room for `blocks` in all. If there is no memory it fails, and nothing is lost. */
function reserveBlocks({ prefix, perValue, deferred }: BlockArrays, blocks: number): void {
  deferred?.reserve(blocks); // first: it has at least the room of `perValue`
  prefix.reserve(blocks + 1);
  perValue.reserve(blocks);
}

/** How many blocks there is room for. */
const roomOf = ({ prefix, perValue }: BlockArrays): number => Math.min(perValue.room, prefix.room - 1);

/** How released values of one forest are remembered. */
export interface ForestHistory extends BlockArrays {
  /** Sum of all estimates before this forest. */
  readonly before: number;
  /** State of the smoother before the first block; `undefined` if its predictions cannot be made again. */
  start: Float64Array | undefined;
  blocks: number;
  /** Shrinkage of each epoch of trees in the forest, by the epoch's first leaf; made when an answer needs them. */
  shrinkages: Map<number, Shrinkage> | undefined;
}

/** All forests are made here: they have one hidden class, and a push finds its way in them without a search. */
function makeForestHistory(
  { prefix, perValue, deferred }: BlockArrays,
  before: number,
  start: Float64Array | undefined,
  blocks: number,
): ForestHistory {
  return { prefix, perValue, deferred, before, start, blocks, shrinkages: undefined };
}

/** The running forest before the first block: it is in no list, and nothing is written to it. */
const NO_FOREST = /* @__PURE__ */ makeForestHistory(/* @__PURE__ */ makeArrays(0, false, 0), 0, undefined, 0);

/** Repeats what a smoother makes of the estimates of the forest that begins with block `block`. */
export type Replay = (
  block: number,
  start: Float64Array,
  first: number,
  estimates: Float64Array,
) => { readonly perValue: Float64Array; readonly deferred: Float64Array };

export interface HistoryShape {
  readonly blockLength: number;
  readonly blocksPerForest: number;
  /** Forests kept. */
  readonly history: number;
}

export class History {
  readonly #shape: HistoryShape;
  readonly #defers: boolean;
  readonly #forests: ForestHistory[] = [];
  #dropped = 0;
  /** The last forest. */
  #running = NO_FOREST;
  /** BlockArrays for the forests that the next blocks begin. */
  readonly #spare: BlockArrays[] = [];
  /** How many blocks the running forest can hold without further memory. */
  #room = 0;
  /** Number at every position of the unfinished block but its last. */
  prediction = NaN;

  /** @param defers whether published sums may differ from estimates at the end of a block */
  constructor(shape: HistoryShape, defers = false) {
    this.#shape = shape;
    this.#defers = defers;
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

  /** Records the amount that sums up to the end of the last block defer. */
  defer(deferred: number): void {
    this.#running.deferred?.set(this.#running.blocks - 1, deferred);
  }

  /**
   * Takes finished blocks in order; `perValues` may be longer.
   * @param starts what the smoother remembered before each first block of a forest
   */
  addMany(
    estimates: Float64Array,
    perValues: Float64Array,
    deferred: Float64Array = NONE,
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
      forest.deferred?.setMany(deferred.subarray(done, done + count), blocks);
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
      this.#spare.push(this.#makeArrays(Math.min(blocksPerForest, count - here - i * blocksPerForest)));
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

  #makeArrays(blocks: number): BlockArrays {
    return makeArrays(this.#shape.blocksPerForest, this.#defers, blocks);
  }

  /** A new forest, in the arrays of the one that is dropped for it, if there is one. */
  #beginForest(start: Float64Array | undefined): void {
    const before = this.#running.before + this.#running.prefix.at(this.#running.blocks);
    const full = this.#forests.length === this.#shape.history;
    const arrays = full ? this.#forests[0]! : (this.#spare.shift() ?? this.#makeArrays(0));
    if (full) {
      this.#forests.shift();
      this.#dropped++;
    }
    this.#running = makeForestHistory(arrays, before, start, 0);
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
    const deferred = (forest.deferred?.at(k) ?? 0) - (k === 0 ? 0 : (forest.deferred?.at(k - 1) ?? 0));
    return forest.prefix.at(k + 1) - forest.prefix.at(k) - deferred - (blockLength - 1) * perValue;
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
      const { before, prefix, perValue, deferred, start, blocks } = this.#forests[place]!;
      const estimates = new Float64Array(blocks);
      for (let k = 0; k < blocks; k++) estimates[k] = prefix.at(k + 1) - prefix.at(k);
      writer.double(before);
      writer.multiples(estimates, fraction);
      writer.double(perValue.at(0));
      writer.count(start === undefined ? 0 : 1);
      if (start !== undefined) writer.guessed(start, () => 0);
      const again = replayed(replay, this.firstBlock(place), start, perValue.at(0), estimates);
      writer.guessed(perValue.toArray(blocks), (k) => again.perValue[k]!);
      writer.guessed(deferred?.toArray(blocks) ?? NONE, (k) => again.deferred[k]!);
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
      const deferred = reader.guessed((k) => again.deferred[k]!);
      const blocks = estimates.length;
      const prefix = new Float64Array(blocks + 1);
      estimates.forEach((estimate, k) => (prefix[k + 1] = prefix[k]! + estimate));
      const arrays = {
        prefix: Growable.of(prefix, most + 1),
        perValue: Growable.of(perValue, most),
        deferred: this.#defers ? Growable.of(deferred, most) : undefined,
      };
      this.#running = makeForestHistory(arrays, before, start, blocks);
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
    const ended = (k + 1) % this.#shape.blocksPerForest === 0; // nothing is deferred from one forest to the next
    return this.estimatesBefore(block) - (ended ? 0 : (forest?.deferred?.at(k) ?? 0));
  }

  /** The place of the forest that a block is in, or of the last forest where that one has not begun. */
  placeOf(block: number): number {
    const { blocksPerForest } = this.#shape;
    return Math.min(Math.floor(block / blocksPerForest) - this.#dropped, this.#forests.length - 1);
  }

  /** The forest that holds a finished block, and the block's place in it; undefined for the running block. */
  locate(block: number): [ForestHistory | undefined, number] {
    const { blocksPerForest } = this.#shape;
    const forest = this.#forests[Math.floor(block / blocksPerForest) - this.#dropped];
    const k = block % blocksPerForest;
    return forest !== undefined && k < forest.blocks ? [forest, k] : [undefined, k];
  }

  /** By place: 0 is the oldest that is kept. */
  forestAt(place: number): ForestHistory | undefined {
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
  return start === undefined ? { perValue: NONE, deferred: NONE } : replay(block, start, first, estimates);
}
