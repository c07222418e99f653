/** θ by the rule of `privateStream`, for systems that publish in another way: all held-out values choose, and none is a probe. */
import type { Core } from "../../src/core/core.js";
import { quantise } from "../../src/core/quantise.js";
import { makeChoice } from "../../src/stream/holdout/choice.js";
import { ThresholdCounts } from "../../src/stream/holdout/thresholdCounts.js";
import type { Decoder, Encoder } from "../../src/snapshot/codec.js";
import type { Settings } from "../../src/stream/options.js";
import type { ThresholdChooser } from "../../src/stream/holdout/noisyMax.js";

export class DefaultRule implements ThresholdChooser {
  readonly #core: Core;
  readonly #key: Uint32Array;
  readonly #settings: Settings;
  readonly #counts: ThresholdCounts;

  constructor(core: Core, key: Uint32Array, settings: Settings) {
    const {
      privacy: { epsilon },
      grid: { max, resolution },
      tree: { maxRange },
      holdout: { choosing },
    } = settings;
    this.#core = core;
    this.#key = key;
    this.#settings = settings;
    this.#counts = new ThresholdCounts(makeChoice(epsilon, choosing, maxRange, Math.floor(max / resolution)));
  }

  add(value: number): void {
    this.#counts.add(quantise(value, this.#settings.grid.max, this.#settings.grid.resolution));
  }

  choose(): number {
    return this.#counts.choose(this.#core, this.#key).theta * this.#settings.grid.resolution;
  }

  wipe(): void {
    this.#counts.wipe();
  }

  save(writer: Encoder): void {
    this.#counts.save(writer);
  }

  load(reader: Decoder): void {
    this.#counts.load(reader);
  }
}
