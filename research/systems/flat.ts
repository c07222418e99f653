/** Flat Laplace: every value gets noise of its own, of scale Θ/ε. A range sums as many noises as it has values. */
import type { AnswerKind } from "../../src/stream/answer/answer.js";
import { noiseScale } from "../../src/stream/release/forest.js";
import { History } from "../../src/stream/release/history.js";
import { RangeIndex, type RawAnswer } from "../../src/stream/answer/rangeIndex.js";
import { sameNoise } from "../../src/stream/release/epochs.js";
import { laplaceVariance, NO_SPREAD } from "../../src/stream/answer/variance.js";
import type { Settings } from "../../src/stream/options.js";
import type { Core } from "../../src/core/core.js";
import { Purpose, subStream } from "../../src/core/random.js";
import type { IntegerStream } from "./grid.js";
import { NoiseQueue } from "./noiseQueue.js";

export class Flat implements IntegerStream {
  readonly #noise: NoiseQueue;
  /** Prefix sums of what was published: blocks of one value, under one level of noise. */
  readonly #blocks: History;
  readonly #ranges: RangeIndex;
  length = 0;

  /** @param theta Θ in grid units */
  constructor(core: Core, key: Uint32Array, settings: Settings, theta: number) {
    const {
      privacy: { epsilon },
      tree: { maxRange, history },
    } = settings;
    this.#noise = new NoiseQueue(core, subStream(key, Purpose.baseline, 0, 0), noiseScale(1, theta, epsilon));
    const shape = { fanout: 2, levels: 1, blockLength: 1, blocksPerForest: maxRange, history };
    this.#blocks = new History(shape);
    this.#ranges = new RangeIndex(this.#blocks, shape, sameNoise(laplaceVariance(theta / epsilon)), {
      first: NO_SPREAD,
      weights: undefined,
    });
  }

  get oldest(): number {
    return this.#blocks.oldest;
  }

  push(x: number): number {
    const noisy = x + this.#noise.take();
    this.#blocks.add(noisy, noisy);
    this.length++;
    return noisy;
  }

  pushMany(xs: Float64Array): Float64Array {
    const noisy = new Float64Array(xs.length);
    this.#noise.fill(noisy);
    for (let i = 0; i < xs.length; i++) noisy[i]! += xs[i]!;
    this.#blocks.addMany(noisy, noisy);
    this.length += xs.length;
    return noisy;
  }

  answer(from: number, to: number, kind: AnswerKind): RawAnswer {
    return this.#ranges.answer(from, to, kind === "best" ? "blocks" : kind); // as published: nothing is shrunk
  }
}
