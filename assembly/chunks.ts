/**
 * Costs of the candidates for θ, in chunks of 2^β. Candidate a (from 0) stands for θ_(a+1), which a value of bin k exceeds
 * iff k > a. How many values lie above a chunk is counted for all chunks at once; how many lie above each candidate, only for
 * the few chunks that are looked into. Every number depends on how often each bin occurs, never on the order of the bins.
 * Twin: src/core/js/chunks.ts.
 */

import { HOPELESS_STRIDES } from "../src/core/layout";

/** A selection as it is put into the arena (layout.ts): what a value above θ costs, two factors of the penalty, and T. */
// @ts-ignore: decorator
@unmanaged
class Grid {
  countWeight: f64;
  penaltyFactor: f64;
  penaltyUnit: f64;
  stride: f64;
}

let grid: Grid = changetype<Grid>(0);
let n: u32 = 0;
let beta: u32 = 0;
let bins: usize = 0;
let m: u32 = 0;
let wide: bool = false;

/** Chunks of candidates; one entry more in each array below is for the values above all candidates. */
export let chunkCount: u32 = 0;
/** Chunks from here on have their values grouped. */
let groupedFrom: u32 = 0;
let open: u32 = 0;

// Arrays of u32 in scratch memory.
/** Values in chunk k. */
let inside: usize = 0;
/** Values in chunks above k. */
let above: usize = 0;
/** Values above each candidate of chunk `open`. */
let aboveEach: usize = 0;
/** Values in chunks ≥ groupedFrom, and the same grouped by chunk; chunk k's begin at starts[k]. */
let kept: usize = 0;
let grouped: usize = 0;
let starts: usize = 0;
/** Four tables of counters, or two of cursors. */
let tables: usize = 0;

// @ts-ignore: decorator
@inline
function tableEntries(n: u32, beta: u32): u32 {
  return max((n >> beta) + 2, 1 << beta);
}

/** Bytes of scratch memory for n candidates in chunks of 2^beta, and m values. */
export function chunksBytes(n: u32, beta: u32, m: u32): usize {
  return (8 * <usize>tableEntries(n, beta) + 2 * <usize>m) << 2;
}

/** @param values m bins, u32 if `u32s`, else u16 */
export function openChunks(
  selection: usize,
  candidates: u32,
  chunkBits: u32,
  values: usize,
  count: u32,
  u32s: bool,
  scratch: usize,
): void {
  grid = changetype<Grid>(selection);
  n = candidates;
  beta = chunkBits;
  bins = values;
  m = count;
  wide = u32s;
  chunkCount = (n + (1 << beta) - 1) >> beta;
  open = -1;
  const bytes = (<usize>tableEntries(n, beta)) << 2;
  inside = scratch;
  above = inside + bytes;
  aboveEach = above + bytes;
  starts = aboveEach + bytes;
  tables = starts + bytes;
  kept = tables + 4 * bytes;
  grouped = kept + ((<usize>m) << 2);
  if (wide) countChunks<u32>();
  else countChunks<u16>();
  sumAbove();
  groupFrom(firstHopeful());
}

/** Public cost of candidate i (1-based): never falls with i. */
// @ts-ignore: decorator
@inline
function penalty(i: u32): f64 {
  return floor<f64>(<f64>i * grid.penaltyFactor * grid.penaltyUnit + 0.5);
}

/** No candidate of chunk k costs less. */
// @ts-ignore: decorator
@inline
export function bound(k: u32): f64 {
  return grid.countWeight * <f64>at(above, k) + penalty((k << beta) + 1);
}

export function cheapestChunk(): u32 {
  let best: u32 = 0;
  let least = bound(0);
  for (let k: u32 = 1; k < chunkCount; k++) {
    const cost = bound(k);
    if (cost < least) {
      least = cost;
      best = k;
    }
  }
  return best;
}

/** The exact cost of candidate a of chunk k. */
export function cost(a: u32, k: u32): f64 {
  if (k < groupedFrom) groupFrom(0);
  if (k != open) openChunk(k);
  return grid.countWeight * <f64>at(aboveEach, a - (k << beta)) + penalty(a + 1);
}

/** inside[k] of every chunk. Four tables take turns: see `tally`. */
function countChunks<T>(): void {
  const entries = chunkCount + 1;
  const bytes = (<usize>entries) << 2;
  memory.fill(tables, 0, bytes << 2);
  let at = bins;
  const end = bins + <usize>m * sizeof<T>();
  for (const last = end - 4 * sizeof<T>(); m >= 4 && at <= last; at += 4 * sizeof<T>()) {
    count(tables, blockOf<T>(at));
    count(tables + bytes, blockOf<T>(at + sizeof<T>()));
    count(tables + 2 * bytes, blockOf<T>(at + 2 * sizeof<T>()));
    count(tables + 3 * bytes, blockOf<T>(at + 3 * sizeof<T>()));
  }
  for (; at < end; at += sizeof<T>()) count(tables, blockOf<T>(at));
  addTables(entries, inside);
}

/** The chunk of the bin at `at`. */
// @ts-ignore: decorator
@inline
function blockOf<T>(at: usize): u32 {
  const bin: u32 = load<T>(at);
  return select<u32>(chunkCount, bin >> beta, bin >= n);
}

/**
 * The first chunk that may well hold the winner: no earlier one has a candidate within HOPELESS_STRIDES of the lowest cost.
 * The answer affects speed alone.
 */
function firstHopeful(): u32 {
  let hopeless: f64 = Infinity;
  for (let k: u32 = 0; k < chunkCount; k++) {
    const last = min(n, (k + 1) << beta);
    hopeless = min(hopeless, grid.countWeight * <f64>at(above, k) + penalty(last));
  }
  hopeless += <f64>HOPELESS_STRIDES * grid.stride;
  let k: u32 = 0;
  while (k < chunkCount - 1 && bound(k) > hopeless) k++;
  return k;
}

/** Sorts the values of chunks ≥ first by chunk. */
function groupFrom(first: u32): void {
  const length = wide ? keepFrom<u32>(first << beta) : keepFrom<u16>(first << beta);
  groupedFrom = first;
  group(first, length);
}

/** above[k] = Σ_{k' > k} inside[k']. */
function sumAbove(): void {
  let sum: u32 = 0;
  for (let k: i32 = chunkCount; k >= 0; k--) {
    put(above, k, sum);
    sum += at(inside, k);
  }
}

/** Sorts the kept values by chunk, every other one from the chunk's end: two chains of cursors, not one. */
function group(first: u32, length: u32): void {
  const fronts = tables;
  const backs = tables + ((<usize>(chunkCount + 1)) << 2);
  let start: u32 = 0;
  for (let k = first; k < chunkCount; k++) {
    put(starts, k, start);
    put(fronts, k, start);
    start += at(inside, k);
    put(backs, k, start);
  }
  for (let i: u32 = 0; i < length; i++) {
    const bin = at(kept, i);
    const k = bin >> beta;
    if (i & 1) {
      const to = at(backs, k) - 1;
      put(backs, k, to);
      put(grouped, to, bin);
    } else {
      const to = at(fronts, k);
      put(fronts, k, to + 1);
      put(grouped, to, bin);
    }
  }
}

/** Counts the values above each candidate of chunk k: those of higher chunks, and of higher bins in this one. */
function openChunk(k: u32): void {
  tally(grouped + ((<usize>at(starts, k)) << 2), at(inside, k), 0, k << beta, 1 << beta, aboveEach);
  let sum = at(above, k);
  for (let a: i32 = (1 << beta) - 1; a >= 0; a--) {
    const here = at(aboveEach, a);
    put(aboveEach, a, sum);
    sum += here;
  }
  open = k;
}

/**
 * out[e] = how many of `length` values v have (v >> shift) − base = e, for e < entries. Four tables take turns:
 * equal values in a row would otherwise wait for each other's counter to be written.
 */
function tally(values: usize, length: u32, shift: u32, base: u32, entries: u32, out: usize): void {
  const bytes = (<usize>entries) << 2;
  const t0 = tables,
    t1 = t0 + bytes,
    t2 = t1 + bytes,
    t3 = t2 + bytes;
  memory.fill(tables, 0, bytes << 2);
  const end = values + ((<usize>length) << 2);
  for (; values + 16 <= end; values += 16) {
    count(t0, (load<u32>(values) >> shift) - base);
    count(t1, (load<u32>(values, 4) >> shift) - base);
    count(t2, (load<u32>(values, 8) >> shift) - base);
    count(t3, (load<u32>(values, 12) >> shift) - base);
  }
  for (; values < end; values += 4) count(t0, (load<u32>(values) >> shift) - base);
  addTables(entries, out);
}

/** Sums the four tables into `out`. */
function addTables(entries: u32, out: usize): void {
  const bytes = (<usize>entries) << 2;
  const t1 = tables + bytes,
    t2 = t1 + bytes,
    t3 = t2 + bytes;
  for (let e: u32 = 0; e < entries; e++) put(out, e, at(tables, e) + at(t1, e) + at(t2, e) + at(t3, e));
}

/** Writes the bins from `least` to n − 1 to `kept`; returns how many. Larger ones are above all candidates. */
function keepFrom<T>(least: u32): u32 {
  if (sizeof<T>() == 2 && least > 0xffff) return 0;
  const lanes: u32 = 16 / sizeof<T>();
  const all = (1 << lanes) - 1;
  const from = v128.splat<T>(<T>least);
  const most = v128.splat<T>(<T>(sizeof<T>() == 2 ? min<u32>(n - 1, 0xffff) : n - 1));
  let length: u32 = 0;
  let i: u32 = 0;
  for (; i + lanes <= m; i += lanes) {
    const here = bins + <usize>i * sizeof<T>();
    const v = v128.load(here);
    let mask = v128.bitmask<T>(v128.and(v128.ge<T>(v, from), v128.le<T>(v, most)));
    if (mask == all) {
      const to = kept + ((<usize>length) << 2);
      if (sizeof<T>() == 2) {
        v128.store(to, v128.extend_low<u16>(v));
        v128.store(to, v128.extend_high<u16>(v), 16);
      } else v128.store(to, v);
      length += lanes;
    } else {
      for (; mask; mask &= mask - 1) put(kept, length++, load<T>(here + <usize>ctz(mask) * sizeof<T>()));
    }
  }
  for (; i < m; i++) {
    const bin: u32 = load<T>(bins + <usize>i * sizeof<T>());
    if (bin >= least && bin < n) put(kept, length++, bin);
  }
  return length;
}

// @ts-ignore: decorator
@inline
function at(array: usize, i: u32): u32 {
  return load<u32>(array + ((<usize>i) << 2));
}

// @ts-ignore: decorator
@inline
function put(array: usize, i: u32, value: u32): void {
  store<u32>(array + ((<usize>i) << 2), value);
}

// @ts-ignore: decorator
@inline
function count(table: usize, entry: u32): void {
  put(table, entry, at(table, entry) + 1);
}
