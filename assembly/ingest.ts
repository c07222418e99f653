/**
 * Kernels for a batch of values, two at a time: clamp, quantise, block sums; estimates of leaves; published
 * values. Sums of integers are exact in any order; the quotient is rounded as in src/core/quantise.ts.
 */

/**
 * x = ⌊min(max(v, 0), θ)/g + ½⌋ of two values. −0 and subnormals come out as 0; what NaN and ∞ give is never used.
 * @param inverse whether `g` is 1/g of a power of two: then the product is the quotient, bit for bit, and faster
 */
// @ts-ignore: decorator
@inline
export function quantise(v: v128, theta: v128, g: v128, inverse: bool): v128 {
  const clamped = f64x2.pmin(f64x2.pmax(v, f64x2.splat(0)), theta);
  const quotient = inverse ? f64x2.mul(clamped, g) : f64x2.div(clamped, g);
  return f64x2.floor(f64x2.add(quotient, f64x2.splat(0.5)));
}

/** v − v: all bits 0 if v is finite, else NaN. */
// @ts-ignore: decorator
@inline
function notFinite(v: v128): v128 {
  return f64x2.sub(v, v);
}

// @ts-ignore: decorator
@inline
function sumOfLanes(v: v128): f64 {
  return f64x2.extract_lane(v, 0) + f64x2.extract_lane(v, 1);
}

/**
 * Adds values to running block sums.
 * @param n values to a block, of which the running one has `filled` already, with sum `partial`
 * @param sums one f64 for every block that gets complete
 * @returns the sum of the block that is running now; NaN if any value is not finite
 */
export function blockSums(
  values: usize,
  count: i32,
  theta: f64,
  g: f64,
  n: i32,
  filled: i32,
  partial: f64,
  sums: usize,
): f64 {
  const mantissa = reinterpret<u64>(g) << 12;
  return mantissa == 0
    ? blockSumsBy(values, count, f64x2.splat(theta), f64x2.splat(1 / g), true, n, filled, partial, sums)
    : blockSumsBy(values, count, f64x2.splat(theta), f64x2.splat(g), false, n, filled, partial, sums);
}

// @ts-ignore: decorator
@inline
function blockSumsBy(
  values: usize,
  count: i32,
  theta: v128,
  g: v128,
  inverse: bool,
  n: i32,
  filled: i32,
  sum: f64,
  sums: usize,
): f64 {
  const end = values + ((<usize>count) << 3);
  let bad = f64x2.splat(0);
  if (n == 1)
    for (; values + 16 <= end; values += 16, sums += 16) {
      const v = v128.load(values);
      bad = v128.or(bad, notFinite(v));
      v128.store(sums, quantise(v, theta, g, inverse));
    }
  for (let missing = n - filled; ; missing = n) {
    if (missing == n && n % 4 == 0)
      for (; n <= <i32>((end - values) >> 3); sums += 8, sum = 0) {
        // Whole blocks of whole fours: nothing to check but where they end.
        let even = f64x2.splat(0),
          odd = f64x2.splat(0);
        for (const stop = values + ((<usize>n) << 3); values < stop; values += 32) {
          const v = v128.load(values),
            w = v128.load(values, 16);
          bad = v128.or(bad, v128.or(notFinite(v), notFinite(w)));
          even = f64x2.add(even, quantise(v, theta, g, inverse));
          odd = f64x2.add(odd, quantise(w, theta, g, inverse));
        }
        store<f64>(sums, sum + sumOfLanes(f64x2.add(even, odd)));
      }
    if (values >= end) break;
    const left = <i32>((end - values) >> 3);
    const stop = values + ((<usize>min(missing, left)) << 3);
    let even = f64x2.splat(0),
      odd = f64x2.splat(0);
    for (; values + 32 <= stop; values += 32) {
      const v = v128.load(values),
        w = v128.load(values, 16);
      bad = v128.or(bad, v128.or(notFinite(v), notFinite(w)));
      even = f64x2.add(even, quantise(v, theta, g, inverse));
      odd = f64x2.add(odd, quantise(w, theta, g, inverse));
    }
    if (values + 16 <= stop) {
      const v = v128.load(values);
      bad = v128.or(bad, notFinite(v));
      even = f64x2.add(even, quantise(v, theta, g, inverse));
      values += 16;
    }
    if (values < stop) {
      const v = v128.load64_zero(values); // the other lane is 0, and stays 0
      bad = v128.or(bad, notFinite(v));
      odd = f64x2.add(odd, quantise(v, theta, g, inverse));
      values += 8;
    }
    sum += sumOfLanes(f64x2.add(even, odd));
    if (left < missing) break;
    store<f64>(sums, sum);
    sums += 8;
    sum = 0;
  }
  return v128.any_true(bad) ? NaN : sum;
}

/** How many values are above a limit. A lane of a comparison is −1 where it holds: subtracting it counts. */
export function countAbove(values: usize, count: i32, limit: f64): i32 {
  const end = values + ((<usize>count) << 3);
  const limits = f64x2.splat(limit);
  let even = i64x2.splat(0),
    odd = i64x2.splat(0);
  for (; values + 32 <= end; values += 32) {
    even = i64x2.sub(even, f64x2.gt(v128.load(values), limits));
    odd = i64x2.sub(odd, f64x2.gt(v128.load(values, 16), limits));
  }
  const lanes = i64x2.add(even, odd);
  let above = <i32>(i64x2.extract_lane(lanes, 0) + i64x2.extract_lane(lanes, 1));
  for (; values < end; values += 8) above += i32(load<f64>(values) > limit);
  return above;
}

/**
 * û = (T + N) + f for consecutive leaves of a tree, in this order: T + N is an integer that carries noise.
 * @param corrections f of the first leaf's siblings, then of the next b leaves, …
 * @param group how many leaves the first of them is for, 1 … b
 */
export function estimateLeaves(
  sums: usize,
  noise: usize,
  corrections: usize,
  b: i32,
  group: i32,
  count: i32,
  out: usize,
): void {
  for (const end = out + ((<usize>count) << 3); out < end; group = b, corrections += 8) {
    const f = load<f64>(corrections);
    const stop = min(end, out + ((<usize>group) << 3));
    for (; out + 16 <= stop; out += 16, sums += 16, noise += 16) {
      const noisy = f64x2.add(v128.load(sums), v128.load(noise));
      v128.store(out, f64x2.add(noisy, f64x2.splat(f)));
    }
    if (out < stop) {
      store<f64>(out, load<f64>(sums) + load<f64>(noise) + f);
      out += 8;
      sums += 8;
      noise += 8;
    }
  }
}

/**
 * Published values of consecutive positions: a block's share at all but its last, where stands what is left.
 * @param shares per block, the running one included; @param lasts per complete block
 * @param missing positions until the first block is complete, 1 … n
 */
export function publishBlocks(
  shares: usize,
  lasts: usize,
  n: i32,
  missing: i32,
  count: i32,
  out: usize,
): void {
  for (; count >= missing; count -= missing, missing = n, shares += 8, lasts += 8) {
    out = repeat(load<f64>(shares), missing - 1, out);
    store<f64>(out, load<f64>(lasts));
    out += 8;
  }
  if (count > 0) repeat(load<f64>(shares), count, out);
}

/** Writes `value` `count` times; returns where it stopped. */
// @ts-ignore: decorator
@inline
function repeat(value: f64, count: i32, out: usize): usize {
  const end = out + ((<usize>count) << 3);
  for (; out + 16 <= end; out += 16) v128.store(out, f64x2.splat(value));
  if (out < end) store<f64>(out, value);
  return end;
}
