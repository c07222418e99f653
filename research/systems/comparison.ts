/** The systems that ToPS is compared with: a hold-out that chooses θ, then a publisher, like ToPS, with other parts. */
import { checkFinite } from "../../src/core/checks.js";
import type { Core } from "../../src/core/core.js";
import { type Beginning, type Holdout, PlainHoldout } from "../../src/stream/holdout/holdout.js";
import type { Publisher } from "../../src/stream/publisher.js";
import { smootherName } from "../../src/stream/predict/smoothers/index.js";
import { HoldoutSystem, type SystemParts, type SystemProgress } from "../../src/stream/holdoutSystem.js";
import { makeStatement, type StageStatement, type Statement } from "../../src/stream/statement.js";
import { NoisyMax, type ThresholdChooser } from "../../src/stream/holdout/noisyMax.js";
import { Zeros } from "./base.js";
import { DefaultRule } from "./defaultRule.js";
import type { ComparisonSettings } from "./options.js";
import { smoothPercentile, truePercentile } from "./percentiles.js";

/** Eq. 6 weighs candidates for the hierarchy of ToPS, whichever hierarchy publishes. */
const NME_FANOUT = 16;

/** @param key all randomness of the system; a second one must not use it again */
export function makeComparison(
  settings: ComparisonSettings,
  core: Core,
  key: Uint32Array,
): HoldoutSystem<Publisher> {
  const {
    privacy: { threshold },
    grid: { max },
    hierarchy,
    rule,
  } = settings;
  const theta = rule === "fixed" ? (threshold as number) : max;
  if (theta > 0) hierarchy.make(core, key, settings, theta); // what cannot work fails now, not after the hold-out
  return new HoldoutSystem(new Comparison(settings, core, key));
}

class Comparison implements SystemParts<Publisher> {
  readonly settings: ComparisonSettings;
  readonly answer = "blocks"; // as in the paper: nothing is shrunk
  readonly #core: Core;
  readonly #key: Uint32Array;

  constructor(settings: ComparisonSettings, core: Core, key: Uint32Array) {
    this.settings = settings;
    this.#core = core;
    this.#key = key;
  }

  /** θ stays in units of the stream: each hierarchy has a grid of its own. */
  holdout(): Holdout {
    const {
      privacy: { threshold },
      rule,
    } = this.settings;
    const chooser =
      rule === "fixed" ? (threshold as number) : makeChooser(this.settings, this.#core, this.#key);
    return new PlainHoldout(this.#core, this.#key, this.settings, chooser, (theta) => theta);
  }

  publisher({ theta }: Beginning): Publisher {
    const {
      grid: { max },
      hierarchy,
    } = this.settings;
    if (!(theta > 0)) return new Zeros();
    const publisher = hierarchy.make(this.#core, this.#key, this.settings, theta);
    return theta > max ? clampedTo(max, publisher) : publisher;
  }

  statement({ holdout, release }: SystemProgress<Publisher>): Statement {
    const publisher = release?.publisher;
    const theta = release?.beginning.theta ?? holdout?.theta;
    const {
      privacy: { epsilon },
      grid: { resolution },
      tree: { levels, maxRange },
      output: { smoother },
      hierarchy,
      method,
      rule,
      delta,
    } = this.settings;
    const reads = levels > 0;
    const open = rule === "percentile";
    const threshold = reads ? (theta ?? null) : 0;
    return makeStatement(this.settings, this.#core.name, publisher?.length ?? 0, {
      system: method,
      epsilon: open ? Infinity : reads ? epsilon : 0,
      delta,
      private: !open,
      composition: open
        ? "θ is a true percentile of the hold-out, published without noise: no ε holds."
        : reads
          ? "The stages read disjoint values: parallel composition, ε in all."
          : "No value is read, so nothing can be learnt about any: ε = 0.",
      stages: this.#stages(),
      threshold,
      resolution: publisher?.resolution ?? resolution,
      smoother: hierarchy.skips ? smootherName(smoother) : "none",
      noiseScale: threshold === null || !reads ? null : this.#noiseScale(threshold),
      noise: open
        ? "θ is a true percentile, without noise"
        : reads
          ? `discrete ${hierarchy.gaussian === true ? "Gaussian" : "Laplace"}, sampled exactly`
          : "none: nothing is read",
      ...(hierarchy.protects === undefined ? {} : { protects: hierarchy.protects(maxRange) }),
      settled: true,
      clampedShare: null,
      warnings: [],
    });
  }

  #noiseScale(theta: number): number | null {
    const {
      privacy: { epsilon },
      tree: { levels },
      hierarchy,
    } = this.settings;
    return hierarchy.scale === undefined ? (levels * theta) / epsilon : hierarchy.scale(this.settings, theta);
  }

  #stages(): StageStatement[] {
    const {
      privacy: { epsilon },
      tree: { levels },
      holdout: { choosing, idle },
      delta,
      rule,
      hierarchy,
    } = this.settings;
    const release: StageStatement = {
      stage: "release",
      mechanism: hierarchy.mechanism,
      epsilon: levels > 0 ? epsilon : 0,
      delta: hierarchy.gaussian === true ? delta : 0,
      values: [choosing + idle, null],
    };
    if (rule === "fixed") return [release];
    const threshold: StageStatement = {
      stage: "threshold",
      mechanism: ruleInWords(rule),
      epsilon: rule === "percentile" ? Infinity : epsilon,
      delta: rule === "s-p" || rule === "s-pak" ? delta : 0,
      values: [0, choosing],
    };
    return [threshold, release];
  }
}

/** A θ above the public bound stays θ for the noise; values are clamped to the bound. */
function clampedTo(max: number, publisher: Publisher): Publisher {
  return {
    get length() {
      return publisher.length;
    },
    get oldest() {
      return publisher.oldest;
    },
    resolution: publisher.resolution,
    push: (value) => publisher.push(Math.min(value, max)),
    pushMany: (values) => publisher.pushMany(checkFinite(values).map((value) => Math.min(value, max))),
    answer: (from, to, kind) => publisher.answer(from, to, kind),
  };
}

function makeChooser(settings: ComparisonSettings, core: Core, key: Uint32Array): ThresholdChooser {
  const {
    privacy: { epsilon },
    grid: { max },
    holdout: { choosing },
    rule,
    percentile,
    delta,
  } = settings;
  if (rule === "default") return new DefaultRule(core, key, settings);
  if (rule === "noisy-max")
    return new NoisyMax(core, key, { ...settings, tree: { ...settings.tree, fanout: NME_FANOUT } });
  if (rule === "percentile") return truePercentile(choosing, percentile);
  return smoothPercentile(core, key, choosing, max, percentile, {
    epsilon,
    delta,
    shifted: rule === "s-pak",
  });
}

function ruleInWords(rule: ComparisonSettings["rule"]): string {
  if (rule === "default") return "noisy max by classes of values";
  if (rule === "noisy-max") return "noisy max";
  if (rule === "percentile") return "a true percentile, NOT PRIVATE";
  return `percentile by smooth sensitivity (${rule === "s-p" ? "S-P" : "S-PAK"}), Laplace noise in floating point`;
}
