/** From a histogram of learn-reports to the distribution of the values and the best θ: EM, then what the tail may be. */
import type { SquareWave } from "../core/core.js";
import type { Mechanism } from "../core/tables/sectors.js";
import { makeTransition } from "../core/tables/transition.js";
import { type Estimate, estimate, likelihoods, pauses, type RunOptions } from "./em.js";
import { BINS, hybrid } from "./mechanisms.js";
import { cellProbabilities } from "./moments.js";
import type { ReportHistogram } from "./percentiles.js";
import type { LocalSettings } from "./settings.js";
import { resolutionOf } from "./tails.js";
import { chooseThreshold, type ThresholdChoice } from "./threshold.js";

export interface Estimated {
  /** EM's estimate. */
  readonly found: Estimate;
  /** The distribution that `tail` makes of it, and the best θ. */
  readonly choice: ThresholdChoice;
  /** What intervals of percentiles come from. */
  readonly histogram: ReportHistogram;
}

/** @param counts learn-reports per output bin */
export async function estimateFrom(
  core: SquareWave,
  counts: Float64Array,
  mechanism: Mechanism,
  settings: LocalSettings,
  run: RunOptions,
): Promise<Estimated> {
  const { epsilon, estimator } = settings;
  const { inside, outside } = cellProbabilities(mechanism);
  const transition = makeTransition(BINS, BINS, mechanism.width / BINS, inside, outside);
  const steps = (estimates: Float64Array, predicted: Float64Array) =>
    core.emSteps(transition, counts, estimator === "ems", estimates, predicted);
  const found = await estimate(steps, counts, run);
  const reports = counts.reduce((a, b) => a + b, 0);
  const evidence = {
    shares: found.shares,
    resolution: resolutionOf(mechanism.epsilon, reports),
    logLikelihood: likelihoods(steps, counts),
  };
  const pause = pauses(run);
  const choice = await chooseThreshold(evidence, settings, hybrid(epsilon), () => pause());
  const estimates = new Float64Array(2 * BINS);
  const predicted = new Float64Array(BINS);
  estimates.set(found.shares);
  steps(estimates, predicted);
  return { found, choice, histogram: { mechanism, counts, predicted } };
}
