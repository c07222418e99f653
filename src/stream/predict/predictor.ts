/**
 * Predictions, which are published before a block's estimate is known: the smoother's, per value, in grid units. They are
 * rounded to multiples of 1/fraction, so that sums of them are exact.
 */
import type { History, Replay } from "../release/history.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import type { Settings } from "../options.js";
import { makeSmoother, type Smoother } from "./smoothers/index.js";
import type { NodeNoise } from "../release/epochs.js";

/** Smoothers that remember more than this write their predictions out in snapshots. */
const MOST_REPLAYED = 256;

/** Predictions that follow from a batch of finished blocks. */
export interface Predictions {
  /** Predictions for the running block, and for those after each estimate. */
  readonly perValue: Float64Array;
  /** Amount that published sums defer at the end of each block. */
  readonly deferred: Float64Array;
  /** State of the smoother before each first block of a forest. */
  readonly starts: readonly Float64Array[];
}

/** Repeats predictions for snapshots: one for all streams that share settings, one after the other. */
let repeating: { readonly settings: Settings; readonly smoother: Smoother } | undefined;

export class Predictor {
  readonly #settings: Settings;
  readonly #smoother: Smoother;
  readonly #noise: NodeNoise;
  readonly #blockLength: number;
  readonly #fraction: number;
  /** 1/fraction, exactly: fractions are powers of two. */
  readonly #unit: number;
  /** Every so many blocks a forest begins, and what the smoother remembers is put down; Infinity: never. */
  readonly #every: number;

  /**
   * @param firstMean prediction per value for the first block
   * @param largest sums up to it stay exact, in grid units
   */
  constructor(settings: Settings, noise: NodeNoise, firstMean: number, fraction: number, largest: number) {
    const {
      tree: { blockLength },
      output: { smoother },
    } = settings;
    this.#settings = settings;
    this.#noise = noise;
    this.#smoother = smootherFor(settings, firstMean, largest);
    this.#blockLength = blockLength;
    this.#fraction = fraction;
    this.#unit = 1 / fraction;
    const replays = typeof smoother !== "function" && this.#smoother.size <= MOST_REPLAYED;
    this.#every = replays ? settings.tree.blocksPerForest : Infinity;
  }

  get smoother(): Smoother {
    return this.#smoother;
  }

  /** Amount that published sums defer now. */
  get deferred(): number {
    return this.round(this.#smoother.deferred ?? 0);
  }

  /** State of the smoother before block `block`, if a forest begins with it and its predictions can be made again. */
  startOf(block: number): Float64Array | undefined {
    return this.#begins(block) ? this.#state() : undefined;
  }

  #state(): Float64Array {
    const state = new Float64Array(this.#smoother.size);
    this.#smoother.save(state);
    return state;
  }

  #begins(block: number): boolean {
    return this.#every < Infinity && block % this.#every === 0;
  }

  /** The prediction after a block. @param nodeVariance of the noise on the nodes above it */
  next(estimate: number, nodeVariance: number): number {
    return this.round(this.#smoother.next(estimate, nodeVariance) / this.#blockLength);
  }

  /**
   * Room for what `nextMany` predicts after `count` blocks: it then needs no memory and cannot fail.
   * @param block the first of them
   * @param current its prediction
   */
  prepare(block: number, count: number, current: number): Predictions {
    const perValue = new Float64Array(count + 1);
    perValue[0] = current;
    const forestsBefore = (end: number): number => Math.ceil(end / this.#every);
    const length = forestsBefore(block + count) - forestsBefore(block);
    const starts: Float64Array[] = [];
    while (starts.length < length) starts.push(new Float64Array(this.#smoother.size));
    return { perValue, deferred: new Float64Array(count), starts };
  }

  /** `next` for finished blocks in order, from block `block` on. */
  nextMany(estimates: Float64Array, block: number, predictions: Predictions): void {
    this.#predict(this.#smoother, estimates, block, predictions);
  }

  #predict(
    smoother: Smoother,
    estimates: Float64Array,
    block: number,
    { perValue, deferred, starts }: Predictions,
  ): void {
    for (let i = 0, begun = 0; i < estimates.length; i++) {
      if (this.#begins(block + i)) smoother.save(starts[begun++]!);
      if (this.#blockLength === 1) continue; // nothing is left to prediction
      const next = smoother.next(estimates[i]!, this.#noise.varianceAt(block + i));
      perValue[i + 1] = this.round(next / this.#blockLength);
      deferred[i] = this.round(smoother.deferred ?? 0);
    }
  }

  /** Predictions in a forest are a function of its estimates and of what the smoother knew before. */
  replay(...[block, start, first, estimates]: Parameters<Replay>): Predictions {
    if (repeating?.settings !== this.#settings)
      repeating = { settings: this.#settings, smoother: smootherFor(this.#settings, 0, Infinity) };
    const { smoother } = repeating;
    smoother.load(start);
    const predictions = this.prepare(block, estimates.length, first);
    this.#predict(smoother, estimates, block, predictions);
    return predictions;
  }

  /** @param block how many blocks are finished, all of them in `published` */
  save(writer: Encoder, block: number, published: History): void {
    writer.guessed(this.#state(), (i) => this.#remembered(i, block, published));
  }

  load(reader: Decoder, block: number, published: History): void {
    this.#smoother.load(reader.guessed((i) => this.#remembered(i, block, published)));
  }

  /** The state at place i of a smoother that keeps a ring of past estimates: snapshots need not store it twice. */
  #remembered(i: number, block: number, published: History): number {
    if (i === 0) return block;
    const size = this.#smoother.size - 1;
    const newest = block - 1 - ((((block - i) % size) + size) % size);
    return (newest < 0 ? undefined : published.estimate(newest)) ?? 0;
  }

  round(perValue: number): number {
    return Math.floor(perValue * this.#fraction + 0.5) * this.#unit;
  }
}

function smootherFor(settings: Settings, firstMean: number, largest: number): Smoother {
  const {
    grid: { min, resolution },
    tree: { fanout, levels, blocksPerForest, blockLength },
    output: { smoother },
  } = settings;
  return makeSmoother(smoother, {
    ...{ fanout, levels, blocksPerForest, blockLength, largest },
    least: min,
    unit: resolution / blockLength,
    first: firstMean * blockLength,
  });
}
