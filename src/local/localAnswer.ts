/** Answers of an aggregator of days. Plain data: it survives JSON, structuredClone and postMessage. */
import { madeOnce } from "../core/madeOnce.js";
import { predictor } from "../core/js/squareWave.js";
import type { Mechanism } from "../core/tables/sectors.js";
import { makeTransition } from "../core/tables/transition.js";
import type { Window } from "../events/answer/answers.js";
import type { ReportCounts } from "./dayTally.js";
import { sumInterval } from "./meanInterval.js";
import { BINS } from "./mechanisms.js";
import { MixedShares } from "./mixedShares.js";
import { cellProbabilities } from "./moments.js";

/** Share of values above θ: it counts values, not how much of them is removed. */
export interface ClippedShare {
  /** θ, the lowest of the days. */
  readonly threshold: number;
  /** The share of values that their day's θ clamped, or that are within θ/1024 of it. */
  readonly share: number;
  /** Lower end of the interval of the share. */
  readonly low: number;
  /** Upper end of the interval of the share. */
  readonly high: number;
}

/** The mean and the sum of the values of some days, clamped to the θ of their day. */
export interface LocalAnswer extends Window {
  /** Reports that the answer is made of. */
  readonly reports: number;
  /** Unbiased: reports·mean, and days add up. Null where the interval says nothing. */
  readonly sum: number | null;
  /** May lie outside of `low` … `high` where it is mostly noise: then the interval is what is known. */
  readonly mean: number | null;
  /** Lower end of an interval that holds the mean of the clamped values, whatever they are. */
  readonly low: number | null;
  /** Upper end of that interval. */
  readonly high: number | null;
  /** Standard error of `mean`. */
  readonly standardError: number | null;
  /** The probability that `low` and `high` hold the mean of the clamped values. */
  readonly confidence: number;
  /** Null where every value up to `max` counts. The interval does not cover what lies above θ. */
  readonly clipped: ClippedShare | null;
}

/** @param groups reports by θ, rising */
export function localAnswer(
  window: Window,
  groups: readonly ReportCounts[],
  mechanism: Mechanism,
  max: number,
  confidence: number,
): LocalAnswer {
  const reports = groups.reduce((sum, group) => sum + group.reports, 0);
  const clipped = clippedIn(groups, mechanism, max, confidence);
  if (reports === 0) return { ...window, reports, ...NOTHING, confidence, clipped };
  const { sum, low, high, standardError } = sumInterval(groups, mechanism, confidence);
  const most = groups.reduce((total, group) => total + group.theta * group.reports, 0);
  const isOpen = low === 0 && high === most;
  return {
    ...window,
    reports,
    sum: isOpen ? null : sum,
    mean: isOpen ? null : sum / reports,
    low: low / reports,
    high: high / reports,
    standardError: isOpen ? null : standardError / reports,
    confidence,
    clipped,
  };
}

const NOTHING = { sum: null, mean: null, low: null, high: null, standardError: null };

/** Windows of the bounds are chosen for values in the lower half: what came has no say. */
const typicalReports = madeOnce((mechanism: Mechanism) => {
  const { inside, outside } = cellProbabilities(mechanism);
  const transition = makeTransition(BINS, BINS, mechanism.width / BINS, inside, outside);
  return predictor(transition)(new Float64Array(BINS).fill(2 / BINS, 0, BINS / 2)).slice();
});

function clippedIn(
  groups: readonly ReportCounts[],
  mechanism: Mechanism,
  max: number,
  confidence: number,
): ClippedShare | null {
  const [lowest] = groups;
  if (lowest === undefined || lowest.theta === max) return null;
  const predicted = typicalReports(mechanism);
  const shared = groups.map((group) => ({ ...group, predicted }));
  const { estimate, bound, least } = new MixedShares(shared, mechanism, max, confidence).clipped();
  return { threshold: lowest.theta, share: estimate, low: least, high: bound };
}
