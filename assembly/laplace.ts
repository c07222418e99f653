/** Random bits → exact integer noise. src/core/tables/scale.ts says how a scale draws; no float decides a sample. */
import * as layout from "../src/core/layout";
import { beginRandom, cursor, endRandom, limit, moveCursor, nextWord, tailBelow } from "./reader";

// A scale in bytes.
const ESCAPE: usize = 4 * layout.SCALE_ESCAPE;
const DIVISOR: usize = 4 * layout.SCALE_DIVISOR;
const ESCAPE_STEP: usize = 4 * layout.SCALE_ESCAPE_STEP;
const SHIFTS: usize = 4 * layout.SCALE_SHIFTS;
const COLUMNS: usize = 4 * layout.SCALE_COLUMNS;
const TABLE_BYTES: usize = 4 * layout.COLUMNS;
const TOP_BYTES: usize = 4 * layout.TOP_COLUMNS;
const TAIL_BYTES: usize = 4 * layout.TAIL_WORDS;

/** H and sign, from the upper half of a word: 9 bits of column, 7 of fraction. A tie takes further words. */
function drawTop(scale: usize, word: u32): u32 {
  const column = word >> 23;
  const entry = load<u32>(scale + ((<usize>column) << 2), COLUMNS);
  const fraction = (word >> 16) & 127;
  const head = entry >> 18;
  const own = fraction == head ? tieBelow(scale, column) : fraction < head;
  return select<u32>(entry, entry >> 9, own) & 511;
}

/** Another digit, from 16 bits: 8 of column, 8 of fraction. */
function drawDigit(scale: usize, digit: u32, half: u32): u32 {
  const column = ((digit + 1) << 8) + ((half >> 8) & 255);
  const entry = load<u32>(scale + ((<usize>column) << 2), COLUMNS);
  const fraction = half & 255;
  const head = entry >> 16;
  const own = fraction == head ? tieBelow(scale, column) : fraction < head;
  return select<u32>(entry, entry >> 8, own) & 255;
}

/** Whether the words that come are below the tail of a column, counted through all digits. */
function tieBelow(scale: usize, column: u32): bool {
  const columns = (<usize>load<u32>(scale) * 2 + 1) * 256;
  return tailBelow(scale + COLUMNS + 4 * columns + <usize>column * TAIL_BYTES, 5, false);
}

/** Value of `outcome` as a digit of the scale. */
// @ts-ignore: decorator
@inline
function worth(scale: usize, digit: u32, outcome: u32): u64 {
  return (<u64>outcome) << (<u64>load<u32>(scale + ((<usize>digit) << 2), SHIFTS));
}

/** A geometric sample, P(k) ∝ exp(−k/t), whose first word has been taken, and H and sign drawn. */
function geometricFrom(scale: usize, word: u32, top: u32): f64 {
  let sum: f64 = 0;
  let high = top & 255;
  while (high == load<u32>(scale, ESCAPE)) {
    sum += load<f64>(scale, ESCAPE_STEP);
    high = drawTop(scale, nextWord()) & 255;
  }
  let digits = worth(scale, 0, high) + worth(scale, 1, drawDigit(scale, 1, word));
  const count = load<u32>(scale) << 1;
  for (let digit: u32 = 2; digit < count; digit += 2) {
    word = nextWord();
    digits += worth(scale, digit, drawDigit(scale, digit, word >> 16));
    digits += worth(scale, digit + 1, drawDigit(scale, digit + 1, word));
  }
  sum += <f64>digits;
  const divisor = load<f64>(scale, DIVISOR);
  return divisor == 1 ? sum : floor<f64>(sum / divisor);
}

/** A geometric sample: an integer k ≥ 0 with P(k) ∝ exp(−k/t). */
export function drawGeometric(scale: usize): f64 {
  const word = nextWord();
  return geometricFrom(scale, word, drawTop(scale, word));
}

/** A discrete Laplace sample: an integer k with P(k) ∝ exp(−|k|/t). */
export function drawLaplace(scale: usize): f64 {
  // Below 1 the sign would be too one-sided for a table. The difference of two geometric samples needs none.
  if (load<f64>(scale, DIVISOR) != 1) {
    const minuend = drawGeometric(scale);
    return minuend - drawGeometric(scale);
  }
  const word = nextWord();
  const top = drawTop(scale, word);
  const magnitude = geometricFrom(scale, word, top);
  return top >> 8 ? -1 - magnitude : magnitude;
}

/** The table's entries for four columns: those of byte `at`, and of the same byte in the next three samples. */
// @ts-ignore: decorator
@inline
function entriesOf(table: usize, at: usize, stride: usize): v128 {
  let entries = v128.load32_zero(table + ((<usize>load<u8>(at)) << 2));
  at += stride;
  entries = v128.load_lane<u32>(table + ((<usize>load<u8>(at)) << 2), entries, 1);
  at += stride;
  entries = v128.load_lane<u32>(table + ((<usize>load<u8>(at)) << 2), entries, 2);
  at += stride;
  return v128.load_lane<u32>(table + ((<usize>load<u8>(at)) << 2), entries, 3);
}

/** Entries of the table H: the columns are the top 9 bits of four words. */
// @ts-ignore: decorator
@inline
function topEntriesOf(table: usize, at: usize, stride: usize): v128 {
  let entries = v128.load32_zero(table + (((<usize>load<u16>(at, 2)) >> 7) << 2));
  at += stride;
  entries = v128.load_lane<u32>(table + (((<usize>load<u16>(at, 2)) >> 7) << 2), entries, 1);
  at += stride;
  entries = v128.load_lane<u32>(table + (((<usize>load<u16>(at, 2)) >> 7) << 2), entries, 2);
  at += stride;
  return v128.load_lane<u32>(table + (((<usize>load<u16>(at, 2)) >> 7) << 2), entries, 3);
}

/**
 * Own outcomes where the fraction is below the head (nothing to rely on where they tie), else aliases. Fractions stand
 * where heads do, above two outcomes.
 */
// @ts-ignore: decorator
@inline
function outcomes(entries: v128, fractions: v128, bits: i32): v128 {
  const own = i32x4.gt_s(entries, fractions);
  return v128.and(v128.bitselect(entries, i32x4.shr_u(entries, bits), own), i32x4.splat((1 << bits) - 1));
}

// @ts-ignore: decorator
@inline
function ties(entries: v128, fractions: v128, bits: i32): v128 {
  return i32x4.eq(i32x4.shr_u(v128.xor(entries, fractions), 2 * bits), i32x4.splat(0));
}

/** A word of each of four samples, which are `draws` words apart. */
// @ts-ignore: decorator
@inline
function fourWords(at: usize, draws: u32): v128 {
  if (draws == 1) return v128.load(at);
  if (draws == 2) return i32x4.shuffle(v128.load(at), v128.load(at, 12), 0, 2, 5, 7);
  const words = i32x4.shuffle(v128.load(at), v128.load(at, 12), 0, 3, 4, 7);
  return v128.load_lane<u32>(at, v128.load_lane<u32>(at, words, 2, 24), 3, 36);
}

/**
 * Fills from `out` on with samples, four at a time, and returns where it stopped: at the end, or where fewer than
 * four samples or their words are left, or before a sample that needs more than its first words (a tie or an
 * escape, 1 in 85 or fewer up to a scale of 2¹², 1 in 40 or fewer beyond).
 */
// @ts-ignore: decorator
@inline
function fillFours(scale: usize, out: usize, end: usize, signed: boolean): usize {
  const table = scale + COLUMNS;
  const draws = load<u32>(scale);
  const stride = (<usize>draws) << 2;
  const escape = i32x4.splat(load<u32>(scale, ESCAPE));
  const divided = load<f64>(scale, DIVISOR) != 1;
  const divisor = f32x4.splat(<f32>load<f64>(scale, DIVISOR));
  const topShift = load<u32>(scale, SHIFTS) - load<u32>(scale, SHIFTS + 4);
  const lastAt = limit - 4 * stride;
  const lastOut = end - 32;
  let at = cursor;
  while (at <= lastAt && out <= lastOut) {
    let words = fourWords(at, draws);
    const tops = topEntriesOf(table, at, stride);
    let lows = entriesOf(table + TOP_BYTES, at + 1, stride);
    const topFractions = v128.and(i32x4.shl(words, 2), i32x4.splat(127 << 18));
    let fractions = i32x4.shr_u(i32x4.shl(words, 24), 8);
    const top = outcomes(tops, topFractions, 9);
    const high = v128.and(top, i32x4.splat(255));
    let rare = v128.or(ties(tops, topFractions, 9), ties(lows, fractions, 8));
    rare = v128.or(rare, i32x4.eq(high, escape));
    let digits = i32x4.add(i32x4.shl(high, topShift), outcomes(lows, fractions, 8));
    // Below 1: ⌊digits/m⌋. The quotient of integers below 2²⁴ rounds to an integer only if it is one.
    if (!signed && divided)
      digits = i32x4.trunc_sat_f32x4_s(f32x4.div(f32x4.convert_i32x4_s(digits), divisor));
    // −1 − G has the bits of G, all of them flipped.
    const negative = signed ? i32x4.shr_s(i32x4.shl(top, 23), 31) : i32x4.splat(0);
    digits = v128.xor(digits, negative);
    let first = f64x2.convert_low_i32x4_s(digits);
    let second = f64x2.convert_low_i32x4_s(i64x2.shuffle(digits, digits, 1, 1));
    // Horner: what the words so far are worth in units of the next word's lower digit, plus its own two digits.
    for (let draw: usize = 1; draw < draws; draw++) {
      const shifts = scale + SHIFTS + (draw << 3);
      const lowShift = load<u32>(shifts, 4);
      const shift = load<u32>(shifts) - lowShift;
      const width = load<u32>(shifts - 4) - lowShift;
      const unit: u32 = 1 << width;
      const tables = table + TOP_BYTES + (2 * draw - 1) * TABLE_BYTES;
      const next = at + (draw << 2);
      words = fourWords(next, draws);
      lows = entriesOf(tables + TABLE_BYTES, next + 1, stride);
      fractions = i32x4.shr_u(i32x4.shl(words, 24), 8);
      rare = v128.or(rare, ties(lows, fractions, 8));
      digits = outcomes(lows, fractions, 8);
      if (width > shift) {
        // else the upper digit has no bits: always 0
        const highs = entriesOf(tables, next + 3, stride);
        const highFractions = v128.and(words, i32x4.splat(0xff0000));
        rare = v128.or(rare, ties(highs, highFractions, 8));
        digits = i32x4.add(digits, i32x4.shl(outcomes(highs, highFractions, 8), shift));
      }
      digits = v128.xor(digits, v128.and(negative, i32x4.splat(unit - 1)));
      first = f64x2.add(f64x2.mul(first, f64x2.splat(<f64>unit)), f64x2.convert_low_i32x4_s(digits));
      digits = i64x2.shuffle(digits, digits, 1, 1);
      second = f64x2.add(f64x2.mul(second, f64x2.splat(<f64>unit)), f64x2.convert_low_i32x4_s(digits));
    }
    v128.store(out, first);
    v128.store(out, second, 16);
    if (v128.any_true(rare)) {
      // Samples before the rare one are good; what was written for it and after it is written again.
      const good: usize = ctz(i32x4.bitmask(rare));
      at += good * stride;
      out += good << 3;
      break;
    }
    at += 4 * stride;
    out += 32;
  }
  moveCursor(at);
  return out;
}

// @ts-ignore: decorator
@inline
function fill(scale: usize, out: usize, end: usize, signed: boolean): void {
  while (out < end) {
    out = fillFours(scale, out, end, signed);
    if (out == end) break;
    store<f64>(out, signed ? drawLaplace(scale) : drawGeometric(scale));
    out += 8;
  }
}

/** Discrete Laplace samples of a scale below 1: geometric ones as far as there is room, then their differences. */
function fillDifferences(scale: usize, out: usize, end: usize): void {
  while (end - out >= 16) {
    const room = out + ((end - out) & ~15);
    geometricInto(scale, <i32>((room - out) >> 3), out);
    for (let at = out; at < room; at += 16, out += 8) store<f64>(out, load<f64>(at) - load<f64>(at, 8));
  }
  if (out < end) store<f64>(out, drawLaplace(scale));
}

/** Geometric samples for a kernel that has begun to read: `count` f64 from `out` on. */
export function geometricInto(scale: usize, count: i32, out: usize): void {
  fill(scale, out, out + ((<usize>count) << 3), false);
}

/** Discrete Laplace samples for a kernel that has begun to read: `count` f64 from `out` on. */
export function laplaceInto(scale: usize, count: i32, out: usize): void {
  const end = out + ((<usize>count) << 3);
  if (load<f64>(scale, DIVISOR) != 1) fillDifferences(scale, out, end);
  else fill(scale, out, end, true);
}

/** `count` geometric samples. */
export function fillGeometric(random: usize, scale: usize, count: i32, out: usize): void {
  beginRandom(random);
  geometricInto(scale, count, out);
  endRandom();
}

/** `count` discrete Laplace samples. */
export function fillLaplace(random: usize, scale: usize, count: i32, out: usize): void {
  beginRandom(random);
  laplaceInto(scale, count, out);
  endRandom();
}
