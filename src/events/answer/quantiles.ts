/**
 * Percentiles and shares from noisy bucket counts, with intervals.
 *
 * Place j has j buckets below it: place 0 is below everything, place j ≥ 1 is the edge e_(j−1), place n is above
 * everything. The p-quantile is above place j exactly when D_j = (events below j) − p·(all events) is negative. D_j is a
 * weighted sum of noisy counts, so each place is a test of its own. Going up from below, the interval begins where the
 * first test fails to say "still below"; so only one test can be wrong, and the confidence is that of one test.
 */
import { noiseQuantile } from "../../stream/answer/answer.js";
import type { Spread } from "../../stream/answer/variance.js";
import { bucketOf, rankSpread } from "./buckets.js";
import { shareOf } from "./share.js";

/** Noisy counts of a range. */
export interface NoisyCounts {
  /** One per bucket: below e_0, between edges, from the last edge on. */
  readonly counts: Float64Array;
  readonly edges: Float64Array;
  /** Buckets to a group. */
  readonly group: number;
  /** Spread of the noise in one observed column. */
  readonly spread: Spread;
}

export interface QuantileAnswer {
  /** Which percentile: 0.95 for p95. */
  readonly p: number;
  /** The estimate, in units of the values; null if its interval is open. */
  readonly value: number | null;
  /** Lower edge of the whole buckets that hold the percentile; null if there is no edge below it. */
  readonly low: number | null;
  /** Upper edge of the whole buckets that hold the percentile; null if there is no edge above it. */
  readonly high: number | null;
}

export interface ShareAnswer {
  /** The value that the share lies below, in units of the values. */
  readonly x: number;
  /** The share of events below x; null if its interval says nothing. */
  readonly value: number | null;
  /** Lower end of the interval of the share, from 0 to 1. */
  readonly low: number;
  /** Upper end of the interval of the share, from 0 to 1. */
  readonly high: number;
}

/** How a bucket's events are spread inside it. */
type Shape = (part: number) => number;

export function quantileOf(noisy: NoisyCounts, p: number, confidence: number): QuantileAnswer {
  const { edges } = noisy;
  const n = noisy.counts.length;
  const below = cumulative(noisy.counts);
  const deviation = (j: number): number => below[j]! - p * below[n]!;
  const reach = (j: number): number => reachAt(noisy, j, p, confidence);
  // Both stop: D_0 is −p·total and D_n is (1 − p)·total, so one of them is not below 0, and one is not above it.
  let bottom = 0; // the first place that may be above the quantile
  while (deviation(bottom) + reach(bottom) < 0) bottom++;
  let top = n; // the last place that may be below it
  while (deviation(top) - reach(top) > 0) top--;

  const edge = (place: number): number | null => (place <= 0 || place >= n ? null : edges[place - 1]!);
  const [low, high] = [edge(bottom - 1), edge(top + 1)];
  if (low === null || high === null) return { p, value: null, low, high };
  const smooth = monotone(below);
  const value = valueOf(smooth, edges, p, (bucket) => shapeOf(smooth, edges, bucket));
  return { p, value: Math.min(high, Math.max(low, value)), low, high };
}

/** The share of events below x. If x lies inside a bucket, the interval allows for any place of the bucket's events. */
export function shareBelow(noisy: NoisyCounts, x: number, confidence: number): ShareAnswer {
  const bucket = bucketOf(noisy.edges, x);
  const onEdge = bucket > 0 && noisy.edges[bucket - 1] === x;
  const least = shareAt(noisy, bucket, confidence);
  const most = onEdge ? least : shareAt(noisy, Math.min(noisy.counts.length, bucket + 1), confidence);
  const [low, high] = [least.low, most.high];
  if (low <= 0 && high >= 1) return { x, value: null, low, high };
  const part = onEdge ? 0 : partOf(noisy.edges, bucket, x);
  return {
    x,
    value: Math.min(high, Math.max(low, least.value + part * (most.value - least.value))),
    low,
    high,
  };
}

/** The share of events below a place. */
function shareAt({ counts, group, spread }: NoisyCounts, place: number, confidence: number) {
  const side = (from: number, to: number) => {
    const value = counts.subarray(from, to).reduce((sum, count) => sum + count, 0);
    const own = rankSpread(to - from, group, to - from, 0);
    return {
      value,
      spread: { variance: own.variance * spread.variance, fourth: own.fourth * spread.fourth },
    };
  };
  return shareOf(side(0, place), side(place, counts.length), confidence);
}

/** How far noise moves D_j at this confidence. */
function reachAt({ counts, group, spread }: NoisyCounts, j: number, p: number, confidence: number): number {
  const weights = rankSpread(counts.length, group, j, p);
  const variance = weights.variance * spread.variance;
  return (
    noiseQuantile(confidence, { variance, fourth: weights.fourth * spread.fourth }) * Math.sqrt(variance) +
    0.5
  );
}

/** Events below every place. */
function cumulative(counts: Float64Array): Float64Array {
  const below = new Float64Array(counts.length + 1);
  counts.forEach((count, i) => (below[i + 1] = below[i]! + count));
  return below;
}

/** The closest sequence that never falls (pool adjacent violators), cut to [0, its last]. */
export function monotone(values: Float64Array): Float64Array {
  const pools: { sum: number; size: number }[] = [];
  for (const value of values) {
    let pool = { sum: value, size: 1 };
    for (
      let last = pools.at(-1);
      last !== undefined && last.sum * pool.size >= pool.sum * last.size;
      last = pools.at(-1)
    ) {
      pool = { sum: pool.sum + last.sum, size: pool.size + last.size };
      pools.pop();
    }
    pools.push(pool);
  }
  const flat = pools.flatMap(({ sum, size }) => Array.from({ length: size }, () => Math.max(0, sum / size)));
  return Float64Array.from(flat, (value, i) => (i === 0 ? 0 : value));
}

function valueOf(
  smooth: Float64Array,
  edges: Float64Array,
  p: number,
  shape: (bucket: number) => Shape,
): number {
  const target = p * smooth.at(-1)!;
  let j = 0;
  while (smooth[j + 1]! < target) j++;
  return valueAt(edges, j, crossing(smooth[j]! - target, smooth[j + 1]! - target, shape(j)));
}

/** Where a curve from `from` < 0 to `to` ≥ 0 that rises as `shape` says passes 0: a part of the bucket. */
function crossing(from: number, to: number, shape: Shape): number {
  let [low, high] = [0, 1];
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2;
    if (from + (to - from) * shape(middle) < 0) low = middle;
    else high = middle;
  }
  return high;
}

/** Whether buckets are even on a scale of logarithms: all edges above 0. */
const onLogs = (edges: Float64Array): boolean => edges[0]! > 0;

/** The value at a part of bucket j; the buckets at both ends have one edge only. */
function valueAt(edges: Float64Array, j: number, part: number): number {
  if (j === 0) return edges[0]!;
  if (j >= edges.length) return edges[edges.length - 1]!;
  const [from, to] = [edges[j - 1]!, edges[j]!];
  return onLogs(edges) ? from * (to / from) ** part : from + (to - from) * part;
}

/** The other way round. */
function partOf(edges: Float64Array, j: number, x: number): number {
  if (j === 0 || j >= edges.length) return 0.5;
  const [from, to] = [edges[j - 1]!, edges[j]!];
  return onLogs(edges) ? Math.log(x / from) / Math.log(to / from) : (x - from) / (to - from);
}

/**
 * How the events of bucket j are spread: a monotone cubic through the cumulative counts (Fritsch and Carlson 1980), from
 * 0 to 1. Straight lines would put a percentile off by an eighth of how much two neighbouring buckets differ.
 */
function shapeOf(smooth: Float64Array, edges: Float64Array, j: number): Shape {
  const rise = smooth[j + 1]! - smooth[j]!;
  if (!(rise > 0) || j === 0 || j >= edges.length) return (part) => part;
  const width = (k: number): number =>
    onLogs(edges) ? Math.log(edges[k]! / edges[k - 1]!) : edges[k]! - edges[k - 1]!;
  const slope = (k: number): number => (smooth[k + 1]! - smooth[k]!) / width(k);
  /** Slope at the place between buckets k − 1 and k: the weighted harmonic mean, which keeps the curve rising. */
  const between = (k: number): number => {
    if (k <= 1 || k >= edges.length) return slope(j);
    const [a, b] = [slope(k - 1), slope(k)];
    if (!(a > 0 && b > 0)) return 0;
    const [wa, wb] = [2 * width(k) + width(k - 1), width(k) + 2 * width(k - 1)];
    return (wa + wb) / (wa / a + wb / b);
  };
  const unit = slope(j);
  const [m0, m1] = [between(j) / unit, between(j + 1) / unit];
  return (u) => u * u * (3 - 2 * u) + m0 * u * (1 - u) ** 2 - m1 * u * u * (1 - u);
}
