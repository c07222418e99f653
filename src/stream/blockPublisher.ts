/**
 * The stream after the hold-out: clamp, quantise, sum a block, estimate it, publish.
 *
 *     value ─▶ block sum ─▶ Perturber ─▶ û ─▶ Smoother ─▶ prediction for the next block
 *
 * All but the last position of a block publish the prediction, which was known before the block began; the last
 * publishes û − (n−1)·prediction. Hence a finished block sums exactly to û, and everything published is a
 * function of noisy integers. Numbers inside are in grid units, rounded to multiples of 2^−fractionBits, so that
 * with a dyadic resolution "exactly" means in every bit.
 */
import { refuseReentry } from "../core/checks.js";
import type { Core } from "../core/core.js";
import { publishBlocks } from "../core/js/ingest.js";
import { quantise } from "../core/quantise.js";
import { fractionBits, largestSum, Perturber } from "./noise.js";
import type { AnswerKind } from "./answer.js";
import { PublishedBlocks } from "./blocks.js";
import { RangeIndex, type RawAnswer } from "./ranges.js";
import type { Publisher } from "./publisher.js";
import type { Settings } from "./options.js";
import type { Decoder, Encoder } from "./codec.js";
import { warmValues } from "./shape.js";
import { firstSpread } from "./weights.js";
import { type Predictions, Predictor } from "./predictor.js";

/** What a batch of positions is computed in, before anything changes. */
interface Room {
  readonly count: number;
  /** Positions of the running block that were taken before. */
  readonly filled: number;
  readonly estimates: Float64Array;
  readonly predictions: Predictions;
  readonly shares: Float64Array;
  readonly lasts: Float64Array;
  readonly out: Float64Array;
}

/** Compilers know a constant of this module, and look an import up with every push. */
const toGrid = quantise;

export class BlockPublisher implements Publisher {
  readonly #core: Core;
  readonly #perturber: Perturber;
  readonly #predictor: Predictor;
  readonly #published: PublishedBlocks;
  readonly #ranges: RangeIndex;
  // Fields that every push touches hold a number of their kind from the start. Engines then keep doubles in place,
  // and all streams of a process share one hidden class, whole or fractional as their parameters may be.
  readonly #blockLength: number = 1;
  readonly #resolution: number = NaN;
  readonly #theta: number = NaN;
  readonly #fraction: number = NaN;
  /** The most that ticks let a block sum to, in grid units. */
  readonly #cap: number = Infinity;
  /** Finished blocks. */
  #block = 0;
  /** The running block: how many values it still takes, the integer sum of those it has, and what is predicted. */
  #left = 1;
  #sum = NaN;
  #perValue = NaN;
  /** What published sums up to the running block hold back. */
  #held = NaN;
  /** What all but the last position of the running block publish. */
  #steady = NaN;
  /**
   * The state is being changed, and a caller's smoother may run. Stays true if the change was cut short (the stack was
   * full): then nothing more is published, because nobody knows which sums the noise of this block already covers.
   */
  #busy = false;

  /**
   * @param theta Θ in grid units, ≥ 1
   * @param firstMean prediction per value for the first block, in grid units
   * @param cap where positions are ticks: the public number of grid units at which a block saturates
   */
  constructor(
    core: Core,
    key: Uint32Array,
    settings: Settings,
    theta: number,
    firstMean: number,
    cap = Infinity,
  ) {
    this.#core = core;
    this.#resolution = settings.resolution;
    this.#theta = theta * settings.resolution;
    this.#blockLength = Math.floor(settings.blockLength); // a small integer: engines take any power for a double
    this.#left = this.#blockLength;
    this.#sum = 0;
    this.#cap = cap;
    const largest = largestSum(settings, theta, cap);
    const bits = fractionBits(largest);
    this.#fraction = 2 ** bits;
    this.#perturber = new Perturber(core, key, settings, theta, bits);
    const scale = (settings.levels * theta) / settings.epsilon;
    this.#predictor = new Predictor(settings, theta, firstMean, this.#fraction, largest);
    const { smoother } = this.#predictor;
    this.#published = new PublishedBlocks({
      ...settings,
      holdsBack: smoother.heldBack !== undefined,
    });
    this.#ranges = new RangeIndex(this.#published, settings, scale, {
      first: firstSpread(warmValues(settings), theta, settings.epsilon),
      weights: smoother.weights,
    });
    this.#setPrediction(this.#predictor.round(firstMean), 0);
  }

  /** Draws a large tree of noise now, so that no push waits for it. */
  prepare(): void {
    this.#perturber.prepare(this.#block);
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

  /** For the statement: how often a caller's own smoother failed. */
  get smootherTrouble(): string {
    const failures = this.#predictor.smoother.failures ?? 0;
    return failures === 0 ? "" : `, which failed on ${failures} blocks`;
  }

  /** @param value finite */
  push(value: number): number {
    const sum = this.#sum + toGrid(value, this.#theta, this.#resolution);
    const left = this.#left - 1;
    if (left === 0 || this.#busy) return this.#finishBlock(sum);
    this.#left = left;
    this.#sum = sum;
    return this.#steady;
  }

  /** The last position of a block publishes what its estimate leaves. */
  #finishBlock(sum: number): number {
    if (this.#busy) refuseReentry();
    const [perValue, held] = [this.#perValue, this.#held];
    const estimate = this.#perturber.estimate(this.#block, sum);
    const start = this.#predictor.startOf(this.#block);
    this.#published.reserve(1);
    // Until here a call may fail and leaves everything as it was. From here on nothing fails.
    this.#busy = true;
    this.#published.add(estimate, perValue, start);
    this.#block++;
    this.#left = this.#blockLength;
    this.#sum = 0;
    if (this.#blockLength > 1) {
      this.#setPrediction(this.#predictor.next(estimate), this.#predictor.held);
      this.#published.holdBack(this.#held);
    }
    this.#busy = false;
    return this.#lastValue(estimate, perValue, this.#held - held);
  }

  /** Publishes for a batch, the same bits as one by one; fails before anything changes if a value is not finite. */
  pushMany(values: Float64Array): Float64Array {
    const room = this.#roomFor(values.length);
    const { estimates, filled } = room;
    const n = this.#blockLength;
    const sum = this.#core.blockSums(values, this.#theta, this.resolution, n, filled, this.#sum, estimates);
    this.#perturber.estimateMany(this.#block, estimates);
    return this.#commit(room, sum);
  }

  /**
   * The same for ticks, of which each gives what its events sum to. A block saturates at its cap: min(cap, sum) moves by
   * no more than the sum does, so one event still moves a block by Θ at most.
   * @param units integers from 0 on, in grid units
   * @returns what publishes them and cannot fail; until it is called, nothing has changed
   */
  prepareTicks(units: Float64Array): () => Float64Array {
    const room = this.#roomFor(units.length);
    let [sum, block, left] = [this.#sum, 0, this.#left];
    for (const more of units) {
      sum = Math.min(this.#cap, sum + more);
      if (--left > 0) continue;
      room.estimates[block++] = sum;
      [sum, left] = [0, this.#blockLength];
    }
    this.#perturber.estimateMany(this.#block, room.estimates);
    return () => this.#commit(room, sum);
  }

  /** All the memory that taking `count` more positions needs. */
  #roomFor(count: number): Room {
    if (this.#busy) refuseReentry();
    const [n, filled] = [this.#blockLength, this.#filled];
    const complete = Math.floor((filled + count) / n);
    const lasts = new Float64Array(complete);
    this.#published.reserve(complete);
    return {
      count,
      filled,
      estimates: new Float64Array(complete),
      predictions: this.#predictor.prepare(this.#block, complete, this.#perValue),
      shares: new Float64Array(n === 1 ? 0 : complete + 1),
      lasts,
      out: n === 1 ? lasts : new Float64Array(count),
    };
  }

  /** Nothing here fails. @param sum of the block that runs afterwards */
  #commit({ count, filled, estimates, predictions, shares, lasts, out }: Room, sum: number): Float64Array {
    this.#busy = true;
    const [n, complete] = [this.#blockLength, estimates.length];
    this.#predictor.nextMany(estimates, this.#block, predictions);
    const { perValue, held, starts } = predictions;
    for (let i = 0; i < complete; i++) {
      const before = i === 0 ? this.#held : held[i - 1]!;
      lasts[i] = this.#lastValue(estimates[i]!, perValue[i]!, held[i]! - before);
    }
    this.#published.addMany(estimates, perValue, held, starts);
    this.#block += complete;
    this.#setPrediction(perValue[complete]!, complete === 0 ? this.#held : held[complete - 1]!);
    this.#left = n - ((filled + count) % n);
    this.#sum = sum;
    if (n > 1) this.#publish(perValue, shares, lasts, filled, out);
    this.#busy = false;
    return out;
  }

  /** What a position published, in units of the stream. */
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
    writer.double(this.#held);
    this.#published.save(writer, this.#fraction, this.#predictor.replay);
    writer.guessed(this.#predictor.smoother.state, (i) => this.#remembered(i));
  }

  load(reader: Decoder): void {
    this.#block = reader.count();
    this.#left = this.#blockLength - reader.count();
    this.#sum = reader.double();
    this.#setPrediction(reader.double(), reader.double());
    this.#published.load(reader, this.#fraction, this.#predictor.replay);
    this.#predictor.smoother.state.set(reader.guessed((i) => this.#remembered(i)));
  }

  /** What a smoother that keeps a ring of past estimates has at place i: snapshots need not hold it twice. */
  #remembered(i: number): number {
    if (i === 0) return this.#block;
    const size = this.#predictor.smoother.state.length - 1;
    const newest = this.#block - 1 - ((((this.#block - i) % size) + size) % size);
    return (newest < 0 ? undefined : this.#published.estimate(newest)) ?? 0;
  }

  /** What the last position of a block publishes, so that the block sums to its estimate, less what is held back. */
  #lastValue(estimate: number, perValue: number, held: number): number {
    return (estimate - held - (this.#blockLength - 1) * perValue) * this.resolution;
  }

  /** What the next positions publish: a block's prediction at all but its last. */
  #publish(
    predictions: Float64Array,
    shares: Float64Array,
    lasts: Float64Array,
    filled: number,
    out: Float64Array,
  ): void {
    for (let i = 0; i < shares.length; i++) shares[i] = predictions[i]! * this.resolution;
    try {
      this.#core.publishBlocks(shares, lasts, this.#blockLength, filled, out);
    } catch {
      publishBlocks(shares, lasts, this.#blockLength, filled, out); // needs no memory, and gives the same bits
    }
  }

  #setPrediction(perValue: number, held: number): void {
    this.#perValue = perValue;
    this.#held = held;
    this.#steady = perValue * this.resolution;
    this.#published.prediction = perValue;
  }
}
