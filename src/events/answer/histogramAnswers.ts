/** Answers of a histogram, computed from noisy counts alone. */
import { checkConfidence, ownOptions } from "../../core/checks.js";
import {
  estimateOf,
  type Limited,
  limitedIn,
  type PeriodStream,
  spreadIn,
  type Window,
  windowOf,
} from "./answers.js";
import { bucketCounts, rankSpread } from "./buckets.js";
import type { EventInfo } from "../eventInfo.js";
import type { EventMetric } from "../eventMetric.js";
import {
  type NoisyCounts,
  type QuantileAnswer,
  quantileOf,
  type ShareAnswer,
  shareBelow,
} from "./quantiles.js";
import type { Range } from "./queries.js";
import type { Published } from "../release.js";

export interface HistogramQuery {
  /** Which percentiles, as shares: [0.5, 0.95, 0.99]. */
  readonly quantiles?: readonly number[];
  /** Values to tell the share of events below them. */
  readonly shares?: readonly number[];
  /** The probability that an interval holds its answer, each by itself. Default 0.95. */
  readonly confidence?: number;
}

/** Plain data: it survives JSON, structuredClone and postMessage. */
export interface HistogramAnswer extends Window {
  /** The probability that each interval holds its true answer, whatever the data. */
  readonly confidence: number;
  /** How many events there were, from all buckets: a counter beside the histogram has less noise. Null if nothing was measured. */
  readonly total: {
    readonly value: number;
    readonly standardError: number;
    readonly low: number;
    readonly high: number;
  } | null;
  /** Events per bucket: below the first edge, between edges, from the last edge on. May be negative: noise. */
  readonly counts: readonly number[] | null;
  /** Standard deviation of the noise in each of them. */
  readonly countError: number | null;
  /** One answer per percentile that was asked for, in that order. */
  readonly quantiles: readonly QuantileAnswer[];
  /** One answer per share that was asked for, in that order. */
  readonly shares: readonly ShareAnswer[];
  /** People with events that were not counted, with `perPerson`. */
  readonly limited?: Limited;
}

export interface Histogram extends PeriodStream<HistogramAnswer, HistogramQuery> {
  /** Takes an event. It returns nothing, whatever happens to the event. */
  add(value: number, event?: EventInfo): void;
  /** The edges of the buckets. */
  readonly edges: readonly number[];
}

/** A query with every default filled in. */
export function checkQuery(query: HistogramQuery): Required<HistogramQuery> {
  const own = ownOptions("query", query, ["quantiles", "shares", "confidence"]);
  return {
    quantiles: checkNumbers("quantiles", own.quantiles, (p) => p > 0 && p < 1, "between 0 and 1"),
    shares: checkNumbers("shares", own.shares, Number.isFinite, "that are finite"),
    confidence: checkConfidence(own.confidence ?? 0.95),
  };
}

/** The answer of a histogram over the measured part of a range. @param release undefined before k is chosen */
export function histogramAnswer(
  metric: EventMetric,
  release: Published | undefined,
  asked: Range,
  { quantiles, shares, confidence }: Required<HistogramQuery>,
): HistogramAnswer {
  const { edges, group } = metric.settings.buckets!;
  const measured = release?.measure(...asked);
  const window = windowOf(metric, measured, asked);
  const limited = limitedIn(metric, asked, confidence);
  if (measured === undefined || measured.from === measured.to)
    return {
      ...window,
      confidence,
      ...{ total: null, counts: null, countError: null },
      quantiles: quantiles.map((p) => ({ p, value: null, low: null, high: null })),
      shares: shares.map((x) => ({ x, value: null, low: 0, high: 1 })),
      ...limited,
    };
  const spread = spreadIn(measured, metric.nodeNoise);
  const counts = bucketCounts(measured.sums, edges.length + 1, group);
  const noisy: NoisyCounts = { counts, edges, group, spread };
  const single = rankSpread(counts.length, group, 1, 0);
  return {
    ...window,
    confidence,
    total: totalOf(noisy, confidence),
    counts: Array.from(counts),
    countError: Math.sqrt(single.variance * spread.variance),
    quantiles: quantiles.map((p) => quantileOf(noisy, p, confidence)),
    shares: shares.map((x) => shareBelow(noisy, x, confidence)),
    ...limited,
  };
}

/** An answer without numbers, for a period that has none. */
export function blankHistogram(answer: HistogramAnswer, [from, to]: Range): HistogramAnswer {
  return {
    ...answer,
    ...{ from, to, total: null, counts: null, countError: null },
    quantiles: answer.quantiles.map(({ p }) => ({ p, value: null, low: null, high: null })),
    shares: answer.shares.map(({ x }) => ({ x, value: null, low: 0, high: 1 })),
  };
}

/** All events: every bucket counts once. */
export function totalOf(
  { counts, group, spread }: NoisyCounts,
  confidence: number,
): NonNullable<HistogramAnswer["total"]> {
  const value = counts.reduce((total, count) => total + count, 0);
  const weights = rankSpread(counts.length, group, counts.length, 0);
  const own = { variance: weights.variance * spread.variance, fourth: weights.fourth * spread.fourth };
  const { standardError, low, high } = estimateOf({ value, spread: own }, 1, confidence);
  return { value, standardError: standardError!, low: low!, high: high! };
}

/** A list of public numbers, each fit for its purpose. */
function checkNumbers(name: string, list: unknown, fits: (x: number) => boolean, wanted: string): number[] {
  if (list === undefined) return [];
  if (!Array.isArray(list) || list.some((x) => typeof x !== "number" || !fits(x)))
    throw new RangeError(`${name}: expected a list of numbers ${wanted}`);
  return list as number[];
}
