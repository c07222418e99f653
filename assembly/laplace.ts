/** Random bits → exact integer noise. src/core/scale.ts says how a scale draws; no float decides a sample. */
import { beginRandom, cursor, endRandom, limit, moveCursor, nextWord, tailBelow } from "./reader";

// The layout of a scale in bytes: src/core/scale.ts.
const ESCAPE: usize = 4;
const DIVISOR: usize = 8;
const ESCAPE_STEP: usize = 16;
const SHIFTS: usize = 24;
const COLUMNS: usize = 48;
const TABLE_BYTES: usize = 1024;
const TAIL_BYTES: usize = 20;

/** The digit that `column` and `fraction` draw from table number `digit` of a scale; a tie takes further words. */
// @ts-ignore: decorator
@inline
function drawDigit(scale: usize, digit: usize, column: u32, fraction: u32): u32 {
  const entry = load<u32>(scale + digit * TABLE_BYTES + ((<usize>column) << 2), COLUMNS);
  const head = entry >> 16;
  const own = fraction == head ? tieBelow(scale, digit, column) : fraction < head;
  return select<u32>(entry, entry >> 8, own) & 255;
}

function tieBelow(scale: usize, digit: usize, column: u32): bool {
  const tails = scale + COLUMNS + <usize>load<u32>(scale) * 2 * TABLE_BYTES;
  return tailBelow(tails + (digit * 256 + column) * TAIL_BYTES, 5, false);
}

/** The digit in the upper half of a word: 8 bits of column, 8 of fraction. */
// @ts-ignore: decorator
@inline
function drawHigh(scale: usize, digit: usize, word: u32): u32 {
  return drawDigit(scale, digit, word >> 24, (word >> 16) & 255);
}

/** The digit in the lower half of a word: 8 bits of column, 7 of fraction. */
// @ts-ignore: decorator
@inline
function drawLow(scale: usize, digit: usize, word: u32): u32 {
  return drawDigit(scale, digit, (word >> 8) & 255, (word >> 1) & 127);
}

/** Value of `outcome` as a digit of the scale. */
// @ts-ignore: decorator
@inline
function worth(scale: usize, digit: usize, outcome: u32): u64 {
  const shift = <u64>load<u32>(scale + (digit << 2), SHIFTS);
  return (<u64>outcome) << shift;
}

/** A geometric sample, P(k) ∝ exp(−k/t), whose first word has been taken already. */
function geometricFrom(scale: usize, word: u32): f64 {
  let sum: f64 = 0;
  let top = drawHigh(scale, 0, word);
  while (top == load<u32>(scale, ESCAPE)) {
    sum += load<f64>(scale, ESCAPE_STEP);
    top = drawHigh(scale, 0, nextWord());
  }
  let digits = worth(scale, 0, top) + worth(scale, 1, drawLow(scale, 1, word));
  const count = (<usize>load<u32>(scale)) << 1;
  for (let digit: usize = 2; digit < count; digit += 2) {
    word = nextWord();
    digits += worth(scale, digit, drawHigh(scale, digit, word));
    digits += worth(scale, digit + 1, drawLow(scale, digit + 1, word));
  }
  sum += <f64>digits;
  const divisor = load<f64>(scale, DIVISOR);
  return divisor == 1 ? sum : floor<f64>(sum / divisor);
}

/** A geometric sample: an integer k ≥ 0 with P(k) ∝ exp(−k/t). */
export function drawGeometric(scale: usize): f64 {
  return geometricFrom(scale, nextWord());
}

/** A discrete Laplace sample: an integer k with P(k) ∝ exp(−|k|/t). */
export function drawLaplace(scale: usize): f64 {
  while (true) {
    const word = nextWord();
    const magnitude = geometricFrom(scale, word);
    // Zero would have two signs: the negative one is drawn again, which leaves P(0) right, and no −0.
    if (magnitude != 0) return word & 1 ? -magnitude : magnitude;
    if (!(word & 1)) return 0;
  }
}

/** Both digits of four words, high ≪ shift + low per lane; a lane with a tie has its top bit set. */
// @ts-ignore: decorator
@inline
function drawPairs(table: usize, words: v128, at: usize, stride: usize, shift: i32): v128 {
  // The columns are bytes 3 and 1 of each word: four lookups each, while the rest is done for all lanes at once.
  let high = v128.load32_zero(table + ((<usize>load<u8>(at, 3)) << 2));
  let low = v128.load32_zero(table + ((<usize>load<u8>(at, 1)) << 2), TABLE_BYTES);
  at += stride;
  high = v128.load_lane<u32>(table + ((<usize>load<u8>(at, 3)) << 2), high, 1);
  low = v128.load_lane<u32>(table + ((<usize>load<u8>(at, 1)) << 2), low, 1, TABLE_BYTES);
  at += stride;
  high = v128.load_lane<u32>(table + ((<usize>load<u8>(at, 3)) << 2), high, 2);
  low = v128.load_lane<u32>(table + ((<usize>load<u8>(at, 1)) << 2), low, 2, TABLE_BYTES);
  at += stride;
  high = v128.load_lane<u32>(table + ((<usize>load<u8>(at, 3)) << 2), high, 3);
  low = v128.load_lane<u32>(table + ((<usize>load<u8>(at, 1)) << 2), low, 3, TABLE_BYTES);
  // Fractions moved to where the thresholds' heads stand: bits 16 and up.
  const highFraction = v128.and(words, i32x4.splat(0xff0000));
  const lowFraction = v128.and(i32x4.shl(words, 15), i32x4.splat(0x7f0000));
  const ties = v128.or(sameHead(high, highFraction), sameHead(low, lowFraction));
  const digits = i32x4.add(i32x4.shl(outcomes(high, highFraction), shift), outcomes(low, lowFraction));
  return v128.or(digits, i32x4.shl(ties, 31));
}

/** Own outcomes where the fraction is below the head (nothing to rely on where they tie), else aliases. */
// @ts-ignore: decorator
@inline
function outcomes(entries: v128, fractions: v128): v128 {
  const own = i32x4.gt_s(entries, fractions);
  return v128.and(v128.bitselect(entries, i32x4.shr_u(entries, 8), own), i32x4.splat(255));
}

// @ts-ignore: decorator
@inline
function sameHead(entries: v128, fractions: v128): v128 {
  return i32x4.eq(i32x4.shr_u(v128.xor(entries, fractions), 16), i32x4.splat(0));
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
 * escape, 1 in 80 or fewer).
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
    const words = fourWords(at, draws);
    let digits = drawPairs(table, words, at, stride, topShift);
    let rare = i32x4.bitmask(v128.or(digits, i32x4.eq(i32x4.shr_u(digits, topShift), escape)));
    // Below 1: ⌊digits/m⌋. The quotient of integers below 2²⁴ rounds to an integer only if it is one.
    if (divided) digits = i32x4.trunc_sat_f32x4_s(f32x4.div(f32x4.convert_i32x4_s(digits), divisor));
    const negative = signed ? i32x4.shr_s(i32x4.shl(words, 31), 31) : i32x4.splat(0);
    let zero = i32x4.eq(digits, i32x4.splat(0));
    digits = i32x4.sub(v128.xor(digits, negative), negative);
    let first = f64x2.convert_low_i32x4_s(digits);
    let second = f64x2.convert_low_i32x4_s(i64x2.shuffle(digits, digits, 1, 1));
    // Horner: what the words so far are worth in units of the next word's lower digit, plus its own two digits.
    for (let draw: usize = 1; draw < draws; draw++) {
      const shifts = scale + SHIFTS + (draw << 3);
      const lowShift = load<u32>(shifts, 4);
      const shift = load<u32>(shifts) - lowShift;
      const width = load<u32>(shifts - 4) - lowShift;
      const unit = f64x2.splat(<f64>(1 << width));
      const next = at + (draw << 2);
      digits = drawPairs(table + 2 * draw * TABLE_BYTES, fourWords(next, draws), next, stride, shift);
      rare |= i32x4.bitmask(digits);
      zero = v128.and(zero, i32x4.eq(digits, i32x4.splat(0)));
      digits = i32x4.sub(v128.xor(digits, negative), negative);
      first = f64x2.add(f64x2.mul(first, unit), f64x2.convert_low_i32x4_s(digits));
      digits = i64x2.shuffle(digits, digits, 1, 1);
      second = f64x2.add(f64x2.mul(second, unit), f64x2.convert_low_i32x4_s(digits));
    }
    if (rare) break;
    at += 4 * stride;
    const refused = i32x4.bitmask(v128.and(zero, negative));
    if (signed && refused) {
      // A refused sample is overwritten by the next.
      v128.store_lane<u64>(out, first, 0);
      out += 8 ^ ((refused & 1) << 3);
      v128.store_lane<u64>(out, first, 1);
      out += 8 ^ ((refused & 2) << 2);
      v128.store_lane<u64>(out, second, 0);
      out += 8 ^ ((refused & 4) << 1);
      v128.store_lane<u64>(out, second, 1);
      out += 8 ^ (refused & 8);
    } else {
      v128.store(out, first);
      v128.store(out, second, 16);
      out += 32;
    }
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

/** Geometric samples for a kernel that has begun to read: `count` f64 from `out` on. */
export function geometricInto(scale: usize, count: i32, out: usize): void {
  fill(scale, out, out + ((<usize>count) << 3), false);
}

/** Discrete Laplace samples for a kernel that has begun to read: `count` f64 from `out` on. */
export function laplaceInto(scale: usize, count: i32, out: usize): void {
  fill(scale, out, out + ((<usize>count) << 3), true);
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
