/**
 * Chooses θ from held-out values (Section 3.3): noisy max over the candidates step, 2·step, …, of
 *
 *     q(θ) = −#{i : v_i > θ} − (3 m θ / (60 r ε))·√(2(b−1)·l³),   l = log_b r as printed, log_b r + 1 by default
 *
 * One replaced value moves all counts between its old and new place by one, in the same direction, so noise of
 * scale 1/ε is enough. Counts values *above* θ: with Eq. 5 as printed, Eq. 6 is highest at the smallest θ.
 */
import type { Core } from "../core/core.js";
import { Stage, subStream } from "../core/random.js";
import { logarithm, makeSelection, type Selection } from "../core/tables/selection.js";
import type { Settings } from "./options.js";
import type { Decoder, Encoder } from "./codec.js";

/** A way to choose θ from held-out values; each sees a value once, already in [0, max]. */
export interface ThresholdChooser {
  add(value: number): void;
  /** θ in units of the stream, after the last value. */
  choose(): number;
  /** Bytes held. */
  readonly bytes: number;
  /** Writes down the values so far, for a snapshot; a way without it cannot be sealed while it is choosing. */
  save?(writer: Encoder): void;
  load?(reader: Decoder): void;
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
    const highest = binOf(settings.max, settings.thresholdStep);
    this.#bins = new (highest < 2 ** 16 ? Uint16Array : Uint32Array)(settings.choosing);
  }

  get bytes(): number {
    return this.#bins.byteLength;
  }

  add(value: number): void {
    this.#bins[this.#count++] = binOf(value, this.#settings.thresholdStep);
  }

  /** In ascending order, which the choice does not depend on: a byte a value, mostly. */
  save(writer: Encoder): void {
    writer.ascending(this.#bins.slice(0, this.#count).sort());
  }

  load(reader: Decoder): void {
    this.#count = reader.ascending(this.#bins);
  }

  choose(): number {
    const random = subStream(this.#key, Stage.threshold, 0, 0);
    const theta = this.#core.noisyMax(random, this.#bins, this.#selection) * this.#settings.thresholdStep;
    this.#bins.fill(0);
    return theta;
  }
}

/** Public, and the same for every stream with these settings. */
const selections = new WeakMap<Settings, Selection>();

function selectionOf(settings: Settings): Selection {
  let selection = selections.get(settings);
  if (selection === undefined) selections.set(settings, (selection = settingsSelection(settings)));
  return selection;
}

function settingsSelection(settings: Settings): Selection {
  const { candidates, thresholdStep, choosing, epsilon, maxRange, fanout, selection, variant } = settings;
  return makeSelection({
    candidates,
    step: thresholdStep,
    holdout: choosing,
    epsilon,
    releaseEpsilon: epsilon,
    maxRange,
    fanout,
    // Eq. 6 has log_b r levels. The authors' code counts one more, which leans to a smaller θ and pays off: departures.md.
    penaltyLevels: logarithm(maxRange, fanout) + (variant === "paper" ? 0 : 1),
    noise: selection,
  });
}

/** Candidates strictly below the value, counting only from the second on: 0 up to θ_1, k up to θ_(k+1). */
function binOf(value: number, step: number): number {
  return Math.max(0, Math.ceil(value / step) - 1);
}
