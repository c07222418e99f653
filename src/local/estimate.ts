/** From a histogram of window reports to the distribution of the values and the best θ: EM, then what the tail may be. */
import type { SquareWave } from "../core/core.js";
import { predictor } from "../core/js/squareWave.js";
import type { Mechanism } from "../core/tables/sectors.js";
import { makeTransition } from "../core/tables/transition.js";
import { acceleratedEstimate } from "./acceleratedEm.js";
import { type EmResult, estimate, likelihoods, pauses, type RunOptions } from "./em.js";
import { BINS } from "./mechanisms.js";
import { cellProbabilities } from "./moments.js";
import type { ReportHistogram } from "./sharesBelow.js";
import { resolutionOf } from "./tails.js";
import { chooseThreshold, type Objective, type Tail, type ThresholdChoice } from "./threshold.js";

export interface DistributionOptions extends RunOptions {
  /** An earlier distribution of the same stream, to start from when more reports came: fewer updates. */
  readonly from?: { readonly shares: Float64Array } | undefined;
}

/** Share of the uniform distribution in a start: EM cannot raise a share that is 0. */
const UNIFORM_PART = 1e-3;

/** A distribution of the caller's as one that EM can start from. */
export function startFrom({ shares }: { readonly shares: Float64Array }): Float64Array {
  const start = shares instanceof Float64Array ? new Float64Array(shares) : new Float64Array(0);
  const sum = start.reduce((a, b) => a + b, 0);
  if (start.length !== BINS || start.some((share) => !(share >= 0)) || !(sum > 0 && sum < Infinity))
    throw new TypeError(`from: expected a distribution of ${BINS} bins, as distribution() gives it`);
  return start.map((share) => (1 - UNIFORM_PART) * (share / sum) + UNIFORM_PART / BINS);
}

export interface Estimated {
  /** EM's estimate. */
  readonly found: EmResult;
  /** The distribution that `tail` makes of it, and the best θ. */
  readonly choice: ThresholdChoice;
  /** Histogram of reports, from which intervals of percentiles come. */
  readonly histogram: ReportHistogram;
}

/** How the distribution is estimated, and what θ is to serve. */
export interface EstimateSettings {
  readonly estimator: "em" | "ems";
  readonly tail: Tail;
  readonly objective: Objective;
  /** Reports that an answer is expected to span, r. */
  readonly maxRange: number;
}

/**
 * @param counts reports per output bin
 * @param mechanism that made them: a window alone
 * @param release the mechanism of the reports that θ is for
 * @param from an earlier estimate to start EM from; without one the result depends on the counts alone
 */
export async function estimateFrom(
  core: SquareWave,
  counts: Float64Array,
  mechanism: Mechanism,
  release: Mechanism,
  settings: EstimateSettings,
  run: RunOptions,
  from?: Float64Array,
): Promise<Estimated> {
  const { estimator } = settings;
  const { inside, outside } = cellProbabilities(mechanism);
  const transition = makeTransition(BINS, BINS, mechanism.width / BINS, inside, outside);
  const steps = (estimates: Float64Array, predicted: Float64Array) =>
    core.emSteps(transition, counts, estimator === "ems", estimates, predicted);
  const start = from ?? new Float64Array(BINS).fill(1 / BINS);
  const found = await (estimator === "em"
    ? acceleratedEstimate(steps, counts, start, run)
    : estimate(steps, counts, run));
  const reports = counts.reduce((a, b) => a + b, 0);
  const evidence = {
    shares: found.shares,
    resolution: resolutionOf(mechanism.epsilon, reports),
    logLikelihood: likelihoods(transition, counts),
  };
  const pause = pauses(run);
  const choice = await chooseThreshold(evidence, settings, release, () => pause());
  const predicted = predictor(transition)(found.shares);
  return { found, choice, histogram: { mechanism, counts, predicted } };
}
