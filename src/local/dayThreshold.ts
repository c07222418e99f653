/**
 * θ of the next day, from the reports of the days before it, which are public:
 *
 *     first    when s ≤ 0.07: f times the θ of least regret (tails.ts) for 30 days of such reports,
 *              f = 1 + ½·min(1, 2500/n, (s/0.02)²) for n reports
 *     raise    2θ if more than 5 % of the values lie above ¾θ for certain, by the last day or by all days with this θ
 *     lower    θ/2 if at most 0.5 % lie above θ/2 for certain, by all days with this θ
 *
 * otherwise θ stays, so that days add up. "For certain": with 95 %. θ anew every midnight is a ratchet, which loses a third of the
 * mean in ten days. From few reports θ of least regret hides 4 to 15 % of it, hence f = 1.5; from
 * many reports more than 1 costs noise and hides little less, for a day and for a month. research/notes/local-days.md has the figures.
 */
import type { SquareWave } from "../core/core.js";
import type { Mechanism } from "../core/tables/sectors.js";
import { BinomialBounds } from "./binomialBounds.js";
import { nearestThreshold } from "./channel.js";
import { binCells, type ReportCounts } from "./dayTally.js";
import type { RunOptions } from "./em.js";
import { type Estimated, estimateFrom } from "./estimate.js";
import { cellProbabilities } from "./moments.js";
import { SharesBelow } from "./sharesBelow.js";
import { resolutionOf } from "./tails.js";
import type { Tail } from "./threshold.js";

const FIRST_RESOLUTION = 0.07;
const MOST_ROOM = 0.5;
const FEW_REPORTS = 2500;
const FEW_RESOLUTION = 0.02;
const DAYS_SERVED = 30;
const HIGH = 0.05;
const RARE = 0.005;
const CONFIDENCE = 0.95;

/** The reports that θ follows. */
export interface Followed {
  readonly theta: number;
  /** Whether a θ was chosen before. */
  readonly chosen: boolean;
  /** All reports with this θ since it holds, and on how many days they came. */
  readonly all: ReportCounts;
  readonly days: number;
  /** Those of the newest day. */
  readonly newest: ReportCounts;
}

/**
 * Estimates the distribution behind the reports of one θ.
 * @param served reports that an answer is expected to span
 */
export const estimateCounts = (
  core: SquareWave,
  { counts }: ReportCounts,
  mechanism: Mechanism,
  { tail = "models", served }: { readonly tail?: Tail; readonly served: number },
  run: RunOptions,
): Promise<Estimated> =>
  estimateFrom(
    core,
    counts,
    mechanism,
    mechanism,
    { estimator: "em", tail, objective: "exact", maxRange: served },
    run,
  );

/** f, the room above the θ of least regret that is chosen from so many reports. */
export const firstFactor = (epsilon: number, reports: number): number =>
  1 + MOST_ROOM * Math.min(1, FEW_REPORTS / reports, (resolutionOf(epsilon, reports) / FEW_RESOLUTION) ** 2);

/** θ for the next day; undefined: it stays, and is not chosen yet if it never was. */
export async function nextThreshold(
  core: SquareWave,
  { theta, chosen, all, days, newest }: Followed,
  mechanism: Mechanism,
  max: number,
  run: RunOptions = {},
): Promise<number | undefined> {
  if (!chosen) {
    const { epsilon } = mechanism;
    if (!(resolutionOf(epsilon, all.reports) <= FIRST_RESOLUTION)) return undefined;
    const served = (DAYS_SERVED * all.reports) / days;
    const { choice } = await estimateCounts(core, all, mechanism, { served }, run);
    return nearestThreshold(Math.min(max, firstFactor(epsilon, all.reports) * choice.share * theta), max);
  }
  if (theta < max && [newest, all].some((counts) => shareOnTop(counts, mechanism) > HIGH))
    return nearestThreshold(Math.min(max, 2 * theta), max);
  if (all.reports > 0 && (await isRareAbove(core, all, mechanism, run)))
    return nearestThreshold(theta / 2, max);
  return undefined;
}

/**
 * A lower bound on the share of values above ¾θ. An output in the top u ≤ W of the domain has probability q·u, and up to
 * (p − q)·u more for inputs within u of the top and for no others: with K of n outputs there, the share is at least
 * (lower(K) − q·u)/((p − q)·u).
 */
export function shareOnTop({ counts, reports }: ReportCounts, mechanism: Mechanism): number {
  if (reports === 0) return 0;
  const wide = binCells(mechanism);
  const bins = Math.floor(Math.min((mechanism.top + 1) / 4, mechanism.width) / wide);
  if (bins === 0) return 0;
  const { inside, outside } = cellProbabilities(mechanism);
  const cells = bins * wide - 1; // the last bin lacks one
  const top = counts.subarray(counts.length - bins).reduce((sum, count) => sum + count, 0);
  const least = new BinomialBounds(reports, CONFIDENCE).lower(top);
  return (least - outside * cells) / ((inside - outside) * cells);
}

async function isRareAbove(
  core: SquareWave,
  all: ReportCounts,
  mechanism: Mechanism,
  run: RunOptions,
): Promise<boolean> {
  const how = { tail: "whole", served: all.reports } as const;
  const { histogram } = await estimateCounts(core, all, mechanism, how, run);
  const middle = (mechanism.top + 1) / 2;
  return 1 - new SharesBelow(histogram, CONFIDENCE).lower(middle) <= RARE;
}
