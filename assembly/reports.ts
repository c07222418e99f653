/** Batches of local reports. src/core/tables/sectors.ts has the sectors, and why one word mostly decides; no branch to guess. */
import * as layout from "../src/core/layout";
import { beginRandom, cursor, endRandom, limit, moveCursor, nextWord, refill } from "./reader";

// A mechanism in bytes.
const WIDTH: usize = 4 * layout.MECHANISM_WIDTH;
const CELLS: usize = 4 * layout.MECHANISM_CELLS;
const SLACK: usize = 4 * layout.MECHANISM_SLACK;
const FIRSTS: usize = 4 * layout.MECHANISM_FIRSTS;
const FACTORS: usize = 4 * layout.MECHANISM_FACTORS;
const WEIGHTS: usize = 4 * layout.MECHANISM_WEIGHTS;
const NUMBER: usize = 4 * layout.MECHANISM_NUMBER;
const NUMBER_BYTES: usize = 32;
/** S − 32: without so many bits, D·M has the place above 32 bits of fraction. */
const DROP: i32 = 8;

/** The integer of a value: src/core/tables/sectors.ts. */
// @ts-ignore: decorator
@inline
function quantised(value: f64, scale: f64, shift: f64, top: u32): u32 {
  return <u32>min<f64>(floor<f64>(max<f64>(value, 0) * scale + shift), <f64>top);
}

/** Quantises two values, in the low words of two f64: 2⁵² + x has x in its last bits. */
// @ts-ignore: decorator
@inline
function twoQuantised(values: v128, scale: v128, shift: v128, top: v128): v128 {
  const scaled = f64x2.add(f64x2.mul(f64x2.pmax(values, f64x2.splat(0)), scale), shift);
  return f64x2.add(f64x2.pmin(f64x2.floor(scaled), top), f64x2.splat(4503599627370496));
}

/** The cell that place j of a sector gives to input x. */
function cellOf(mechanism: usize, sector: u32, j: u32, x: u32): u32 {
  if (sector == 0) return x + j;
  const under = <u32>(j < x);
  if (sector == 1) return select<u32>(j, j + load<u32>(mechanism, WIDTH), under);
  return load<u32>(mechanism, CELLS) - 2 + (under ^ (sector & 1));
}

/** Whether place j of a sector begins at u or before: first·2¹⁶⁰ + j·weight ≤ u, from the last words up. */
function reached(mechanism: usize, sector: u32, j: u32): bool {
  const weight = mechanism + WEIGHTS + <usize>sector * NUMBER_BYTES;
  let carry: u64 = 0;
  let beyond = false;
  for (let at: usize = NUMBER_BYTES; at > 0;) {
    at -= 4;
    carry += <u64>j * <u64>load<u32>(weight + at);
    if (at == 8) carry += <u64>load<u32>(mechanism + (sector << 2), FIRSTS);
    const word = load<u32>(mechanism + at, NUMBER);
    beyond = word == <u32>carry ? beyond : word < <u32>carry;
    carry >>= 32;
  }
  return !beyond;
}

/** The place by all six words, from `least` up to `most`: halving, which takes one step where these are neighbours. */
function exactPlace(mechanism: usize, sector: u32, word: u32, least: u32, most: u32): u32 {
  const number = mechanism + NUMBER;
  store<u64>(number, 0);
  store<u32>(number, word, 8);
  for (let at: usize = 12; at < NUMBER_BYTES; at += 4) store<u32>(number + at, nextWord());
  while (least < most) {
    const middle = (least + most + 1) >> 1;
    if (reached(mechanism, sector, middle)) least = middle;
    else most = middle - 1;
  }
  return least;
}

/** A report word by word. */
function drawReport(mechanism: usize, x: u32): u32 {
  while (true) {
    const word = nextWord();
    let sector: u32 = 0;
    while (sector < 4 && word >= load<u32>(mechanism + (sector << 2), FIRSTS + 4)) sector++;
    if (sector == 4) continue;
    const at = mechanism + (sector << 2);
    const factor = load<u32>(at, FACTORS);
    const quotient = (<u64>(word + 1 - load<u32>(at, FIRSTS)) * <u64>factor) >> DROP;
    let place = <u32>(quotient >> 32);
    if (<u32>quotient < (factor >> DROP) + load<u32>(mechanism, SLACK)) {
      const places = load<u32>(mechanism + (sector == 0 ? WIDTH : 0));
      if (factor == 0) place = exactPlace(mechanism, sector, word, 0, places);
      else place = exactPlace(mechanism, sector, word, select<u32>(place - 1, 0, place > 0), place);
      if (place >= places) continue;
    }
    return cellOf(mechanism, sector, place, x);
  }
}

/**
 * One report per value: quantise, then draw, four at a time. Word by word where one of four needs more than a word, where
 * fewer than four are left in the reader's buffer, and at the end.
 * @param mechanism as src/core/tables/sectors.ts lays it out; the room for u is written
 * @param values count f64, finite
 * @param out count u32
 */
export function fillReports(
  random: usize,
  mechanism: usize,
  values: usize,
  count: i32,
  scale: f64,
  shift: f64,
  out: usize,
): void {
  const end = out + ((<usize>count) << 2);
  const top = load<u32>(mechanism);
  const slack = v128.load32_splat(mechanism, SLACK);
  const width = v128.load32_splat(mechanism, WIDTH);
  const oneCell = i32x4.splat(load<u32>(mechanism, CELLS) - 1);
  const scales = f64x2.splat(scale);
  const shifts = f64x2.splat(shift);
  const tops = f64x2.splat(<f64>top);
  // Words are compared as signed numbers, with the top bit flipped: one instruction instead of two.
  const flip = i32x4.splat(0x80000000);
  const first1 = v128.load32_splat(mechanism, FIRSTS + 4);
  const first2 = v128.load32_splat(mechanism, FIRSTS + 8);
  const first3 = v128.load32_splat(mechanism, FIRSTS + 12);
  const end1 = v128.xor(first1, flip);
  const end2 = v128.xor(first2, flip);
  const end3 = v128.xor(first3, flip);
  const end4 = v128.xor(v128.load32_splat(mechanism, FIRSTS + 16), flip);
  const factor3 = v128.load32_splat(mechanism, FACTORS + 12);
  // What one sector has more than the next, to be added where a mask says so.
  const more2 = i32x4.sub(v128.load32_splat(mechanism, FACTORS + 8), factor3);
  const more1 = i32x4.sub(
    v128.load32_splat(mechanism, FACTORS + 4),
    v128.load32_splat(mechanism, FACTORS + 8),
  );
  const more0 = i32x4.sub(v128.load32_splat(mechanism, FACTORS), v128.load32_splat(mechanism, FACTORS + 4));
  const less2 = i32x4.sub(first3, first2);
  const less1 = i32x4.sub(first2, first1);
  const beforeLast = i32x4.sub(first3, i32x4.splat(1));
  beginRandom(random);
  while (out < end) {
    let at = cursor;
    while (out + 16 <= end && at + 16 <= limit) {
      const words = v128.load(at);
      const signed = v128.xor(words, flip);
      const in0 = i32x4.lt_s(signed, end1);
      const to1 = i32x4.lt_s(signed, end2);
      const to2 = i32x4.lt_s(signed, end3);
      const to3 = i32x4.lt_s(signed, end4);
      // D and M of each lane's sector. Beyond all sectors M is 0, which leaves the lane to drawReport.
      let distance = i32x4.sub(words, beforeLast);
      distance = i32x4.add(distance, v128.and(less2, to2));
      distance = i32x4.add(distance, v128.and(less1, to1));
      distance = i32x4.add(distance, v128.and(first1, in0));
      let factor = i32x4.add(v128.and(factor3, to3), v128.and(more2, to2));
      factor = i32x4.add(factor, v128.and(more1, to1));
      factor = i32x4.add(factor, v128.and(more0, in0));
      // Per lane: 32 bits of fraction, and above them the place.
      const low = i64x2.shr_u(i64x2.extmul_low_i32x4_u(distance, factor), DROP);
      const high = i64x2.shr_u(i64x2.extmul_high_i32x4_u(distance, factor), DROP);
      const margin = i32x4.add(i32x4.shr_u(factor, DROP), slack);
      if (i32x4.bitmask(i32x4.ge_u(i32x4.shuffle(low, high, 0, 2, 4, 6), margin)) != 15) break;
      const j = i32x4.shuffle(low, high, 1, 3, 5, 7);
      const x0 = twoQuantised(v128.load(values), scales, shifts, tops);
      const x2 = twoQuantised(v128.load(values, 16), scales, shifts, tops);
      const x = i32x4.shuffle(x0, x2, 0, 2, 4, 6);
      // A mask is −1. Kept (to2) and under x, or flipped and not: the upper of the two cells.
      const under = i32x4.lt_s(j, x);
      const rounded = i32x4.add(oneCell, v128.xor(under, to2));
      const outside = i32x4.add(j, v128.andnot(width, under));
      const cells = v128.bitselect(i32x4.add(x, j), v128.bitselect(outside, rounded, to1), in0);
      v128.store(out, cells);
      at += 16;
      values += 32;
      out += 16;
    }
    moveCursor(at);
    const singly: i32 = out + 16 <= end && at + 16 > limit ? <i32>((limit - at) >> 2) : 4;
    for (let i = 0; i < singly && out < end; i++, values += 8, out += 4)
      store<u32>(out, drawReport(mechanism, quantised(load<f64>(values), scale, shift, top)));
    if (cursor == limit && out < end) refill();
  }
  endRandom();
}
