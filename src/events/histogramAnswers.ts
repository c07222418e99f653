/** What a histogram gives back, and what is computed from noisy counts alone. */
import { makeAnswer } from "../stream/answer.js";
import type { SnapshotKey } from "../stream/sealing.js";
import type { Window } from "./answers.js";
import { rankSpread } from "./buckets.js";
import type { Time } from "./duration.js";
import type { DroppedEvents, EventInfo } from "./intake.js";
import type { NoisyCounts, QuantileAnswer, ShareAnswer } from "./quantiles.js";
import type { EventStatement } from "./statement.js";

export interface HistogramQuery {
  /** Which percentiles, as shares: [0.5, 0.95, 0.99]. */
  readonly quantiles?: readonly number[];
  /** Of which values to tell the share of events below them. */
  readonly shares?: readonly number[];
  /** The probability that an interval holds its answer, each by itself. Default 0.95. */
  readonly confidence?: number;
}

/** Plain data: it survives JSON, structuredClone and postMessage. */
export interface HistogramAnswer extends Window {
  readonly confidence: number;
  /** How many events there were. */
  readonly total: {
    readonly value: number;
    readonly standardError: number;
    readonly low: number;
    readonly high: number;
  };
  /** Events per bucket: below the first edge, between edges, from the last edge on. May be negative: noise. */
  readonly counts: readonly number[];
  /** Standard deviation of the noise in each of them. */
  readonly countError: number;
  /** The mean of the middles of the buckets: off by up to half a bucket, and by more where values lie outside all edges. */
  readonly midpointMean: number | null;
  readonly quantiles: readonly QuantileAnswer[];
  readonly shares: readonly ShareAnswer[];
}

/** What a finished block publishes. */
export interface ClosedBlock {
  /** Its place among the blocks, from 0. */
  readonly position: number;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  /** Events per bucket, as in an answer. */
  readonly counts: Float64Array;
}

export interface Histogram {
  /** Takes an event. It returns nothing, whatever happens to the event. */
  add(value: number, event?: EventInfo): void;
  /** Closes the ticks that are due at `now` (default: the clock) and gives the blocks that end with them. */
  advance(now?: Time): ClosedBlock[];
  /** Counts, percentiles and shares over [from, to). Parts that are not published, or no longer kept, are left out. */
  between(from: Time, to: Time, query?: HistogramQuery): HistogramAnswer;
  /** The edges of the buckets. */
  readonly edges: readonly number[];
  /** Ticks closed so far. */
  readonly closed: number;
  /** Private: how many events were dropped, and why. For the operator's eyes. */
  readonly dropped: DroppedEvents;
  readonly sequence: number;
  statement(): EventStatement;
  explain(): string;
  snapshot(key: SnapshotKey): Promise<Uint8Array>;
}

/** All events: every bucket counts once. */
export function totalOf(
  { counts, group, spread }: NoisyCounts,
  confidence: number,
): HistogramAnswer["total"] {
  const sum = counts.reduce((total, count) => total + count, 0);
  const weights = rankSpread(counts.length, group, counts.length, 0);
  const { standardError, low, high } = makeAnswer(
    sum,
    1,
    { variance: weights.variance * spread.variance, fourth: weights.fourth * spread.fourth },
    1,
    confidence,
  );
  return { value: sum, standardError, low, high };
}

export function midpointMean({ counts, edges }: NoisyCounts): number | null {
  const last = edges.length;
  const middle = (i: number): number =>
    i === 0 ? edges[0]! : i === last ? edges[last - 1]! : (edges[i - 1]! + edges[i]!) / 2;
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (!(total > 0)) return null;
  const mean = counts.reduce((sum, count, i) => sum + count * middle(i), 0) / total;
  return Math.min(edges[last - 1]!, Math.max(edges[0]!, mean));
}

/** A list of public numbers, each fit for its purpose. */
export function checkNumbers(
  name: string,
  list: unknown,
  fits: (x: number) => boolean,
  wanted: string,
): number[] {
  if (list === undefined) return [];
  if (!Array.isArray(list) || list.some((x) => typeof x !== "number" || !fits(x)))
    throw new RangeError(`${name}: expected a list of numbers ${wanted}`);
  return list as number[];
}
