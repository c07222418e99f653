/** A hold-out that chooses θ, then a clamped stream that is published: every baseline is this with other parts. */
import {
  type Statement,
  explainStatement,
  NOT_PROTECTED,
  RANDOMNESS,
  type StageStatement,
} from "../../src/stream/statement.js";
import type { RangeAnswer } from "../../src/stream/answer.js";
import type { System, RangeOptions } from "../../src/stream/system.js";
import { answerRange, type Publisher } from "../../src/stream/publisher.js";
import { smootherName } from "../../src/stream/smoothers/index.js";
import { NoisyMax, type ThresholdChooser } from "../../src/stream/threshold.js";
import { checkValue, checkValues } from "../../src/core/checks.js";
import type { Core } from "../../src/core/core.js";
import { Zeros } from "./base.js";
import type { ComparisonSettings } from "./options.js";
import { smoothPercentile, truePercentile } from "./percentiles.js";

/** Eq. 6 weighs candidates for the hierarchy of ToPS, whichever one publishes. */
const NME_FANOUT = 16;

export class Comparison implements System {
  readonly #settings: ComparisonSettings;
  readonly #core: Core;
  readonly #key: Uint32Array;
  #chooser: ThresholdChooser | undefined;
  /** θ in units of the stream, once known. */
  #theta: number | undefined;
  #released: Publisher | undefined;
  #held = 0;

  /** @param key all randomness of the release; a second release must not use it again */
  constructor(settings: ComparisonSettings, core: Core, key: Uint32Array) {
    this.#settings = settings;
    this.#core = core;
    this.#key = key;
    if (settings.rule === "fixed") this.#theta = settings.threshold as number;
    else {
      this.#chooser = makeChooser(settings, core, key);
      settings.hierarchy.make(core, key, settings, settings.max); // what cannot work fails now, not after the hold-out
    }
    if (settings.choosing + settings.idle === 0) this.#begin();
  }

  get length(): number {
    return this.#released?.length ?? 0;
  }

  push(value: number): number | undefined {
    checkValue(value);
    if (this.#released !== undefined) return this.#released.push(clamp(value, this.#settings.max));
    this.#hold(value);
    return undefined;
  }

  pushMany(values: Float64Array | readonly number[]): Float64Array {
    const batch = checkValues(values);
    let next = 0;
    while (this.#released === undefined && next < batch.length) this.#hold(batch[next++]!);
    return this.#released?.pushMany(this.#inside(batch.subarray(next))) ?? new Float64Array(0);
  }

  range(from: number, to: number, options: RangeOptions = {}): RangeAnswer {
    return answerRange(this.#released, from, to, options, "blocks");
  }

  statement(): Statement {
    const { epsilon, max, fanout, levels, skipped, blockLength, maxRange, hierarchy, method } =
      this.#settings;
    const { rule, delta, unsafeSeed } = this.#settings;
    const reads = levels > 0;
    const theta = reads ? (this.#theta ?? null) : 0;
    const open = rule === "percentile";
    const perNode = theta === null || !reads || method === "unbounded" ? null : (levels * theta) / epsilon;
    return {
      system: method,
      definition: "event-level differential privacy",
      neighbours: "streams of the same length that differ in the value at one position",
      unit: "one value",
      epsilon: open ? Infinity : reads ? epsilon : 0,
      delta,
      private: unsafeSeed === undefined && !open,
      composition: open
        ? "θ is a true percentile of the hold-out, published without noise: no ε holds."
        : reads
          ? "The stages read disjoint values: parallel composition, ε in all."
          : "No value is read, so nothing can be learnt about any: ε = 0.",
      stages: this.#stages(),
      threshold: theta,
      max,
      resolution: this.#released?.resolution ?? this.#settings.resolution,
      fanout,
      levels,
      skipLevels: skipped,
      blockLength,
      maxRange,
      smoother: hierarchy.skips ? smootherName(this.#settings.smoother) : "none",
      noiseScale: perNode,
      noise: open
        ? "θ is a true percentile, without noise"
        : reads
          ? "discrete Laplace, sampled exactly"
          : "none: nothing is read",
      randomness: unsafeSeed === undefined ? RANDOMNESS.secret : RANDOMNESS.unsafe,
      core: { name: this.#core.name, note: "" },
      published: this.length,
      notProtected: NOT_PROTECTED,
      settled: true,
      clampedShare: null,
      warnings: [],
    };
  }

  explain(): string {
    return explainStatement(this.statement());
  }

  #stages(): StageStatement[] {
    const { epsilon, delta, choosing, idle, rule, hierarchy, levels } = this.#settings;
    const { mechanism } = hierarchy;
    const release: StageStatement = {
      stage: "release",
      mechanism,
      epsilon: levels > 0 ? epsilon : 0,
      delta: 0,
      values: [choosing + idle, null],
    };
    if (rule === "fixed") return [release];
    const threshold: StageStatement = {
      stage: "threshold",
      mechanism: ruleInWords(rule),
      epsilon: rule === "percentile" ? Infinity : epsilon,
      delta,
      values: [0, choosing],
    };
    return [threshold, release];
  }

  /** A batch with its values clamped to [0, max]; where θ is no larger, clamping to θ does that as well. */
  #inside(values: Float64Array): Float64Array {
    const { max } = this.#settings;
    if (this.#theta! <= max) return values;
    const inside = new Float64Array(values.length);
    for (let i = 0; i < values.length; i++) inside[i] = clamp(values[i]!, max);
    return inside;
  }

  /** Takes a held-out value: first those that choose θ, then those that are not used. */
  #hold(value: number): void {
    const { choosing, idle, max } = this.#settings;
    if (this.#held < choosing) this.#chooser!.add(clamp(value, max));
    this.#held++;
    if (this.#held === choosing && this.#chooser !== undefined) {
      this.#theta = this.#chooser.choose();
      this.#chooser = undefined;
    }
    if (this.#held === choosing + idle) this.#begin();
  }

  #begin(): void {
    const theta = this.#theta!;
    const { hierarchy } = this.#settings;
    this.#released = theta > 0 ? hierarchy.make(this.#core, this.#key, this.#settings, theta) : new Zeros();
  }
}

const clamp = (value: number, max: number): number => (value > 0 ? Math.min(value, max) : 0);

function makeChooser(settings: ComparisonSettings, core: Core, key: Uint32Array): ThresholdChooser {
  const { rule, choosing, percentile, max, epsilon, delta } = settings;
  if (rule === "noisy-max") return new NoisyMax(core, key, { ...settings, fanout: NME_FANOUT });
  if (rule === "percentile") return truePercentile(choosing, percentile);
  return smoothPercentile(core, key, choosing, max, percentile, {
    epsilon,
    delta,
    shifted: rule === "s-pak",
  });
}

function ruleInWords(rule: ComparisonSettings["rule"]): string {
  if (rule === "noisy-max") return "noisy max";
  if (rule === "percentile") return "a true percentile, NOT PRIVATE";
  return `percentile by smooth sensitivity (${rule === "s-p" ? "S-P" : "S-PAK"}), Laplace noise in floating point`;
}
