/** Percentiles, shares and histograms of the values of some days, with intervals that cover, from the first report on. */
import type { Mechanism } from "../core/tables/sectors.js";
import type { Window } from "../events/answer/answers.js";
import { MixedShares, type SharedGroup } from "./mixedShares.js";
import { resolutionOf } from "./tails.js";

/** Reports of one θ, with the distribution that was estimated from them. */
export interface EstimatedGroup extends SharedGroup {
  /** Share of the values in each of 1024 bins of [0, θ]. */
  readonly shares: Float64Array;
}

export interface DayQuantile extends Window {
  readonly reports: number;
  readonly p: number;
  /** The estimate; null where the interval is all of [0, max], or the percentile lies above θ. */
  readonly value: number | null;
  /** low ≤ p-quantile ≤ high with probability `confidence`, whatever the distribution. Null without reports. */
  readonly low: number | null;
  /** `max`, if the percentile may lie above θ: values above it can be anywhere. */
  readonly high: number | null;
  readonly confidence: number;
}

export interface DayShare extends Window {
  readonly reports: number;
  readonly x: number;
  /** The share of values below x. */
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly confidence: number;
}

export interface LocalBin {
  readonly from: number;
  readonly to: number;
  /** The estimate. */
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

export interface LocalHistogram extends Window {
  readonly reports: number;
  /** Equal bins of [0, θ]; the last one holds the values above θ too. None without reports. */
  readonly bins: readonly LocalBin[];
  /** θ of the newest day. */
  readonly threshold: number | null;
  /** The probability that all bins lie between their `low` and `high` at once. */
  readonly confidence: number;
}

/** Estimated distribution from which questions are answered. */
export interface Distributed {
  readonly window: Window;
  /** Rising θ. */
  readonly groups: readonly EstimatedGroup[];
  readonly mechanism: Mechanism;
  readonly max: number;
  /** θ of the newest day: what a histogram spans. */
  readonly newest: number;
}

const reportsIn = ({ groups }: Distributed): number => groups.reduce((sum, { reports }) => sum + reports, 0);
const highest = ({ groups }: Distributed): number => groups.at(-1)!.theta;

/** The estimated share of values below x. */
function estimatedBelow(given: Distributed, x: number): number {
  const total = reportsIn(given);
  return given.groups.reduce((sum, { theta, reports, shares }) => {
    const place = Math.max(0, x / theta) * shares.length;
    const below = shares.reduce((all, share, j) => all + share * Math.min(1, Math.max(0, place - j)), 0);
    return sum + (reports / total) * below;
  }, 0);
}

/** Where the estimate reaches p: halving, to 2⁻³⁰ of θ. */
function estimatedQuantile(given: Distributed, p: number): number {
  let [low, high] = [0, highest(given)];
  for (let i = 0; i < 30; i++) {
    const middle = (low + high) / 2;
    if (estimatedBelow(given, middle) < p) low = middle;
    else high = middle;
  }
  return high;
}

const clamp = (x: number, low: number, high: number): number => Math.min(high, Math.max(low, x));

/**
 * The p-quantile. Going up from below, the interval begins where the first bound fails to say "still below"; so only one
 * bound can be wrong, and the same from above.
 */
export function dayQuantile(given: Distributed, p: number, confidence: number): DayQuantile {
  const { window, groups, mechanism, max } = given;
  const reports = reportsIn(given);
  if (reports === 0) return { ...window, reports, p, value: null, low: null, high: null, confidence };
  const theta = highest(given);
  const n = groups[0]!.shares.length;
  const edge = (bin: number): number => (bin * theta) / n;
  const below = new MixedShares(groups, mechanism, max, confidence);
  let bottom = 0;
  while (bottom < n - 1 && below.upper(edge(bottom + 1)) < p) bottom++;
  let top = n;
  while (top > bottom + 1 && below.lower(edge(top - 1)) > p) top--;
  const [low, high] = [edge(bottom), top === n ? max : edge(top)];
  const value = clamp(estimatedQuantile(given, p), low, high);
  const isOpen = (low === 0 && high === max) || (theta < max && value >= edge(n - 1));
  return { ...window, reports, p, value: isOpen ? null : value, low, high, confidence };
}

/** The share of values below x. */
export function dayShare(given: Distributed, x: number, confidence: number): DayShare {
  const { window, groups, mechanism, max } = given;
  const reports = reportsIn(given);
  if (reports === 0) return { ...window, reports, x, value: null, low: null, high: null, confidence };
  const below = new MixedShares(groups, mechanism, max, confidence);
  const [low, high] = [below.lower(x), below.upper(x)];
  const isOpen = low === 0 && high === 1;
  const value = isOpen ? null : clamp(x > max ? 1 : estimatedBelow(given, x), low, high);
  return { ...window, reports, x, value, low, high, confidence };
}

const FEWEST_BINS = 4;
const MOST_BINS = 32;
/** A bin is about this many times s wide, in shares. */
const SHOWN = 0.02;

/** A histogram with a band that holds as a whole: F at the k − 1 inner edges, each at 1 − (1 − confidence)/(k − 1). */
export function dayHistogram(given: Distributed, confidence: number): LocalHistogram {
  const { window, groups, mechanism, max, newest: theta } = given;
  const reports = reportsIn(given);
  if (reports === 0) return { ...window, reports, bins: [], threshold: null, confidence };
  const finest = Math.floor(Math.log2(SHOWN / resolutionOf(mechanism.epsilon, reports)));
  const k = clamp(2 ** finest, FEWEST_BINS, MOST_BINS);
  const edges = Array.from({ length: k + 1 }, (_, i) => (i * theta) / k);
  const below = new MixedShares(groups, mechanism, max, 1 - (1 - confidence) / (k - 1));
  const lower = edges.map((x, i) => (i === 0 ? 0 : i === k ? 1 : below.lower(x)));
  const upper = edges.map((x, i) => (i === 0 ? 0 : i === k ? 1 : below.upper(x)));
  for (let i = 1; i <= k; i++) lower[i] = Math.max(lower[i]!, lower[i - 1]!); // F rises
  for (let i = k - 1; i >= 0; i--) upper[i] = Math.min(upper[i]!, upper[i + 1]!);
  const estimated = edges.map((x, i) => (i === k ? 1 : estimatedBelow(given, x)));
  const bins = Array.from({ length: k }, (_, i): LocalBin => {
    const low = Math.max(0, lower[i + 1]! - upper[i]!);
    const high = Math.max(low, upper[i + 1]! - lower[i]!);
    const share = clamp(estimated[i + 1]! - estimated[i]!, low, high);
    return { from: edges[i]!, to: edges[i + 1]!, share, low, high };
  });
  return { ...window, reports, bins, threshold: theta, confidence };
}
