/**
 * What candidates for θ cost, in blocks of 2^β: exactly where it matters, from below elsewhere. Candidate a
 * (from 0) stands for θ_(a+1), which a value of bin k exceeds iff k > a. Twin: Blocks in src/core/js/threshold.ts.
 */

/** How many values are counted to find the blocks that matter; m below twice that, all of them. */
const SAMPLE: u32 = 8192;

/** Blocks that are not counted exactly must be this many T worse than the best seems to be. */
const HOPELESS: f64 = 32;

/** Allowance for the sample that says so. */
const STANDARD_ERRORS: f64 = 4;

/** The race of src/core/race.ts, as staged: what a value above θ costs, two factors of the penalty, and T. */
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

/** Blocks of candidates; one entry more in each array below holds the values above all candidates. */
export let blockCount: u32 = 0;
let exactFrom: u32 = 0;
let open: u32 = 0;

// Arrays of u32 in scratch memory.
/** Values in block k; a sample of them below exactFrom. */
let inside: usize = 0;
/** Values in blocks above k, or fewer. */
let above: usize = 0;
/** Values above each candidate of block `open`. */
let aboveEach: usize = 0;
/** Values in blocks ≥ exactFrom, and the same grouped by block; block k's begin at starts[k]. */
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

/** Bytes of scratch memory for n candidates in blocks of 2^beta, and m values. */
export function blocksBytes(n: u32, beta: u32, m: u32): usize {
  return (8 * <usize>tableEntries(n, beta) + 2 * <usize>m) << 2;
}

/** @param values m bins, u32 if `u32s`, else u16 */
export function openBlocks(
  race: usize,
  candidates: u32,
  blockBits: u32,
  values: usize,
  count: u32,
  u32s: bool,
  scratch: usize,
): void {
  grid = changetype<Grid>(race);
  n = candidates;
  beta = blockBits;
  bins = values;
  m = count;
  wide = u32s;
  blockCount = (n + (1 << beta) - 1) >> beta;
  open = -1;
  const bytes = (<usize>tableEntries(n, beta)) << 2;
  inside = scratch;
  above = inside + bytes;
  aboveEach = above + bytes;
  starts = aboveEach + bytes;
  tables = starts + bytes;
  kept = tables + 4 * bytes;
  grouped = kept + ((<usize>m) << 2);
  countFrom(firstToCount());
}

/** Public cost of candidate i (1-based): never falls with i. */
// @ts-ignore: decorator
@inline
function penalty(i: u32): f64 {
  return floor<f64>(<f64>i * grid.penaltyFactor * grid.penaltyUnit + 0.5);
}

/** No candidate of block k costs less. */
// @ts-ignore: decorator
@inline
export function bound(k: u32): f64 {
  return grid.countWeight * <f64>at(above, k) + penalty((k << beta) + 1);
}

export function cheapestBlock(): u32 {
  let best: u32 = 0;
  let least = bound(0);
  for (let k: u32 = 1; k < blockCount; k++) {
    const cost = bound(k);
    if (cost < least) {
      least = cost;
      best = k;
    }
  }
  return best;
}

/** The exact cost of candidate a of block k. */
export function cost(a: u32, k: u32): f64 {
  if (k < exactFrom) countFrom(0);
  if (k != open) openBlock(k);
  return grid.countWeight * <f64>at(aboveEach, a - (k << beta)) + penalty(a + 1);
}

/**
 * The block from which on values are to be counted exactly: as few as leave good bounds for the blocks below, which
 * are what is counted and the sampled values in between. Of one value in `every`, s above a block stand for every·s,
 * give or take sqrt(every·s·(every − 1)). The answer affects speed alone.
 */
function firstToCount(): u32 {
  const every = <f64>max<u32>(1, m / SAMPLE);
  const length = wide ? keepEvery<u32>(<u32>every) : keepEvery<u16>(<u32>every);
  tally(kept, length, beta, 0, blockCount + 1, inside);
  sumAbove();
  let hopeless: f64 = Infinity;
  for (let k: u32 = 0; k < blockCount; k++) {
    const last = min(n, (k + 1) << beta);
    hopeless = min(hopeless, grid.countWeight * every * <f64>at(above, k) + penalty(last));
  }
  hopeless += HOPELESS * grid.stride;
  let least: f64 = Infinity;
  for (let k: u32 = 0; k < blockCount - 1; k++) {
    const sampled = <f64>at(above, k);
    const counted = every * sampled - STANDARD_ERRORS * sqrt<f64>(every * sampled * (every - 1));
    least = min(least, bound(k));
    if (least + grid.countWeight * (counted - sampled) <= hopeless) return k;
  }
  return blockCount - 1;
}

/** Counts the values in blocks ≥ first exactly, and groups them. */
function countFrom(first: u32): void {
  const length = wide ? keepFrom<u32>(first << beta) : keepFrom<u16>(first << beta);
  tally(kept, length, beta, first, blockCount + 1 - first, inside + ((<usize>first) << 2));
  exactFrom = first;
  sumAbove();
  group(first, length);
}

/** above[k] = Σ_{k' > k} inside[k']. */
function sumAbove(): void {
  let sum: u32 = 0;
  for (let k: i32 = blockCount; k >= 0; k--) {
    put(above, k, sum);
    sum += at(inside, k);
  }
}

/** Sorts the kept values by block, every other one from the block's end: two chains of cursors, not one. */
function group(first: u32, length: u32): void {
  const fronts = tables;
  const backs = tables + ((<usize>(blockCount + 1)) << 2);
  let start: u32 = 0;
  for (let k = first; k <= blockCount; k++) {
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

/** Counts the values above each candidate of block k: those of higher blocks, and of higher bins in this one. */
function openBlock(k: u32): void {
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
  for (let e: u32 = 0; e < entries; e++) put(out, e, at(t0, e) + at(t1, e) + at(t2, e) + at(t3, e));
}

/** Writes every `step`-th bin, at most n, to `kept`; returns how many. */
function keepEvery<T>(step: u32): u32 {
  let length: u32 = 0;
  for (let i: u32 = 0; i < m; i += step)
    put(kept, length++, min<u32>(n, load<T>(bins + <usize>i * sizeof<T>())));
  return length;
}

/** Writes the bins that are `least` or more, cut off at n, to `kept`; returns how many. */
function keepFrom<T>(least: u32): u32 {
  if (sizeof<T>() == 2 && least > 0xffff) return 0;
  const lanes: u32 = 16 / sizeof<T>();
  const all = (1 << lanes) - 1;
  const from = v128.splat<T>(<T>least);
  const most = v128.splat<u32>(n);
  let length: u32 = 0;
  let i: u32 = 0;
  for (; i + lanes <= m; i += lanes) {
    const here = bins + <usize>i * sizeof<T>();
    const v = v128.load(here);
    let mask = v128.bitmask<T>(v128.ge<T>(v, from));
    if (mask == all) {
      const to = kept + ((<usize>length) << 2);
      if (sizeof<T>() == 2) {
        v128.store(to, v128.min<u32>(v128.extend_low<u16>(v), most));
        v128.store(to, v128.min<u32>(v128.extend_high<u16>(v), most), 16);
      } else v128.store(to, v128.min<u32>(v, most));
      length += lanes;
    } else {
      for (; mask; mask &= mask - 1)
        put(kept, length++, min<u32>(n, load<T>(here + <usize>ctz(mask) * sizeof<T>())));
    }
  }
  for (; i < m; i++) {
    const bin: u32 = load<T>(bins + <usize>i * sizeof<T>());
    if (bin >= least) put(kept, length++, min(n, bin));
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
