/**
 * The paper's choice of θ (Section 3.3): noisy max with Laplace noise over the candidates step, 2·step, …, of
 *
 *     q(θ) = −#{i : v_i > θ} − (3 m θ / (60 r ε))·√(2(b−1)·(log_b r)³)
 *
 * One replaced value moves all counts between its old and new place by one, in the same direction, so noise of
 * scale 1/ε is enough. Counts values *above* θ: with Eq. 5 as printed, Eq. 6 is highest at the smallest θ.
 */
import { madeOnce } from "../../core/madeOnce.js";
import type { Core } from "../../core/core.js";
import { Purpose, subStream } from "../../core/random.js";
import { makeSelection, type Selection } from "../../core/tables/selection.js";
import type { Settings } from "../options.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";

/** A way to choose θ from held-out values; each sees a value once, less `min`, already in [0, max − min]. */
export interface ThresholdChooser {
  add(value: number): void;
  /** θ in units of the stream, after the last value. */
  choose(): number;
  /** Overwrites the values, when they are needed no longer. */
  wipe(): void;
  /** The values so far: as many bytes as their number says. */
  save(writer: Encoder): void;
  load(reader: Decoder): void;
}

export class NoisyMax implements ThresholdChooser {
  readonly #core: Core;
  readonly #key: Uint32Array;
  readonly #settings: Settings;
  readonly #selection: Selection;
  /** For each value the candidates below it: value > θ_i exactly when bin ≥ i. Two bytes a value at the defaults. */
  readonly #bins: Uint16Array | Uint32Array;
  #count = 0;

  constructor(core: Core, key: Uint32Array, settings: Settings) {
    this.#core = core;
    this.#key = key;
    this.#settings = settings;
    this.#selection = selectionOf(settings); // fails here, before any value, if scores cannot be exact
    this.#selection.scale.words(core.fillDigit); // now, not in a push
    const highest = binOf(settings.grid.width, settings.grid.thresholdStep);
    this.#bins = new (highest < 2 ** 16 ? Uint16Array : Uint32Array)(settings.holdout.choosing);
  }

  add(value: number): void {
    const bin = binOf(value, this.#settings.grid.thresholdStep); // a full stack may cut it short: before anything changes
    this.#bins[this.#count++] = bin;
  }

  /** Four bytes a value, whatever the values are. */
  save(writer: Encoder): void {
    writer.double(this.#count);
    const words = new Uint32Array(this.#bins.subarray(0, this.#count));
    writer.words(words);
    words.fill(0);
  }

  load(reader: Decoder): void {
    this.#count = reader.double();
    const words = reader.words(this.#count);
    this.#bins.set(words);
    words.fill(0);
  }

  choose(): number {
    const random = subStream(this.#key, Purpose.threshold, 0, 0);
    return this.#core.noisyMax(random, this.#bins, this.#selection) * this.#settings.grid.thresholdStep;
  }

  wipe(): void {
    this.#bins.fill(0);
  }
}

const selectionOf = madeOnce((settings: Settings): Selection => {
  const {
    privacy: { epsilon },
    grid: { candidates, thresholdStep },
    tree: { maxRange, fanout },
    holdout: { choosing },
  } = settings;
  return makeSelection({
    candidates,
    step: thresholdStep,
    holdout: choosing,
    epsilon,
    releaseEpsilon: epsilon,
    maxRange,
    fanout,
    noise: "laplace",
  });
});

/** Candidates strictly below the value, counting only from the second on: 0 up to θ_1, k up to θ_(k+1). */
function binOf(value: number, step: number): number {
  return Math.max(0, Math.ceil(value / step) - 1);
}
