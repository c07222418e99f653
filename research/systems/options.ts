/** Options of a baseline, checked, with every default filled in. */
import { checkChoice, ownOptions } from "../../src/core/checks.js";
import { given } from "../../src/core/given.js";
import {
  heldOut,
  resolveReading,
  type Settings,
  type StreamOptions,
  type Tuning,
} from "../../src/stream/options.js";
import { HIERARCHIES } from "./hierarchies.js";
import type { Hierarchy, PublishSettings } from "./hierarchy.js";
import { METHOD_NAMES, METHODS, type MethodName, type ThresholdName } from "./methods.js";

/** Options that a baseline shares with ToPS. */
const SHARED = ["epsilon", "max", "holdout", "maxRange", "history", "variant", "core", "unsafeSeed"] as const;
const SHARED_TUNING = ["resolution", "thresholdStep", "skipLevels"] as const;

type SharedOptions = Pick<StreamOptions, (typeof SHARED)[number]>;

export interface ComparisonOptions extends SharedOptions, Pick<StreamOptions, "smoother"> {
  readonly tuning?: Pick<Tuning, (typeof SHARED_TUNING)[number]>;
  /** Which system. */
  readonly method: MethodName;
  /** θ, in place of what the method does by itself: a rule, or a public number that you know without looking at the data. */
  readonly threshold?: Exclude<ThresholdName, "max"> | number;
  /** p of the rules that aim at a percentile: 0 < p < 1. Default 0.995, and 0.99575 for S-PAK. */
  readonly percentile?: number;
  /** δ of S-P, S-PAK and Gaussian noise. Default 1/n², n = holdout + maxRange. */
  readonly delta?: number;
  /** Says that you know that the threshold "percentile" is not private at all; without it nothing is made. */
  readonly notPrivate?: boolean;
}

const COMPARISON_OPTIONS: readonly (keyof ComparisonOptions)[] = [
  "method",
  ...SHARED,
  ...(["smoother", "tuning", "threshold", "percentile", "delta", "notPrivate"] as const),
];

export interface ComparisonSettings extends PublishSettings {
  readonly method: MethodName;
  readonly rule: Exclude<ThresholdName, "max"> | "fixed";
  readonly hierarchy: Hierarchy;
  readonly percentile: number;
}

export function resolveComparison(asked: ComparisonOptions): ComparisonSettings {
  const options = ownOptions("options", asked, COMPARISON_OPTIONS);
  const method = checkChoice("method", options.method, METHOD_NAMES);
  const hierarchy: Hierarchy = HIERARCHIES[METHODS[method].hierarchy];
  const threshold = checkRule(options, METHODS[method].threshold);
  const fixed = threshold === "max" ? options.max : threshold;
  const tuning = ownOptions("tuning", options.tuning ?? {}, SHARED_TUNING);
  const predicting = { smoother: options.smoother, "tuning.skipLevels": tuning.skipLevels };
  for (const [name, value] of Object.entries(predicting))
    if (!hierarchy.skips && value !== undefined)
      throw new TypeError(`${name}: method "${method}" predicts nothing; leave it out`);

  const settings = resolveReading({
    ...(given(options, [...SHARED, "smoother"]) as SharedOptions),
    threshold: typeof fixed === "number" ? fixed : "noisy-max",
    variant: "paper", // NM-E is the paper's rule
    tuning: {
      ...tuning,
      fanout: hierarchy.fanout,
      warmStart: false,
      skipLevels: hierarchy.skips
        ? (tuning.skipLevels ?? (options.variant === "paper" ? "paper" : "auto"))
        : 0,
    },
  });
  const rule = typeof fixed === "number" ? "fixed" : (threshold as ComparisonSettings["rule"]);
  return {
    ...settings,
    tree: { ...settings.tree, levels: hierarchy.levels?.(settings.tree.maxRange) ?? settings.tree.levels },
    method,
    rule,
    hierarchy,
    percentile: percentileOf(options.percentile, rule),
    delta: deltaOf(options.delta, rule, hierarchy, settings),
  };
}

function checkRule(options: ComparisonOptions, usual: ThresholdName): ThresholdName | number {
  const { threshold, notPrivate } = options;
  if (typeof threshold === "number") return threshold;
  const rule =
    threshold === undefined
      ? usual
      : checkChoice("threshold", threshold, ["default", "noisy-max", "s-p", "s-pak", "percentile"]);
  if (notPrivate !== undefined && typeof notPrivate !== "boolean")
    throw new TypeError(`notPrivate: expected true or false, got a value of type ${typeof notPrivate}`);
  if (rule === "percentile" && notPrivate !== true)
    throw new TypeError(
      'notPrivate: the threshold "percentile" is a true percentile of the values, without any noise; pass notPrivate: true to study it all the same',
    );
  return rule;
}

function percentileOf(asked: number | undefined, rule: ComparisonSettings["rule"]): number {
  if (asked === undefined) return rule === "s-pak" ? 0.99575 : 0.995;
  if (typeof asked !== "number" || !(asked > 0 && asked < 1))
    throw new RangeError(`percentile: expected a number between 0 and 1, got ${asked}`);
  return asked;
}

function deltaOf(
  asked: number | undefined,
  rule: ComparisonSettings["rule"],
  { gaussian }: Hierarchy,
  settings: Settings,
): number {
  if (rule !== "s-p" && rule !== "s-pak" && gaussian !== true) return 0;
  if (asked === undefined) return 1 / (heldOut(settings) + settings.tree.maxRange) ** 2;
  if (typeof asked !== "number" || !(asked > 0 && asked < 1))
    throw new RangeError(`delta: expected a number between 0 and 1, got ${asked}`);
  return asked;
}
