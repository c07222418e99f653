/**
 * The hold-out, before the first number is published: values are held out to choose θ, a first prediction and how many
 * levels to skip. Two ways: `CountedHoldout`, the default, and `PlainHoldout` for the paper's rule or a public θ.
 */
import { madeOnce } from "../../core/madeOnce.js";
import type { Core } from "../../core/core.js";
import { quantise } from "../../core/quantise.js";
import { choiceTables, valuesChoice } from "./choice.js";
import { type AboveCount, type Chosen, ThresholdCounts } from "./thresholdCounts.js";
import { type Decoder, Encoder } from "../../snapshot/codec.js";
import { heldOut, type Settings } from "../options.js";
import { Probe, type ProbeShape } from "./probe.js";
import { NoisyMax, type ThresholdChooser } from "./noisyMax.js";
import { WarmStart } from "./warmStart.js";

/** Parameters that a release begins with, chosen by the hold-out. */
export interface Beginning {
  /** Θ in grid units. */
  readonly theta: number;
  /** s. */
  readonly skipped: number;
  /** The first prediction per value, in grid units. */
  readonly mean: number;
  /** How many held-out values are above θ, where that was counted. */
  readonly above?: AboveCount;
  /** Whether they were too few to choose θ well (thresholdCounts.ts). */
  readonly sparse?: boolean;
}

export interface Holdout {
  /** Values seen. */
  readonly held: number;
  readonly done: boolean;
  /** Θ in grid units, once known. */
  readonly theta: number | undefined;
  /**
   * Fails only for a value that chooses θ: all others need no memory and no kernel.
   * @param value finite
   */
  add(value: number): void;
  /** Takes the first `end` values of a batch. */
  addMany(batch: Float64Array, end: number): void;
  /** After the last value that is read: idle ones may still come. */
  begin(): Beginning;
  /** The state so far: its length depends on the settings and `held` alone. */
  save(writer: Encoder): void;
  load(reader: Decoder): void;
  /** Overwrites the values that choose θ; called when another hold-out has taken the place of this one. */
  wipe(): void;
}

/** Copies the state of a hold-out into a fresh one. */
export function copyHoldout(from: Holdout, fresh: Holdout): Holdout {
  const writer = new Encoder();
  try {
    from.save(writer);
    fresh.load(writer.read());
    return fresh;
  } finally {
    writer.wipe();
  }
}

export function makeHoldout(core: Core, key: Uint32Array, settings: Settings): Holdout {
  const {
    privacy: { variant, threshold },
    grid: { min, resolution },
  } = settings;
  const units = (theta: number): number => Math.floor(theta / resolution + 0.5);
  if (threshold !== "noisy-max") return new PlainHoldout(core, key, settings, threshold - min, units);
  if (variant === "default") return new CountedHoldout(core, key, settings);
  return new PlainHoldout(core, key, settings, new NoisyMax(core, key, settings), units);
}

/** The first values are dealt out by position and choose θ; the next ones, where there are enough, probe for s; idle ones come last. */
class CountedHoldout implements Holdout {
  readonly #core: Core;
  readonly #key: Uint32Array;
  readonly #settings: Settings;
  /** Until θ is chosen: true counts stay in memory no longer than they are needed. */
  #counts: ThresholdCounts | undefined;
  #chosen: Chosen | undefined;
  #probe: Probe | undefined;
  #held = 0;
  /** How many values choose θ, and how many come before the idle ones. */
  readonly #choosing: number;
  readonly #read: number;
  // Doubles from the start, whatever the settings are: engines then keep them in place.
  readonly #width: number = NaN;
  readonly #resolution: number = NaN;

  constructor(core: Core, key: Uint32Array, settings: Settings) {
    this.#core = core;
    this.#key = key;
    this.#settings = settings;
    this.#choosing = settings.holdout.choosing;
    this.#read = settings.holdout.choosing + settings.holdout.probing;
    this.#width = settings.grid.width;
    this.#resolution = settings.grid.resolution;
    const choice = choiceOf(settings);
    choiceTables(choice, core); // now, not in a push
    this.#counts = new ThresholdCounts(choice);
  }

  get held(): number {
    return this.#held;
  }

  get done(): boolean {
    return this.#held === heldOut(this.#settings);
  }

  get theta(): number | undefined {
    return this.#chosen?.theta;
  }

  add(value: number): void {
    const held = this.#held + 1;
    if (held >= this.#choosing) return this.#addLate(value, held);
    this.#counts!.add(quantise(value, this.#width, this.#resolution));
    this.#held = held;
  }

  /** A value that chooses θ or comes after it. @param held how many there are with it */
  #addLate(value: number, held: number): void {
    if (held === this.#choosing) {
      this.#counts!.add(quantise(value, this.#width, this.#resolution));
      this.#set(this.#counts!.choose(this.#core, this.#key));
    } else if (held <= this.#read)
      this.#probe!.add(quantise(value, this.#chosen!.theta * this.#resolution, this.#resolution));
    this.#held = held;
  }

  addMany(batch: Float64Array, end: number): void {
    let next = 0;
    if (this.#counts !== undefined) {
      next = Math.min(end, this.#choosing - 1 - this.#held); // all but the one that chooses θ
      this.#counts.addMany(this.#core, batch, next, this.#width, this.#resolution);
      this.#held += next;
    }
    for (; next < end; next++) this.add(batch[next]!);
  }

  #set(chosen: Chosen): void {
    this.#chosen = chosen;
    this.wipe();
    this.#counts = undefined;
    if (this.#settings.holdout.probing > 0) this.#probe = new Probe(probeShape(this.#settings), chosen.theta);
  }

  begin(): Beginning {
    const { theta, mean, above, sparse } = this.#chosen!;
    return {
      theta,
      skipped: this.#probe?.decide(this.#core, this.#key) ?? this.#settings.tree.skipped,
      mean: this.#settings.holdout.warmStart ? mean : theta / 2,
      above,
      sparse,
    };
  }

  wipe(): void {
    this.#counts?.wipe();
  }

  save(writer: Encoder): void {
    writer.double(this.#held);
    this.#counts?.save(writer);
    if (this.#chosen !== undefined) {
      const { theta, mean, above, sparse } = this.#chosen;
      for (const x of [theta, mean, above.count, above.values, Number(sparse)]) writer.double(x);
    }
    this.#probe?.save(writer);
  }

  load(reader: Decoder): void {
    this.#held = reader.double();
    if (this.#held < this.#choosing) return this.#counts!.load(reader);
    const [theta, mean] = [reader.double(), reader.double()];
    const above = { count: reader.double(), values: reader.double() };
    this.#set({ theta, mean, above, sparse: reader.double() === 1 });
    this.#probe?.load(reader);
  }
}

const probeShape = ({
  privacy: { epsilon },
  tree: { fanout, levels, skipped, maxRange },
  holdout: { probing },
}: Settings): ProbeShape => ({ epsilon, fanout, levels, skipped, maxRange, probing });

const choiceOf = madeOnce((settings: Settings) =>
  valuesChoice(settings, settings.privacy.epsilon, heldOut(settings)),
);

/** First the values that choose θ, then those of the warm start, then those that nothing reads. */
export class PlainHoldout implements Holdout {
  readonly #core: Core;
  readonly #key: Uint32Array;
  readonly #settings: Settings;
  readonly #toUnits: (theta: number) => number;
  #chooser: ThresholdChooser | undefined;
  readonly #warmStart: WarmStart | undefined;
  #theta: number | undefined;
  #held = 0;

  /**
   * @param threshold chooses θ − min, or is it, in units of the stream
   * @param toUnits what the stream begins with for a θ: Θ in grid units, if it is on a grid that is known
   */
  constructor(
    core: Core,
    key: Uint32Array,
    settings: Settings,
    threshold: ThresholdChooser | number,
    toUnits: (theta: number) => number,
  ) {
    this.#core = core;
    this.#key = key;
    this.#settings = settings;
    this.#toUnits = toUnits;
    if (settings.holdout.warming > 0) this.#warmStart = new WarmStart();
    if (typeof threshold === "number") this.#theta = toUnits(threshold);
    else this.#chooser = threshold;
  }

  get held(): number {
    return this.#held;
  }

  get done(): boolean {
    const { choosing, warming, idle } = this.#settings.holdout;
    return this.#held === choosing + warming + idle;
  }

  get theta(): number | undefined {
    return this.#theta;
  }

  add(value: number): void {
    const {
      grid: { width, resolution },
      holdout: { choosing, warming },
    } = this.#settings;
    if (this.#held < choosing) this.#chooser!.add(value > 0 ? Math.min(value, width) : 0);
    else if (this.#held < choosing + warming)
      this.#warmStart!.add(quantise(value, this.#theta! * resolution, resolution));
    if (this.#held + 1 === choosing && this.#chooser !== undefined) {
      this.#theta = this.#toUnits(this.#chooser.choose());
      this.wipe();
      this.#chooser = undefined;
    }
    this.#held++;
  }

  addMany(batch: Float64Array, end: number): void {
    for (let i = 0; i < end; i++) this.add(batch[i]!);
  }

  begin(): Beginning {
    const {
      privacy: { epsilon },
      tree: { skipped },
    } = this.#settings;
    const theta = this.#theta!;
    return {
      theta,
      skipped,
      mean: this.#warmStart?.mean(this.#core, this.#key, theta, epsilon) ?? theta / 2,
    };
  }

  wipe(): void {
    this.#chooser?.wipe();
  }

  save(writer: Encoder): void {
    writer.double(this.#held);
    if (this.#theta === undefined) this.#chooser!.save(writer);
    else writer.double(this.#theta);
    this.#warmStart?.save(writer);
  }

  load(reader: Decoder): void {
    this.#held = reader.double();
    if (this.#held < this.#settings.holdout.choosing) this.#chooser!.load(reader);
    else {
      this.#chooser = undefined;
      this.#theta = reader.double();
    }
    this.#warmStart?.load(reader);
  }
}
