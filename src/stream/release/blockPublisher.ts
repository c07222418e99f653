/**
 * The stream after the hold-out: estimates a block that ends, and publishes. `push` is in accumulator.ts, which clamps, rounds
 * to the grid and sums; here is the rest: ends of blocks, values that are watched, batches.
 *
 *     value ─▶ block sum ─▶ Forest ─▶ û ─▶ Smoother ─▶ prediction for the next block
 *
 * All but the last position of a block publish the prediction, which was known before the block began; the last
 * publishes the rest of û, less what the smoother defers. Everything published is a function of noisy integers.
 * Numbers inside are in grid units, rounded to multiples of 2^−fractionBits, so that sums are exact.
 */
import { refuseReentry } from "../../core/checks.js";
import type { Core } from "../../core/core.js";
import { Accumulator } from "./accumulator.js";
import type { AnswerKind } from "../answer/answer.js";
import { type Batch, lastValue, makeBatch, publishBatch } from "./batch.js";
import { History } from "./history.js";
import type { AboveCount } from "../holdout/thresholdCounts.js";
import { firstSpread } from "../answer/answerWeights.js";
import { type Hidden, clippingIn } from "../answer/clipping.js";
import { RangeIndex, type RawAnswer } from "../answer/rangeIndex.js";
import { leastEpsilon } from "../epsilonShares.js";
import { fractionBits, largestSum } from "./forest.js";
import { largestTheta } from "./follow.js";
import type { Publisher } from "../publisher.js";
import { warmValues } from "../shape.js";
import type { Settings } from "../options.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import { Predictor } from "../predict/predictor.js";
import type { Refined } from "./refining.js";
import type { Epoch } from "./epochs.js";
import { type Reached, TreeSequence } from "./treeSequence.js";

export class BlockPublisher extends Accumulator implements Publisher {
  // Parameters
  readonly #core: Core;
  readonly #trees: TreeSequence;
  readonly #predictor: Predictor;
  readonly #published: History;
  readonly #ranges: RangeIndex;
  readonly #fraction: number;
  /** max − min in grid units. */
  readonly #largest: number;
  // State
  /** Finished blocks. */
  #block = 0;
  /** Prediction for each value of the running block, in grid units. */
  #perValue = NaN;
  /** Amount of the estimates so far that published sums defer. */
  #deferred = NaN;
  /** Values of the running tree above its limit. */
  #above = NaN;
  /** The first block after the running tree, Infinity where θ follows nothing, and the variance of the noise on its nodes. */
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
    super(settings.tree.blockLength, settings.grid.resolution);
    this.#core = core;
    this.#largest = Math.floor(settings.grid.width / settings.grid.resolution);
    const largest = largestSum(settings, leastEpsilon(settings.privacy), largestTheta(settings, theta));
    const bits = fractionBits(largest);
    this.#fraction = 2 ** bits;
    this.#trees = new TreeSequence(core, key, settings, theta, bits);
    const { epochs } = this.#trees;
    this.#predictor = new Predictor(settings, epochs, firstMean, this.#fraction, largest);
    const { deferred, weights } = this.#predictor.smoother;
    this.#published = new History(settings.tree, deferred !== undefined);
    const first = firstSpread(warmValues(settings), theta, settings.privacy.epsilon);
    const thetaAt = (block: number): number => epochs.thetaAt(block);
    this.#ranges = new RangeIndex(this.#published, settings.tree, epochs, { first, weights }, thetaAt);
    this.#setPrediction(this.blockLength === 1 ? 0 : this.#predictor.round(firstMean), 0); // blocks of one need none
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
    return this.#block * this.blockLength + this.filled;
  }

  get oldest(): number {
    return this.#published.oldest;
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

  protected override watch(value: number): void {
    if (this.#busy) refuseReentry();
    const above = this.#above + Number(value > this.#trees.running.limit);
    this.#trees.countForRefining(value);
    this.#above = above;
  }

  /** The last position of a block publishes what its estimate leaves. */
  protected override finishBlock(value: number): number {
    if (this.#busy) refuseReentry();
    const block = this.#block;
    const end = block + 1;
    const perValue = this.#perValue;
    const deferred = this.#deferred;
    const variance = this.#nodeVariance;
    const published = this.#published;
    const estimate = this.#trees.estimate(block, this.sumWith(value));
    const watched = this.isWatched(value);
    const above = watched && value > this.#trees.running.limit ? this.#above + 1 : this.#above;
    const next =
      end === this.#treeEnd ? this.#trees.next(end, above, this.#treeSum() + estimate, value) : undefined;
    const start = published.hasRoom ? undefined : this.#roomForBlock(block);
    // Until here a call may fail and leaves everything as it was. From here on nothing fails.
    this.#setBusy(true);
    published.add(estimate, perValue, start);
    this.#block = end;
    this.beginBlock(0, 0);
    if (next !== undefined) this.#begin(next);
    else if (watched) {
      this.#above = above;
      this.#trees.countForRefining(value);
    }
    if (this.blockLength > 1) {
      this.#setPrediction(this.#predictor.next(estimate, variance), this.#predictor.deferred);
      published.defer(this.#deferred);
    }
    this.#setBusy(false);
    return lastValue(estimate, perValue, this.#deferred - deferred, this.blockLength) * this.resolution;
  }

  /** Room for a block where there is none. @returns what the smoother remembers now, if a forest begins with the block */
  #roomForBlock(block: number): Float64Array | undefined {
    const start = this.#published.full ? this.#predictor.startOf(block) : undefined;
    this.#published.reserve(1);
    return start;
  }

  /** Publishes for a batch, the same bits as one by one; fails before anything changes if a value is not finite. */
  pushMany(values: Float64Array): Float64Array {
    const room = this.#roomFor(values.length);
    const place = {
      block: this.#block,
      filled: this.filled,
      sum: this.blockSum,
      above: this.#above,
      total: this.#treeSum(),
    };
    const reached = this.#trees.estimateMany(values, place, room.estimates);
    return this.#commit(room, reached.sum, reached);
  }

  /** Sum of the estimates of the running tree. */
  #treeSum(): number {
    const first = this.#trees.firstOf(this.#block);
    return this.#published.estimatesBefore(this.#block) - this.#published.estimatesBefore(first);
  }

  #begin(reached: Reached): void {
    this.#trees.begin(reached, this.oldest / this.blockLength);
    this.#setTree(reached.above);
  }

  /** All the memory that taking `count` more positions needs. */
  #roomFor(count: number): Batch {
    if (this.#busy) refuseReentry();
    return makeBatch(count, this.filled, this.blockLength, (blocks) => {
      this.#published.reserve(blocks);
      return this.#predictor.prepare(this.#block, blocks, this.#perValue);
    });
  }

  /** Nothing here fails. @param sum of the block that runs afterwards */
  #commit(batch: Batch, sum: number, reached: Reached): Float64Array {
    const { count, filled, estimates, predictions } = batch;
    const { blockLength: length, resolution } = this;
    const complete = estimates.length;
    this.#setBusy(true);
    this.#begin(reached);
    this.#predictor.nextMany(estimates, this.#block, predictions);
    const { perValue, deferred, starts } = predictions;
    const out = publishBatch(this.#core, batch, length, resolution, this.#deferred);
    this.#published.addMany(estimates, perValue, deferred, starts);
    this.#block += complete;
    this.#treeEnd = this.#trees.endOf(this.#block);
    this.#setPrediction(perValue[complete]!, complete === 0 ? this.#deferred : deferred[complete - 1]!);
    this.beginBlock((filled + count) % length, sum);
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
    writer.count(this.filled);
    writer.double(this.blockSum); // 8 bytes, whatever it is: the length of a snapshot says nothing about values
    writer.double(this.#perValue);
    writer.double(this.#deferred);
    writer.double(this.#above);
    this.#trees.save(writer);
    this.#published.save(writer, this.#fraction, (...forest) => this.#predictor.replay(...forest));
    this.#predictor.save(writer, this.#block, this.#published);
  }

  load(reader: Decoder): void {
    this.#block = reader.count();
    this.beginBlock(reader.count(), reader.double());
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
    this.setLimits(epoch.theta * this.resolution, this.#trees.refining ? -Infinity : limit);
    this.#nodeVariance = epoch.nodeVariance;
    this.#above = above;
    this.#treeEnd = this.#trees.endOf(this.#block);
  }

  #setBusy(busy: boolean): void {
    this.#busy = busy;
    this.setOpen(!busy);
  }

  #setPrediction(perValue: number, deferred: number): void {
    this.#perValue = perValue;
    this.#deferred = deferred;
    this.setSteady(perValue);
    this.#published.prediction = perValue;
  }
}
