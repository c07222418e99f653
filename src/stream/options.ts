/** Options of a release, checked, with every default filled in. Nothing here has seen a value. */
import { checkChoice, checkInteger, checkPositive, checkText, ownOptions, shown } from "../core/checks.js";
import type { CoreChoice } from "../core/choose.js";
import { LEAST_HOLDOUT, withDrawing } from "./release/firstTree.js";
import { canFollow } from "./release/follow.js";
import { coarseGrid, fineGrid } from "./grid.js";
import { levelCount, skippedLevels, type SkipRule } from "./levels.js";
import { checkExactRange, exactRangeError, shapeOf, withSkipped } from "./shape.js";
import { checkSmoother, type SmootherChoice } from "./predict/smoothers/index.js";

export interface StreamOptions {
  /** ε, the privacy budget of the whole release: 0 < ε < ∞. Smaller is more private. */
  readonly epsilon: number;
  /** B, the public upper bound of a value, in units of the stream. Larger values are clamped to it. */
  readonly max: number;
  /**
   * The public lower bound of a value, for values that may be negative or that are far from 0. Smaller values are clamped to
   * it. θ then bounds what a value is above `min`. Default 0.
   */
  readonly min?: number;
  /**
   * m, how many values are read first to choose θ and are never published: positions, as `range` takes them, count from 0
   * after them. Default 65 536 (0 with a fixed threshold).
   */
  readonly holdout?: number;
  /** r, the longest range a query is expected to span, in published positions; one forest of noise per r of them. Default 2²⁰. */
  readonly maxRange?: number;
  /** θ, a public number that you know without looking at the data. Default: chosen privately from the hold-out. */
  readonly threshold?: "noisy-max" | number;
  /**
   * How the next block is predicted from released ones. Default "shrunk": corrections that look like noise are deferred
   * until a tree ends, and the prediction is that of the best of several experts. `{ period }` adds one that looks back
   * one period. No effect on privacy.
   */
  readonly smoother?: SmootherChoice;
  /** Settings that few streams need. */
  readonly tuning?: Tuning;
  /** "paper": θ by Eq. 6 with Laplace noise, s by Eq. 7, first prediction θ/2, sums of what was published. */
  readonly variant?: "default" | "paper";
  /**
   * How many of the last published positions `range` can look back on: a number ≥ 2·maxRange, or Infinity. Default: the
   * running forest of maxRange positions and the one before it. 24 bytes a block.
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
  /**
   * g, values are rounded to multiples of it before noise. Default: the largest power of two ≤ max/2¹⁶, and at most 1, so that
   * whole numbers stay exact; coarser where ε is so small that sums would not stay exact (the statement says so). With
   * variant "paper" the largest power of two ≤ max/256, and at most 1.
   */
  readonly resolution?: number;
  /** b, children per node: 2 to 64. Default 16. */
  readonly fanout?: number;
  /**
   * s, lowest levels left to prediction. Default "auto": least expected error, and one level less where held-out values
   * show that the stream is too rough for it; "paper": Eq. 7.
   */
  readonly skipLevels?: SkipRule;
  /** With variant "paper": spacing of the candidates for θ, a multiple of the resolution. Default: leaves at most 2¹⁶. */
  readonly thresholdStep?: number;
  /** Whether held-out values that take no part in choosing θ give the first prediction, at no cost. Default true. */
  readonly warmStart?: boolean;
  /**
   * Whether θ follows the stream from tree to tree, by a private count that takes 1/32 of ε (follow.ts). Default: true
   * where θ is chosen privately and a tree has enough values for it, 320/ε. Never with a public θ, or variant "paper".
   */
  readonly follow?: boolean;
  /**
   * Whether θ is chosen once more when the first tree of noise ends, from its values, with half of their ε (refining.ts).
   * For a short `holdout`, such as 1024: numbers come soon, those of the first tree with a rough θ and more than four
   * times the variance of the noise. Needs a θ that follows the stream. Default false.
   */
  readonly refine?: boolean;
}

export { heldOut } from "./release/firstTree.js";

export const STREAM_OPTIONS: readonly (keyof StreamOptions)[] = [
  ...(["epsilon", "max", "min", "holdout", "maxRange", "threshold", "smoother", "tuning"] as const),
  ...(["variant", "history", "name", "core", "unsafeSeed"] as const),
];
export const TUNING: readonly (keyof Tuning)[] = [
  "resolution",
  "fanout",
  "skipLevels",
  "thresholdStep",
  "warmStart",
  "follow",
  "refine",
];

/** ε, and how it is spent. */
export interface PrivacySettings {
  readonly epsilon: number;
  readonly variant: "default" | "paper";
  readonly threshold: "noisy-max" | number;
  /** Whether θ follows the stream from tree to tree. */
  readonly follow: boolean;
  /** Whether θ is chosen once more when the first tree ends. */
  readonly refine: boolean;
  readonly unsafeSeed: string | undefined;
}

/** Bounds of a value, and the grids that values and candidates for θ are rounded to. */
export interface GridSettings {
  /** The bounds of a value, and max − min. All code but the first and the last step sees values less `min`, from 0 to `width`. */
  readonly min: number;
  readonly max: number;
  readonly width: number;
  readonly resolution: number;
  /** Whether a finer grid would be the default, if sums stayed exact on it. */
  readonly coarsened: boolean;
  /** Unit of the candidates for θ. With variant "paper" they are thresholdStep · 1 … candidates; else choice.ts has them. */
  readonly thresholdStep: number;
  readonly candidates: number;
}

/** The trees of noise, their blocks, and how many are kept for ranges. */
export interface TreeSettings {
  readonly maxRange: number;
  readonly fanout: number;
  /** h − s, levels that carry noise. */
  readonly levels: number;
  readonly skipped: number;
  /** b^s values. */
  readonly blockLength: number;
  readonly blocksPerForest: number;
  /** Forests whose blocks are kept for ranges, and the number of values asked for, if any. */
  readonly history: number;
  readonly historyValues: number | undefined;
}

/** How many held-out values each purpose has, in the order in which they come. */
export interface HoldoutSettings {
  /** Values that choose θ and, by default, give the first prediction. */
  readonly choosing: number;
  /** Values after them that decide whether one level less is skipped. */
  readonly probing: number;
  readonly warmStart: boolean;
  /** Values after them that give the first prediction. */
  readonly warming: number;
  /** Values after those that are held out and not used at all (firstTree.ts). */
  readonly idle: number;
}

/** Choices that cost no privacy: how blocks are predicted, and where kernels run. */
export interface OutputSettings {
  readonly smoother: SmootherChoice;
  readonly name: string;
  readonly core: CoreChoice;
}

/** Options of a stream of values with every default filled in, by the part of the stream that reads them. */
export interface Settings {
  readonly privacy: PrivacySettings;
  readonly grid: GridSettings;
  readonly tree: TreeSettings;
  readonly holdout: HoldoutSettings;
  readonly output: OutputSettings;
}

/** As many values as the kernel of the paper's choice can stage; counters have more room. */
const MOST_STAGED = 2 ** 27;
const MOST_HOLDOUT = 2 ** 32;

export function resolveSettings(asked: StreamOptions): Settings {
  return withDrawing(resolveReading(asked));
}

/** Settings of systems that do not draw ahead: every held-out value may be read. */
export function resolveReading(asked: StreamOptions): Settings {
  const options = ownOptions("options", asked, STREAM_OPTIONS);
  const tuning = ownOptions("tuning", options.tuning ?? {}, TUNING);
  const epsilon = checkPositive("epsilon", options.epsilon);
  const { min, max, width } = checkBounds(options.min ?? 0, options.max);
  const variant = checkChoice("variant", options.variant ?? "default", ["default", "paper"]);
  const fanout = checkInteger("tuning.fanout", tuning.fanout ?? 16, 2, 64);
  const maxRange = checkInteger("maxRange", options.maxRange ?? 2 ** 20, fanout, 2 ** 40);
  const coarse = coarseGrid(width);
  const usual = variant === "paper" ? coarse : fineGrid(width);
  const resolution = checkPositive("tuning.resolution", tuning.resolution ?? usual);
  if (resolution > width)
    throw new RangeError(
      `tuning.resolution: expected at most ${min === 0 ? "max" : "max − min"} = ${width}, got ${resolution}`,
    );
  const rule = tuning.skipLevels ?? (variant === "paper" ? "paper" : "auto");
  if (typeof rule !== "number") checkChoice("tuning.skipLevels", rule, ["auto", "paper"]);
  const threshold = checkThreshold(options.threshold ?? "noisy-max", min, max, resolution);
  const tree = shapeOf(skippedLevels(rule, epsilon, maxRange, fanout), maxRange, fanout, options.history);
  const follow = checkFollow(tuning.follow, epsilon, maxRange, fanout, threshold, variant);
  const reading: Settings = {
    holdout: holdoutOf(options.holdout, tuning.warmStart ?? variant !== "paper", threshold, variant),
    grid: {
      ...{ min, max, width, resolution, coarsened: false },
      ...thresholdGrid(tuning.thresholdStep, width, tuning.resolution ?? coarse, variant),
    },
    privacy: {
      ...{ epsilon, variant, threshold, follow },
      refine: checkRefine(tuning.refine ?? false, follow, fanout ** (levelCount(maxRange, fanout) - 1)),
      unsafeSeed: options.unsafeSeed === undefined ? undefined : checkText("unsafeSeed", options.unsafeSeed),
    },
    tree,
    output: {
      smoother: checkSmoother(options.smoother ?? (variant === "paper" ? "recent" : "shrunk")),
      name: checkText("name", options.name ?? ""),
      core: checkChoice("core", options.core ?? "auto", ["auto", "wasm", "js"]),
    },
  };
  checkFarFromZero(reading.grid);
  const settings = rule === "auto" ? withProbe(reading) : reading;
  return tuning.resolution === undefined ? withExactGrid(settings, coarse) : checked(settings);
}

function checkBounds(min: unknown, max: unknown): Pick<GridSettings, "min" | "max" | "width"> {
  if (typeof min !== "number" || !Number.isFinite(min))
    throw new RangeError(`min: expected a finite number, got ${shown(min)}`);
  if (min === 0) return { min: 0, max: checkPositive("max", max), width: max as number };
  if (typeof max !== "number" || !(max > min && max - min < Infinity))
    throw new RangeError(`max: expected a finite number above min = ${min}, got ${shown(max)}`);
  return { min, max, width: max - min };
}

/** Steps of the grid up to the bound that is farthest from 0: a value less `min` is rounded far finer than the grid is. */
const MOST_STEPS = 2 ** 40;

function checkFarFromZero({ min, max, resolution }: GridSettings): void {
  const steps = Math.max(Math.abs(min), Math.abs(max)) / resolution;
  if (min !== 0 && steps > MOST_STEPS)
    throw new RangeError(
      `min: expected bounds within 2^40 times the resolution ${resolution} of 0, got ${min} and max = ${max}; take a coarser tuning.resolution, or subtract a constant from the values`,
    );
}

/** The shapes that the hold-out may decide on. */
const shapesOf = (settings: Settings): Settings[] =>
  settings.holdout.probing === 0 ? [settings] : [settings, withSkipped(settings, settings.tree.skipped - 1)];

/** Fails unless sums stay exact. */
function checked(settings: Settings): Settings {
  for (const shape of shapesOf(settings)) checkExactRange(shape);
  return settings;
}

/** The finest grid from the usual one up to a coarse one on which sums stay exact. */
function withExactGrid(settings: Settings, coarse: number): Settings {
  const fits = shapesOf(settings).every((shape) => exactRangeError(shape) === undefined);
  const { grid, privacy } = settings;
  if (fits || grid.resolution >= coarse) return checked(settings);
  const resolution = 2 * grid.resolution;
  checkThreshold(privacy.threshold, grid.min, grid.max, resolution);
  return withExactGrid({ ...settings, grid: { ...grid, resolution, coarsened: true } }, coarse);
}

function checkFollow(
  asked: unknown,
  epsilon: number,
  maxRange: number,
  fanout: number,
  threshold: "noisy-max" | number,
  variant: PrivacySettings["variant"],
): boolean {
  const possible = variant === "default" && threshold === "noisy-max";
  if (asked === undefined)
    return possible && canFollow(epsilon, fanout ** (levelCount(maxRange, fanout) - 1));
  if (typeof asked !== "boolean")
    throw new TypeError(`tuning.follow: expected true or false, got a value of type ${typeof asked}`);
  if (asked && !possible)
    throw new TypeError(
      'tuning.follow: expected false; a public threshold and variant "paper" keep θ as it is',
    );
  return asked;
}

/** One value for every purpose of the counts (thresholdCounts.ts). */
const LEAST_REFINING = 32;

/** @param values of a tree */
function checkRefine(asked: unknown, follow: boolean, values: number): boolean {
  if (typeof asked !== "boolean")
    throw new TypeError(`tuning.refine: expected true or false, got a value of type ${typeof asked}`);
  if (asked && !follow)
    throw new TypeError(
      "tuning.refine: expected false where θ does not follow the stream; a tree of maxRange/fanout values needs 320/ε of them for that",
    );
  if (asked && values < LEAST_REFINING)
    throw new RangeError(
      `tuning.refine: expected trees of at least ${LEAST_REFINING} values, got ${values}; raise maxRange`,
    );
  return asked;
}

/** Hold-outs of 16 probes and more spend their last values on one (probe.ts). */
function withProbe(settings: Settings): Settings {
  const { privacy, tree, holdout } = settings;
  const probing = tree.fanout ** (tree.levels + tree.skipped - 2);
  const room = holdout.choosing >= 16 * probing;
  if (privacy.variant === "paper" || privacy.threshold !== "noisy-max" || tree.skipped === 0 || !room)
    return settings;
  return { ...settings, holdout: { ...holdout, choosing: holdout.choosing - probing, probing } };
}

function checkThreshold(
  threshold: unknown,
  min: number,
  max: number,
  resolution: number,
): "noisy-max" | number {
  if (threshold === "noisy-max") return threshold;
  if (typeof threshold !== "number")
    throw new TypeError(`threshold: expected "noisy-max" or a number, got ${shown(threshold)}`);
  if (!(threshold >= min + resolution && threshold <= max))
    throw new RangeError(
      `threshold: expected ${min === 0 ? "" : `min ${min} + `}resolution ${resolution} ≤ θ ≤ max ${max}, got ${threshold}`,
    );
  return threshold;
}

function holdoutOf(
  asked: number | undefined,
  warmStart: boolean,
  threshold: "noisy-max" | number,
  variant: PrivacySettings["variant"],
): HoldoutSettings {
  if (typeof warmStart !== "boolean")
    throw new TypeError(`tuning.warmStart: expected true or false, got a value of type ${typeof warmStart}`);
  const fixed = threshold !== "noisy-max";
  const paper = variant === "paper";
  const total = checkInteger(
    "holdout",
    asked ?? (fixed ? 0 : 65536),
    fixed ? 0 : paper ? 1 : LEAST_HOLDOUT,
    paper && !fixed ? MOST_STAGED : MOST_HOLDOUT,
  );
  const none = { probing: 0, warmStart, idle: 0 };
  if (fixed) return { ...none, choosing: 0, warming: warmStart ? total : 0, idle: warmStart ? 0 : total };
  const warming = warmStart && paper ? Math.floor(total / 8) : 0;
  return { ...none, choosing: total - warming, warming };
}

const CANDIDATES = 2 ** 16;
/** The paper's kernel takes up to this many candidates when a caller sets a finer step. */
const MOST_CANDIDATES = 2 ** 20;

function thresholdGrid(
  asked: number | undefined,
  max: number,
  resolution: number,
  variant: PrivacySettings["variant"],
): Pick<GridSettings, "thresholdStep" | "candidates"> {
  if (variant !== "paper") {
    if (asked === undefined) return { thresholdStep: resolution, candidates: 0 };
    throw new TypeError(
      'tuning.thresholdStep: expected none; only variant "paper" has evenly spaced candidates',
    );
  }
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
