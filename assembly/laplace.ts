/** Random bits → exact integer noise. src/core/scale.ts says how a scale draws; no float decides a sample. */
import { beginRandom, endRandom, nextWord, tailBelow } from "./reader";

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

/** A geometric sample, P(k) ∝ exp(−k/t), whose first word has been taken already. */
function geometricFrom(scale: usize, word: u32): f64 {
  let sum: f64 = 0;
  let top = drawDigit(scale, 0, word >> 24, (word >> 16) & 255);
  while (top == load<u32>(scale, ESCAPE)) {
    sum += load<f64>(scale, ESCAPE_STEP);
    const again = nextWord();
    top = drawDigit(scale, 0, again >> 24, (again >> 16) & 255);
  }
  let digits = ((<u64>top) << load<u32>(scale, SHIFTS)) + drawLow(scale, 1, word);
  const count = load<u32>(scale) << 1;
  for (let digit: u32 = 2; digit < count; digit += 2) {
    word = nextWord();
    const high = drawDigit(scale, digit, word >> 24, (word >> 16) & 255);
    digits += ((<u64>high) << load<u32>(scale + (digit << 2), SHIFTS)) + drawLow(scale, digit + 1, word);
  }
  sum += <f64>digits;
  const divisor = load<f64>(scale, DIVISOR);
  return divisor == 1 ? sum : floor<f64>(sum / divisor);
}

/** The digit in the lower half of a word, with its weight. */
// @ts-ignore: decorator
@inline
function drawLow(scale: usize, digit: u32, word: u32): u64 {
  const low = drawDigit(scale, digit, (word >> 8) & 255, (word & 255) >> 1);
  return (<u64>low) << load<u32>(scale + (digit << 2), SHIFTS);
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

/** `count` geometric samples. */
export function fillGeometric(random: usize, scale: usize, count: i32, out: usize): void {
  beginRandom(random);
  for (let i = 0; i < count; i++, out += 8) store<f64>(out, drawGeometric(scale));
  endRandom();
}

/** `count` discrete Laplace samples. */
export function fillLaplace(random: usize, scale: usize, count: i32, out: usize): void {
  beginRandom(random);
  for (let i = 0; i < count; i++, out += 8) store<f64>(out, drawLaplace(scale));
  endRandom();
}
