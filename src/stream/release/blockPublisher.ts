/**
 * The stream after the hold-out: clamp, quantise, sum a block, estimate it, publish.
 *
 *     value ─▶ block sum ─▶ Forest ─▶ û ─▶ Smoother ─▶ prediction for the next block
 *
 * All but the last position of a block publish the prediction, which was known before the block began; the last
 * publishes the rest of û, less what the smoother defers. Everything published is a function of noisy integers.
 * Numbers inside are in grid units, rounded to multiples of 2^−fractionBits, so that sums are exact.
 */
import { refuseReentry } from "../../core/checks.js";
import type { Core } from "../../core/core.js";
import { quantise } from "../../core/quantise.js";
import type { AnswerKind } from "../answer/answer.js";
import { type Batch, lastValue, makeBatch, publishBatch } from "./batch.js";
import type { History } from "./history.js";
import type { AboveCount } from "../holdout/thresholdCounts.js";
import { type Hidden, clippingIn } from "../answer/clipping.js";
import type { RangeIndex, RawAnswer } from "../answer/rangeIndex.js";
import type { Publisher } from "../publisher.js";
import { makeParts } from "./publisherParts.js";
import type { Settings } from "../options.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import type { Predictor } from "../predict/predictor.js";
import type { Refined } from "./refining.js";
import type { Epoch } from "./epochs.js";
import type { Reached } from "./runningTree.js";
import type { TreeSequence } from "./treeSequence.js";

/** Compilers know a constant of this module, and look an import up with every push. */
const toGrid = quantise;

export class BlockPublisher implements Publisher {
  readonly #core: Core;
  readonly #trees: TreeSequence;
  readonly #predictor: Predictor;
  readonly #published: History;
  readonly #ranges: RangeIndex;
  // Fields that every push touches hold a number of their kind from the start. Engines then keep doubles in place,
  // and all streams of a process share one hidden class, whole or fractional as their parameters may be.
  readonly #blockLength: number = 1;
  readonly #resolution: number = NaN;
  #theta = NaN;
  readonly #fraction: number = NaN;
  /** max − min in grid units. */
  readonly #largest: number;
  /** Finished blocks. */
  #block = 0;
  /** The running block: how many values it still takes, the integer sum of those it has, and what is predicted. */
  #left = 1;
  #sum = NaN;
  #perValue = NaN;
  /** Amount of the estimates so far that published sums defer. */
  #deferred = NaN;
  /** Number that all but the last position of the running block publish. */
  #steady = NaN;
  /** Number that the last value published which ended a block or was above the limit. */
  #special = NaN;
  /** Values of the running tree above this one are looked at, and how many there were above the tree's limit. */
  #watched = NaN;
  #above = NaN;
  /** `#watched`, or −∞ while busy: one comparison for every push, whatever there is to look at. */
  #limit = NaN;
  /** The first block after the running tree, where that matters, and the variance of the noise on its nodes. */
  #treeEnd = Infinity;
  #nodeVariance = NaN;
  /**
   * The state is being changed, and a caller's smoother may run. Stays true if the change was cut short (the stack was
   * full): then nothing more is published, because nobody knows which sums the noise of this block already covers.
   */
  #busy = false;

  /**
   * @param theta Θ in grid units, ≥ 1
   * @param firstMean prediction per value for the first block, in grid units
   */
  constructor(core: Core, key: Uint32Array, settings: Settings, theta: number, firstMean: number) {
    this.#core = core;
    this.#resolution = settings.grid.resolution;
    this.#blockLength = Math.floor(settings.tree.blockLength); // a small integer: engines take any power for a double
    this.#left = this.#blockLength;
    this.#sum = 0;
    this.#largest = Math.floor(settings.grid.width / settings.grid.resolution);
    const parts = makeParts(core, key, settings, theta, firstMean);
    this.#fraction = parts.fraction;
    this.#trees = parts.trees;
    this.#predictor = parts.predictor;
    this.#published = parts.published;
    this.#ranges = parts.ranges;
    this.#setPrediction(this.#blockLength === 1 ? 0 : this.#predictor.round(firstMean), 0); // blocks of one need none
    this.#setTree(0);
    this.#setBusy(false);
  }

  /** Draws a large tree of noise now, so that no push waits for it. */
  prepare(): void {
    this.#trees.prepare(this.#block);
  }

  /** Draws the first tree in slices, before the first value. */
  draw(values: number): void {
    this.#trees.draw(values);
  }

  get length(): number {
    return this.#block * this.#blockLength + this.#filled;
  }

  get #filled(): number {
    return this.#blockLength - this.#left;
  }

  get oldest(): number {
    return this.#published.oldest;
  }

  get resolution(): number {
    return this.#resolution;
  }

  answer(from: number, to: number, kind: AnswerKind): RawAnswer {
    if (this.#busy) refuseReentry();
    return this.#ranges.answer(from, to, kind);
  }

  /**
   * Estimate of the amount that clamping removes in positions [from, to), in grid units.
   * @param above how many of the values that chose θ were above it
   */
  clipping(from: number, to: number, above: AboveCount, confidence: number): Hidden {
    return clippingIn(this.#trees.countedParts(from, to, above), this.#largest, confidence);
  }

  /** Θ over time, for the history that is kept. */
  get epochs(): readonly Epoch[] {
    return this.#trees.epochs.all;
  }

  /** Result of the second choice of θ, once it was made. */
  get refined(): Refined | undefined {
    return this.#trees.running.refined;
  }

  /** For the statement: how often a caller's own smoother failed. */
  get smootherTrouble(): string {
    const failures = this.#predictor.smoother.failures ?? 0;
    return failures === 0 ? "" : `, which failed on ${failures} blocks`;
  }

  /** @param value finite */
  push(value: number): number {
    const left = this.#left - 1;
    if (left === 0 || value > this.#limit) {
      this.#pushSpecial(value);
      return this.#special; // read from a field of doubles: engines box what a call returns, and then every other push
    }
    this.#sum += toGrid(value, this.#theta, this.#resolution);
    this.#left = left;
    return this.#steady;
  }

  /** A value that ends a block, or is above the limit: it may be counted, or come in the middle of another call. */
  #pushSpecial(value: number): void {
    if (this.#busy) refuseReentry();
    if (this.#left === 1) {
      this.#finishBlock(value);
      return;
    }
    const sum = this.#sum + toGrid(value, this.#theta, this.#resolution);
    const above = this.#above + Number(value > this.#trees.running.limit);
    this.#trees.count(value);
    this.#above = above;
    this.#left--;
    this.#sum = sum;
    this.#special = this.#steady;
  }

  /** The last position of a block publishes what its estimate leaves. */
  #finishBlock(value: number): void {
    const block = this.#block;
    const end = block + 1;
    const perValue = this.#perValue;
    const deferred = this.#deferred;
    const variance = this.#nodeVariance;
    const published = this.#published;
    const sum = this.#sum + toGrid(value, this.#theta, this.#resolution);
    const estimate = this.#trees.estimate(block, sum);
    const counts = value > this.#limit;
    const above = counts && value > this.#trees.running.limit ? this.#above + 1 : this.#above;
    const next =
      end === this.#treeEnd ? this.#trees.next(end, above, this.#treeSum() + estimate, value) : undefined;
    const start = published.hasRoom ? undefined : this.#makeRoom(block);
    // Until here a call may fail and leaves everything as it was. From here on nothing fails.
    this.#setBusy(true);
    published.add(estimate, perValue, start);
    this.#block = end;
    this.#left = this.#blockLength;
    this.#sum = 0;
    if (next !== undefined) this.#begin(next);
    else if (counts) {
      this.#above = above;
      this.#trees.count(value);
    }
    if (this.#blockLength > 1) {
      this.#setPrediction(this.#predictor.next(estimate, variance), this.#predictor.deferred);
      published.defer(this.#deferred);
    }
    this.#setBusy(false);
    this.#special =
      lastValue(estimate, perValue, this.#deferred - deferred, this.#blockLength) * this.#resolution;
  }

  /** Room for a block where there is none. @returns what the smoother remembers now, if a forest begins with the block */
  #makeRoom(block: number): Float64Array | undefined {
    const start = this.#published.full ? this.#predictor.startOf(block) : undefined;
    this.#published.reserve(1);
    return start;
  }

  /** Publishes for a batch, the same bits as one by one; fails before anything changes if a value is not finite. */
  pushMany(values: Float64Array): Float64Array {
    const room = this.#roomFor(values.length);
    const [filled, total] = [room.filled, this.#treeSum()];
    const place = { block: this.#block, filled, sum: this.#sum, above: this.#above, total };
    const reached = this.#trees.estimateMany(values, place, room.estimates);
    return this.#commit(room, reached.sum, reached);
  }

  /** Sum of the estimates of the running tree. */
  #treeSum(): number {
    const first = this.#trees.firstOf(this.#block);
    return this.#published.estimatesBefore(this.#block) - this.#published.estimatesBefore(first);
  }

  #begin(reached: Reached): void {
    this.#trees.begin(reached, this.oldest / this.#blockLength);
    this.#setTree(reached.above);
  }

  /** All the memory that taking `count` more positions needs. */
  #roomFor(count: number): Batch {
    if (this.#busy) refuseReentry();
    return makeBatch(count, this.#filled, this.#blockLength, (blocks) => {
      this.#published.reserve(blocks);
      return this.#predictor.prepare(this.#block, blocks, this.#perValue);
    });
  }

  /** Nothing here fails. @param sum of the block that runs afterwards */
  #commit(batch: Batch, sum: number, reached: Reached): Float64Array {
    const { count, filled, estimates, predictions } = batch;
    const [n, complete] = [this.#blockLength, estimates.length];
    this.#setBusy(true);
    this.#begin(reached);
    this.#predictor.nextMany(estimates, this.#block, predictions);
    const { perValue, deferred, starts } = predictions;
    const out = publishBatch(this.#core, batch, n, this.#resolution, this.#deferred);
    this.#published.addMany(estimates, perValue, deferred, starts);
    this.#block += complete;
    this.#treeEnd = this.#trees.endOf(this.#block);
    this.#setPrediction(perValue[complete]!, complete === 0 ? this.#deferred : deferred[complete - 1]!);
    this.#left = n - ((filled + count) % n);
    this.#sum = sum;
    this.#setBusy(false);
    return out;
  }

  /** Number published at a position, in units of the stream. */
  publishedAt(position: number): number {
    if (this.#busy) refuseReentry();
    return this.#published.publishedAt(position) * this.resolution;
  }

  save(writer: Encoder): void {
    if (this.#busy) refuseReentry();
    writer.count(this.#block);
    writer.count(this.#filled);
    writer.double(this.#sum); // 8 bytes, whatever it is: the length of a snapshot says nothing about values
    writer.double(this.#perValue);
    writer.double(this.#deferred);
    writer.double(this.#above);
    this.#trees.save(writer);
    this.#published.save(writer, this.#fraction, (...forest) => this.#predictor.replay(...forest));
    this.#predictor.save(writer, this.#block, this.#published);
  }

  load(reader: Decoder): void {
    this.#block = reader.count();
    this.#left = this.#blockLength - reader.count();
    this.#sum = reader.double();
    this.#setPrediction(reader.double(), reader.double());
    const above = reader.double();
    this.#trees.load(reader);
    this.#setTree(above);
    this.#published.load(reader, this.#fraction, (...forest) => this.#predictor.replay(...forest));
    this.#predictor.load(reader, this.#block, this.#published);
    this.#setBusy(false);
  }

  /** Copies what a push needs of the running tree. */
  #setTree(above: number): void {
    const { epoch, limit } = this.#trees.running;
    this.#theta = epoch.theta * this.#resolution;
    this.#nodeVariance = epoch.nodeVariance;
    this.#watched = this.#trees.refining ? -Infinity : limit;
    this.#above = above;
    this.#treeEnd = this.#trees.endOf(this.#block);
  }

  #setBusy(busy: boolean): void {
    this.#busy = busy;
    this.#limit = busy ? -Infinity : this.#watched;
  }

  #setPrediction(perValue: number, deferred: number): void {
    this.#perValue = perValue;
    this.#deferred = deferred;
    this.#steady = perValue * this.resolution;
    this.#published.prediction = perValue;
  }
}
