/**
 * Held-out values → counts, by what each value is for and by how many candidates for θ lie below it.
 * Twin: src/core/js/heldOut.ts. What the counts are for: src/stream/holdout/thresholdCounts.ts.
 */
import { HELD_OUT_MEAN, HELD_OUT_PURPOSES } from "../src/core/layout";
import { quantise } from "./ingest";

let candidates: usize = 0;
let candidateCount: i32 = 0;
let small: usize = 0;
let smallCount: u32 = 0;
/** The purpose of each position mod 32. */
let byPosition: usize = 0;
let counters: usize = 0;
/** Bytes of one purpose's counters. */
let row: usize = 0;

/**
 * Adds values to the counters. Counters and sums are integers: exact in any order.
 * @param values finite
 * @param g grid unit; @param step what candidates are multiples of, in grid units: a power of two
 * @param ascending candidates in grid units; @param bins per number of steps below `binCount`, how many candidates lie below it
 * @param purposes 32 of u8, by position mod 32; @param first position of the first value
 * @param counts rows of candidateCount + 1 counters (f64), one per purpose, then the row of sums
 */
export function countHeldOut(
  values: usize,
  count: i32,
  max: f64,
  g: f64,
  step: f64,
  ascending: usize,
  ascendingCount: i32,
  bins: usize,
  binCount: i32,
  purposes: usize,
  first: i32,
  counts: usize,
): void {
  candidates = ascending;
  candidateCount = ascendingCount;
  small = bins;
  smallCount = binCount;
  byPosition = purposes;
  counters = counts;
  row = (<usize>ascendingCount + 1) << 3;
  const inverse = reinterpret<u64>(g) << 12 == 0; // a power of two
  const unit = f64x2.splat(inverse ? 1 / g : g);
  const most = f64x2.splat(max);
  const perStep = f64x2.splat(1 / step);
  for (const end = values + ((<usize>count) << 3); values < end; values += 8, first++) {
    const x = quantise(v128.load64_zero(values), most, unit, inverse);
    const steps = i32x4.trunc_sat_f64x2_u_zero(f64x2.ceil(f64x2.mul(x, perStep)));
    add(f64x2.extract_lane(x, 0), i32x4.extract_lane(steps, 0), first);
  }
}

// @ts-ignore: decorator
@inline
function add(x: f64, steps: u32, position: i32): void {
  const bin: usize = steps < smallCount ? <usize>load<u8>(small + <usize>steps) : binOf(x);
  const purpose: usize = load<u8>(byPosition + <usize>(position & 31));
  const at = counters + (bin << 3);
  const counter = at + purpose * row;
  store<f64>(counter, load<f64>(counter) + 1);
  if (purpose != HELD_OUT_MEAN) return;
  const sum = at + <usize>HELD_OUT_PURPOSES * row;
  store<f64>(sum, load<f64>(sum) + x);
}

/** How many candidates lie below x. */
function binOf(x: f64): usize {
  let low: i32 = 0,
    high = candidateCount;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (load<f64>(candidates + ((<usize>middle) << 3)) < x) low = middle + 1;
    else high = middle;
  }
  return low;
}
