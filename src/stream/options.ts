/** Options of a release, checked, with every default filled in. Nothing here has seen a value. */
import { checkChoice, checkInteger, checkPositive, checkText, ownOptions, shown } from "../core/checks.js";
import type { CoreChoice } from "../core/choose.js";
import { levelCount, skippedLevels, type SkipRule } from "./levels.js";
import { checkSmoother, type SmootherChoice } from "./smoothers/index.js";

export interface StreamOptions {
  /** ε, the privacy budget of the whole release: 0 < ε < ∞. Smaller is more private. */
  readonly epsilon: number;
  /** B, the public upper bound of a value, in units of the stream. Larger values are clamped to it. */
  readonly max: number;
  /** m, how many values are read first to choose θ and are never published. Default 65 536 (0 with a fixed threshold). */
  readonly holdout?: number;
  /** r, the longest range a query is expected to span, in values; one forest of noise per r values. Default 2²⁰. */
  readonly maxRange?: number;
  /** θ: chosen privately from the hold-out (default), or a public number that you know without looking at the data. */
  readonly threshold?: "noisy-max" | number;
  /** How the next block is predicted from released ones. Default "recent". No effect on privacy. */
  readonly smoother?: SmootherChoice;
  /** What few streams need to set. */
  readonly tuning?: Tuning;
  /** "paper": Laplace noise in the max, Eq. 7, first prediction θ/2, no warm start. */
  readonly variant?: "default" | "paper";
  /**
   * How many of the last published values `range` can look back on: a number ≥ 2·maxRange, or Infinity. Default: the
   * running forest of maxRange values and the one before it. 16 bytes a block.
   */
  readonly history?: number;
  /** Which stream this is, bound into its snapshots so that none is restored into another stream. Default "". Public. */
  readonly name?: string;
  /** Where kernels run. Default "auto": WebAssembly if it can be compiled, else plain JavaScript; same answers. */
  readonly core?: CoreChoice;
  /** A seed that makes the release repeatable and NOT private: for tests, benchmarks and papers. */
  readonly unsafeSeed?: string;
}

/** Options with a default that fits nearly every stream. */
export interface Tuning {
  /** g, values are rounded to multiples of it before noise. Default 1, or the largest power of two ≤ max/256. */
  readonly resolution?: number;
  /** b, children per node: 2 to 64. Default 16. */
  readonly fanout?: number;
  /** s, lowest levels left to prediction. Default "auto": least expected error; "paper": Eq. 7. */
  readonly skipLevels?: SkipRule;
  /** Spacing of the candidates for θ, a multiple of the resolution. Default: leaves at most 2¹⁶ candidates. */
  readonly thresholdStep?: number;
  /** Whether the last m/8 held-out values give a first prediction (at no cost: they take no part in choosing θ). Default true. */
  readonly warmStart?: boolean;
}

export const STREAM_OPTIONS: readonly (keyof StreamOptions)[] = [
  ...(["epsilon", "max", "holdout", "maxRange", "threshold", "smoother", "tuning"] as const),
  ...(["variant", "history", "name", "core", "unsafeSeed"] as const),
];
export const TUNING: readonly (keyof Tuning)[] = [
  "resolution",
  "fanout",
  "skipLevels",
  "thresholdStep",
  "warmStart",
];

export interface Settings {
  readonly epsilon: number;
  readonly max: number;
  /** Values that choose θ. */
  readonly choosing: number;
  /** Values after them that give the first prediction. */
  readonly warming: number;
  /** Values after those that are held out and not used at all. */
  readonly idle: number;
  readonly resolution: number;
  readonly thresholdStep: number;
  /** Candidates for θ: thresholdStep · 1 … candidates. */
  readonly candidates: number;
  readonly threshold: "noisy-max" | number;
  readonly selection: "exponential" | "laplace";
  readonly maxRange: number;
  readonly fanout: number;
  /** h − s, levels that carry noise. */
  readonly levels: number;
  readonly skipped: number;
  /** b^s values. */
  readonly blockLength: number;
  readonly blocksPerForest: number;
  readonly smoother: SmootherChoice;
  readonly variant: "default" | "paper";
  /** Forests whose blocks are kept for ranges. */
  readonly history: number;
  readonly name: string;
  readonly core: CoreChoice;
  readonly unsafeSeed: string | undefined;
}

const CANDIDATES = 2 ** 16;
/** Kernels take up to this many candidates when a caller sets a finer step. */
const MOST_CANDIDATES = 2 ** 20;
const MOST_SCALE = 2 ** 40;
/** As many values as the kernel that chooses θ can stage. */
const MOST_HOLDOUT = 2 ** 27;
/** P(|noise| > 100 t) < 2⁻¹⁴⁴: far enough for sums to be called exact. */
const MARGIN = 100;

export function resolveSettings(asked: StreamOptions): Settings {
  const options = ownOptions("options", asked, STREAM_OPTIONS);
  const tuning = ownOptions("tuning", options.tuning ?? {}, TUNING);
  const epsilon = checkPositive("epsilon", options.epsilon);
  const max = checkPositive("max", options.max);
  const variant = checkChoice("variant", options.variant ?? "default", ["default", "paper"]);
  const fanout = checkInteger("tuning.fanout", tuning.fanout ?? 16, 2, 64);
  const maxRange = checkInteger("maxRange", options.maxRange ?? 2 ** 20, fanout, 2 ** 40);
  const resolution = checkPositive("tuning.resolution", tuning.resolution ?? defaultResolution(max));
  if (resolution > max)
    throw new RangeError(`tuning.resolution: expected at most max = ${max}, got ${resolution}`);
  const rule = tuning.skipLevels ?? (variant === "paper" ? "paper" : "auto");
  if (typeof rule !== "number") checkChoice("tuning.skipLevels", rule, ["auto", "paper"]);
  const skipped = skippedLevels(rule, epsilon, maxRange, fanout);
  const levels = levelCount(maxRange, fanout) - skipped;
  const blockLength = fanout ** skipped;
  const blocksPerForest = Math.ceil(maxRange / blockLength);
  if (fanout ** (levels - 1) > 2 ** 20)
    throw new RangeError(
      `maxRange: one tree of noise would have ${fanout ** (levels - 1)} leaves, at most 2^20 are supported; lower maxRange or raise tuning.skipLevels`,
    );
  const threshold = checkThreshold(options.threshold ?? "noisy-max", max, resolution);
  const settings: Settings = {
    epsilon,
    max,
    ...holdout(options.holdout, tuning.warmStart ?? variant !== "paper", threshold),
    resolution,
    ...thresholdGrid(tuning.thresholdStep, max, resolution),
    threshold,
    selection: variant === "paper" ? "laplace" : "exponential",
    maxRange,
    fanout,
    levels,
    skipped,
    blockLength,
    blocksPerForest,
    smoother: checkSmoother(options.smoother ?? "recent"),
    variant,
    history: history(options.history, blocksPerForest * blockLength),
    name: checkText("name", options.name ?? ""),
    core: checkChoice("core", options.core ?? "auto", ["auto", "wasm", "js"]),
    unsafeSeed: options.unsafeSeed === undefined ? undefined : checkText("unsafeSeed", options.unsafeSeed),
  };
  checkExactRange(settings);
  return settings;
}

/** 1, or below 256 the largest power of two with max/g ≥ 256: every default grid is dyadic, so that sums stay exact. */
function defaultResolution(max: number): number {
  let resolution = 1;
  while (max / resolution < 256) resolution /= 2;
  return resolution;
}

function checkThreshold(threshold: unknown, max: number, resolution: number): "noisy-max" | number {
  if (threshold === "noisy-max") return threshold;
  if (typeof threshold !== "number")
    throw new TypeError(`threshold: expected "noisy-max" or a number, got ${shown(threshold)}`);
  if (!(threshold >= resolution && threshold <= max))
    throw new RangeError(`threshold: expected resolution ${resolution} ≤ θ ≤ max ${max}, got ${threshold}`);
  return threshold;
}

function holdout(
  asked: number | undefined,
  warmStart: unknown,
  threshold: "noisy-max" | number,
): Pick<Settings, "choosing" | "warming" | "idle"> {
  const fixed = threshold !== "noisy-max";
  const total = checkInteger(
    "holdout",
    asked ?? (fixed ? 0 : 65536),
    fixed ? 0 : 1,
    fixed ? 2 ** 32 : MOST_HOLDOUT,
  );
  if (typeof warmStart !== "boolean")
    throw new TypeError(`tuning.warmStart: expected true or false, got a value of type ${typeof warmStart}`);
  if (fixed) return { choosing: 0, warming: warmStart ? total : 0, idle: warmStart ? 0 : total };
  const warming = warmStart ? Math.floor(total / 8) : 0;
  return { choosing: total - warming, warming, idle: 0 };
}

function thresholdGrid(
  asked: number | undefined,
  max: number,
  resolution: number,
): Pick<Settings, "thresholdStep" | "candidates"> {
  let step = asked === undefined ? resolution : checkPositive("tuning.thresholdStep", asked);
  if (asked === undefined) while (Math.floor(max / step) > CANDIDATES) step *= 2;
  if (!Number.isInteger(step / resolution))
    throw new RangeError(
      `tuning.thresholdStep: expected a multiple of resolution ${resolution}, got ${step}`,
    );
  const candidates = Math.floor(max / step);
  if (candidates < 1)
    throw new RangeError(`tuning.thresholdStep: expected at most max = ${max}, got ${step}`);
  if (candidates > MOST_CANDIDATES)
    throw new RangeError(
      `tuning.thresholdStep: expected at most 2^20 candidates for θ, got ${candidates}; take a step of ${max / MOST_CANDIDATES} or more`,
    );
  return { thresholdStep: step, candidates };
}

function history(asked: number | undefined, forestLength: number): number {
  if (asked === undefined) return 2;
  if (typeof asked !== "number" || !(asked >= 2 * forestLength))
    throw new RangeError(
      `history: expected at least ${2 * forestLength} values (two forests) or Infinity, got ${shown(asked)}`,
    );
  return Math.ceil(asked / forestLength) + 1;
}

/** Sums and noise must stay exact integers in a double, for the largest θ there can be. */
function checkExactRange(settings: Settings): void {
  const { epsilon, max, resolution, levels, fanout, blocksPerForest, blockLength } = settings;
  const largest = Math.ceil(max / resolution);
  const scale = (levels * largest) / epsilon;
  if (!(scale <= MOST_SCALE))
    throw new RangeError(
      `epsilon: noise of scale levels·(max/resolution)/ε = ${scale.toPrecision(3)} is above 2^40; raise epsilon (${epsilon}), lower max (${max}) or take a coarser tuning.resolution (${resolution})`,
    );
  if (!(epsilon <= 64 * levels))
    throw new RangeError(
      `epsilon: expected at most ${64 * levels}, got ${epsilon}; noise that small protects nothing`,
    );
  const most = largest * Math.max(blocksPerForest * blockLength, settings.warming);
  if (!(most + MARGIN * scale * (fanout + 1) < 2 ** 52))
    throw new RangeError(
      `max: sums up to (max/resolution)·maxRange (or the warm start's share of holdout) = ${most.toPrecision(3)} do not stay exact in a double; lower max (${max}), maxRange (${settings.maxRange}) or holdout, or take a coarser tuning.resolution (${resolution})`,
    );
}
