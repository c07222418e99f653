/** Options of an aggregator, with checks and defaults. */
import { checkChoice, checkInteger, ownOptions } from "../../core/checks.js";
import type { CoreChoice } from "../../core/choose.js";
import { checkMax, checkThreshold } from "../channel.js";
import { checkLocalEpsilon } from "../mechanisms.js";
import type { Objective, Tail } from "../threshold.js";

export interface PaperOptions {
  /** Two phases, as in the paper. */
  readonly variant?: "paper";
  /** ε of every report. */
  readonly epsilon: number;
  /** Public upper bound of a value. */
  readonly max: number;
  /** Learn-reports wanted; θ is chosen from all of them. Default 65 536. */
  readonly holdout?: number;
  /** θ, where it is known already: release-reports are taken at once. One of the public thresholds. Default: it is learned. */
  readonly threshold?: number;
  /** Longest range that queries are expected to span, r: θ is chosen for it. Default 2²⁰. */
  readonly maxRange?: number;
  /** Published values that `range` can reach back to, 4 bytes each. Default `maxRange`, at most 2²⁷. */
  readonly history?: number;
  readonly core?: CoreChoice;
  /** Settings that few users need. */
  readonly tuning?: PaperTuning;
}

export interface PaperTuning {
  /** ε of the learn-reports, if they have another one. Default: `epsilon`. */
  readonly learnEpsilon?: number;
  /** "em": as it is. "ems": smoothed after every update. Default "em". */
  readonly estimator?: "em" | "ems";
  /**
   * Rule for the tail of the estimate: "models" averages over models of it (tails.ts), "paper" cuts it at 5 shares below
   * 0.01 %, "whole" leaves it. Default "models".
   */
  readonly tail?: Tail;
  /** "exact" averages over random ranges; "paper" is Eq. 8 as printed. Default "exact". */
  readonly objective?: Objective;
}

export const PAPER_OPTIONS = [
  ...([
    "variant",
    "epsilon",
    "max",
    "holdout",
    "threshold",
    "maxRange",
    "history",
    "core",
    "tuning",
  ] as const),
] satisfies (keyof PaperOptions)[];
const TUNING = ["learnEpsilon", "estimator", "tail", "objective"];

/** Options that choose the paper's variant. */
export interface PaperVariant extends PaperOptions {
  readonly variant: "paper";
}

/** Whether options choose a variant. There is one beside the default, and `settingsOf` refuses others. */
export const isPaper = (options: object): options is PaperVariant => Object.hasOwn(options, "variant");

/** All settings with their defaults. */
export type PaperSettings = Required<
  Omit<PaperOptions, "variant" | "core" | "tuning" | "threshold"> & PaperTuning
> & {
  /** θ, if it was given. */
  readonly threshold: number | undefined;
};

/** @param options own properties only */
export function settingsOf(options: PaperOptions): PaperSettings {
  checkChoice("variant", options.variant ?? "paper", ["paper"]);
  const tuning = ownOptions("tuning", options.tuning ?? {}, TUNING);
  const epsilon = checkLocalEpsilon("epsilon", options.epsilon);
  const maxRange = checkInteger("maxRange", options.maxRange ?? 2 ** 20, 1, 2 ** 40);
  const max = checkMax(options.max);
  return {
    epsilon,
    learnEpsilon: checkLocalEpsilon("learnEpsilon", tuning.learnEpsilon ?? epsilon),
    max,
    holdout: checkInteger("holdout", options.holdout ?? 65_536, 1, 2 ** 40),
    threshold: options.threshold === undefined ? undefined : checkThreshold(options.threshold, max),
    maxRange,
    estimator: checkChoice("estimator", tuning.estimator ?? "em", ["em", "ems"]),
    tail: checkChoice("tail", tuning.tail ?? "models", ["models", "paper", "whole"]),
    objective: checkChoice("objective", tuning.objective ?? "exact", ["exact", "paper"]),
    history: checkInteger("history", options.history ?? Math.min(maxRange, 2 ** 27), 1, 2 ** 27),
  };
}
