/**
 * The public buckets of a histogram, and the groups that make its percentiles precise.
 *
 * Edges e_0 < … < e_K make K buckets [e_i, e_(i+1)), one below e_0 and one from e_K on. A percentile needs the sum of
 * many buckets, and so the noise of many. Groups of g neighbouring buckets are therefore counted too: an event is in
 * one bucket and one group, at half of ε each, and a sum takes whole groups where it can.
 */
import { checkInteger, checkPositive, ownOptions, shown } from "../../core/checks.js";
import type { Spread } from "../../stream/answer/variance.js";

/** Edges in ascending order, or how to make them. */
export type Edges = readonly number[] | EdgeRule;

export interface EdgeRule {
  /** The lower edge of the first bucket, above 0. Smaller values share one bucket. */
  readonly min: number;
  /** The upper edge of the last bucket. Values from here on share one bucket. */
  readonly max: number;
  /** How many buckets lie between; each is wider than the one before by the same factor. Default 64. */
  readonly buckets?: number;
}

const MOST_BUCKETS = 4096;

export function resolveEdges(edges: unknown): Float64Array {
  if (Array.isArray(edges) || edges instanceof Float64Array)
    return checkEdges(Float64Array.from(edges as unknown[], checkEdge));
  const { min, max, buckets } = ownOptions("edges", edges as EdgeRule, ["min", "max", "buckets"]);
  const low = checkPositive("edges.min", min);
  const high = checkPositive("edges.max", max);
  if (!(high > low)) throw new RangeError(`edges.max: expected more than edges.min = ${low}, got ${high}`);
  const count = checkInteger("edges.buckets", buckets ?? 64, 1, MOST_BUCKETS);
  const step = Math.log(high / low) / count;
  return checkEdges(
    Float64Array.from({ length: count + 1 }, (_, i) => (i === count ? high : low * Math.exp(i * step))),
  );
}

function checkEdge(edge: unknown, i: number): number {
  if (typeof edge !== "number") throw new TypeError(`edges[${i}]: expected a number, got ${shown(edge)}`);
  return edge;
}

function checkEdges(edges: Float64Array): Float64Array {
  if (edges.length < 2 || edges.length > MOST_BUCKETS + 1)
    throw new RangeError(`edges: expected 2 to ${MOST_BUCKETS + 1} numbers, got ${edges.length}`);
  edges.forEach((edge, i) => {
    if (!Number.isFinite(edge) || (i > 0 && !(edge > edges[i - 1]!)))
      throw new RangeError(
        `edges[${i}]: expected finite numbers in ascending order, got ${i === 0 ? "" : `${edges[i - 1]} before `}${edge}`,
      );
  });
  return edges;
}

/**
 * How many edges are at most the value: 0 below the first, edges.length from the last on. A binary search whose steps
 * do not branch on the value: no guess of the processor can be wrong, and the time says nothing about the value.
 */
export function bucketOf(edges: Float64Array, value: number): number {
  let below = 0;
  for (let left = edges.length; left > 0;) {
    const half = (left + 1) >> 1;
    below += half & -+(edges[below + half - 1]! <= value);
    left -= half;
  }
  return below;
}

/**
 * How many buckets make a group, for n buckets; 1: no groups, and all of ε for the buckets. The size of least noise
 * in "how many are below here, less the share p of all", averaged over the edges, each at its own p. Groups make the
 * count of a single bucket worse (3.4 times the variance at 64 buckets), so they must save a third of that noise:
 * 64 buckets have none, 1024 have groups of 27 for a quarter of it. Memoises every answer: each takes n^1.5 steps (1 ms at 256).
 */
export function groupSize(n: number): number {
  const known = groupSizes.get(n);
  if (known !== undefined) return known;
  let [best, least] = [1, (2 / 3) * meanRankNoise(n, 1)];
  for (let g = 2; g <= 2 * Math.sqrt(n); g++) {
    const noise = meanRankNoise(n, g);
    if (noise < least) [best, least] = [g, noise];
  }
  groupSizes.set(n, best);
  return best;
}
/** At most one entry per number of buckets. */
const groupSizes = new Map<number, number>();

/** Mean variance of a rank, in units of a bucket's variance at all of ε; with groups, half of ε makes it four times as much. */
export function meanRankNoise(n: number, g: number): number {
  let sum = 0;
  for (let j = 1; j < n; j++) sum += rankSpread(n, g, j, j / n).variance;
  return ((g === 1 ? 1 : 4) * sum) / (n - 1);
}

/**
 * Spread of Σ_{i<j} ĉ_i − p·Σ_i ĉ_i over n buckets in groups of g, where every bucket and group was observed with a
 * variance and a fourth cumulant of 1. Least squares in a group of m with observations x_i and d is
 * ĉ_i = x_i + (d − Σx)/(m + 1); so for weights a_i with sum A, x_i counts a_i − A/(m + 1) and d counts A/(m + 1).
 */
export function rankSpread(n: number, g: number, j: number, p: number): Spread {
  const step = g === 1 ? n : g;
  const [whole, cut] = [Math.floor(n / step), Math.min(n - 1, j)];
  let [variance, fourth] = [0, 0];
  const count = (times: number, weight: number): void => {
    variance += times * weight ** 2;
    fourth += times * weight ** 4;
  };
  /** Groups of `size` buckets with `below` of them below the rank. */
  const groups = (times: number, size: number, below: number): void => {
    const shared = g === 1 ? 0 : (below - size * p) / (size + 1);
    count(times * below, 1 - p - shared);
    count(times * (size - below), -p - shared);
    count(times, shared);
  };
  // At most one group is cut in two, and the last one may be shorter: the others are alike.
  const split = Math.floor(cut / step);
  const below = Math.min(split, whole);
  groups(below, step, step);
  if (split < whole) groups(1, step, j - split * step);
  groups(Math.max(0, whole - split - 1), step, 0);
  const rest = n - whole * step;
  if (rest > 0) groups(1, rest, Math.max(0, j - whole * step));
  return { variance, fourth };
}

/** Columns of a period: n buckets, then their groups. */
export function columnCount(n: number, g: number): number {
  return g === 1 ? n : n + Math.ceil(n / g);
}

/** Turns estimates of buckets and groups into estimates of buckets alone, by least squares. */
export function bucketCounts(columns: Float64Array, n: number, g: number): Float64Array {
  const counts = columns.slice(0, n);
  if (g === 1) return counts;
  for (let start = 0, group = n; start < n; start += g, group++) {
    const end = Math.min(n, start + g);
    let sum = 0;
    for (let i = start; i < end; i++) sum += columns[i]!;
    const share = (columns[group]! - sum) / (end - start + 1);
    for (let i = start; i < end; i++) counts[i]! += share;
  }
  return counts;
}
