/**
 * A law of few outcomes → its alias table: twin of src/core/js/digit.ts. src/core/tables/digit.ts has the law. Numbers of
 * many bits lie in memory, lowest word first.
 */
import * as layout from "../src/core/layout";

// A law in bytes: three numbers of 256 bits.
const RATIO: usize = layout.LAW_RATIO;
const FIRST: usize = layout.LAW_FIRST;
const NEGATIVE: usize = layout.LAW_NEGATIVE;

/** A weight in bytes: a multiple of 2⁻¹⁷⁶, in three words of 64 bits. */
const WEIGHT: usize = 24;
const MOST_WEIGHTS: usize = WEIGHT * layout.TOP_COLUMNS;
/** A stack of columns, 16 bits each. */
const STACK: usize = 2 * layout.TOP_COLUMNS;
/** A product, or what is multiplied, in bytes: 512 bits, and 256. */
const PRODUCT: usize = 64;
const CHANCE: usize = 32;
const TAIL_BYTES: usize = 4 * layout.TAIL_WORDS;

/** Bytes of scratch memory that fillDigit takes. */
export function digitBytes(): usize {
  return MOST_WEIGHTS + 2 * STACK + PRODUCT + CHANCE;
}

/**
 * @param columns gets 2^columnBits words; 2⁹ where outcomes also carry a sign, else 2⁸
 * @param tails gets 5 words per column
 */
export function fillDigit(
  law: usize,
  outcomes: u32,
  columnBits: u32,
  scratch: usize,
  columns: usize,
  tails: usize,
): void {
  memory.fill(scratch, 0, MOST_WEIGHTS);
  fillWeights(law, outcomes, scratch);
  if (columnBits == 9) splitBySign(law, outcomes, scratch);
  fillColumns(scratch, columnBits, columns, tails);
}

/** P(k) = first·ratio^k, in multiples of 2⁻¹⁷⁶: differences of rounded sums. The last outcome has what is left. */
function fillWeights(law: usize, outcomes: u32, weights: usize): void {
  const chance = weights + MOST_WEIGHTS + 2 * STACK;
  const product = chance + CHANCE;
  memory.copy(chance, law + FIRST, CHANCE);
  // P(outcome ≤ k): of 256 bits, and rounded to 176.
  let s0: u64 = 0,
    s1: u64 = 0,
    s2: u64 = 0,
    s3: u64 = 0;
  let b0: u64 = 0,
    b1: u64 = 0,
    b2: u64 = 0;
  let at = weights;
  for (let k: u32 = 1; k < outcomes; k++) {
    const a0 = load<u64>(chance);
    s0 += a0;
    let carry = u64(s0 < a0);
    const a1 = load<u64>(chance, 8) + carry;
    s1 += a1;
    carry = u64(s1 < a1) | u64(a1 < carry);
    const a2 = load<u64>(chance, 16) + carry;
    s2 += a2;
    carry = u64(s2 < a2) | u64(a2 < carry);
    s3 += load<u64>(chance, 24) + carry;

    const r1 = s1 + (1 << 15); // half a unit of 2⁻¹⁷⁶
    const r2 = s2 + u64(r1 < s1);
    const r3 = s3 + u64(r2 < s2);
    const next0 = (r1 >> 16) | (r2 << 48);
    const next1 = (r2 >> 16) | (r3 << 48);
    const next2 = r3 >> 16;
    storeDifference(at, next0, next1, next2, b0, b1, b2);
    b0 = next0;
    b1 = next1;
    b2 = next2;
    at += WEIGHT;
    multiply(chance, 8, law + RATIO, product);
    memory.copy(chance, product + 32, CHANCE); // cut to 256 bits
  }
  storeDifference(at, 0, 0, 1 << 48, b0, b1, b2);
}

/** The rounded share of the negative sign of every weight goes 256 outcomes further. */
function splitBySign(law: usize, outcomes: u32, weights: usize): void {
  const product = weights + MOST_WEIGHTS + 2 * STACK;
  for (let k: usize = 0; k < outcomes; k++) {
    const weight = weights + k * WEIGHT;
    multiply(weight, 6, law + NEGATIVE, product);
    // Half of 2²⁵⁶ more, and the words above 2²⁵⁶ are the share.
    let carry = u64(load<u64>(product, 24) >> 63);
    const n0 = load<u64>(product, 32) + carry;
    carry &= u64(n0 == 0);
    const n1 = load<u64>(product, 40) + carry;
    carry &= u64(n1 == 0);
    const n2 = load<u64>(product, 48) + carry;
    storeDifference(weight, load<u64>(weight), load<u64>(weight, 8), load<u64>(weight, 16), n0, n1, n2);
    store<u64>(weight, n0, 256 * WEIGHT);
    store<u64>(weight, n1, 256 * WEIGHT + 8);
    store<u64>(weight, n2, 256 * WEIGHT + 16);
  }
}

/** Walker's alias method. Weights that are left always sum to the capacity of the columns that are left. */
function fillColumns(weights: usize, columnBits: u32, columns: usize, tails: usize): void {
  // The capacity of a column, 2^(176 − columnBits): its higher word, where its others are zero.
  const full: u64 = (<u64>1) << (48 - columnBits);
  const small = weights + MOST_WEIGHTS;
  const large = small + STACK;
  let smallEnd = small;
  let largeEnd = large;
  const count: u32 = 1 << columnBits;
  for (let i: u32 = 0; i < count; i++) {
    if (load<u64>(weights + <usize>i * WEIGHT, 16) < full) {
      store<u16>(smallEnd, <u16>i);
      smallEnd += 2;
    } else {
      store<u16>(largeEnd, <u16>i);
      largeEnd += 2;
    }
  }
  while (smallEnd > small) {
    smallEnd -= 2;
    const own = <u32>load<u16>(smallEnd);
    const alias = <u32>load<u16>(largeEnd - 2);
    const weight = weights + <usize>own * WEIGHT;
    const w0 = load<u64>(weight);
    const w1 = load<u64>(weight, 8);
    const w2 = load<u64>(weight, 16);
    // A column of one outcome is marked by a threshold that no number reaches: it never ties.
    if ((w0 | w1 | w2) == 0) writeColumn(columns, tails, columnBits, own, alias, alias, full, 0, 0);
    else writeColumn(columns, tails, columnBits, own, own, alias, w2, w1, w0);
    const other = weights + <usize>alias * WEIGHT;
    const x0 = load<u64>(other) + w0;
    let carry = u64(x0 < w0);
    const y1 = w1 + carry;
    const x1 = load<u64>(other, 8) + y1;
    carry = u64(x1 < y1) | u64(y1 < carry);
    const x2 = load<u64>(other, 16) + w2 + carry - full;
    store<u64>(other, x0);
    store<u64>(other, x1, 8);
    store<u64>(other, x2, 16);
    if (x2 < full) {
      largeEnd -= 2;
      store<u16>(smallEnd, <u16>alias);
      smallEnd += 2;
    }
  }
  while (largeEnd > large) {
    largeEnd -= 2;
    const own = <u32>load<u16>(largeEnd);
    writeColumn(columns, tails, columnBits, own, own, own, full, 0, 0);
  }
}

/** The threshold's head, alias and own outcome in a word, and its tail, highest word first. */
function writeColumn(
  columns: usize,
  tails: usize,
  outcomeBits: u32,
  column: u32,
  own: u32,
  alias: u32,
  t2: u64,
  t1: u64,
  t0: u64,
): void {
  const head = <u32>(t2 >> 32);
  store<u32>(columns + ((<usize>column) << 2), (((head << outcomeBits) | alias) << outcomeBits) | own);
  const tail = tails + <usize>column * TAIL_BYTES;
  store<u32>(tail, <u32>t2);
  store<u32>(tail, <u32>(t1 >> 32), 4);
  store<u32>(tail, <u32>t1, 8);
  store<u32>(tail, <u32>(t0 >> 32), 12);
  store<u32>(tail, <u32>t0, 16);
}

/** a − b, of three words each, at `out`. */
function storeDifference(out: usize, a0: u64, a1: u64, a2: u64, b0: u64, b1: u64, b2: u64): void {
  const d1 = a1 - b1;
  const borrow = u64(a0 < b0);
  store<u64>(out, a0 - b0);
  store<u64>(out, d1 - borrow, 8);
  store<u64>(out, a2 - b2 - (u64(a1 < b1) | u64(d1 < borrow)), 16);
}

/** The product of a, of `words` words of 32 bits, and b, of 8: words + 8 of them at `out`. */
function multiply(a: usize, words: u32, b: usize, out: usize): void {
  const b0 = <u64>load<u32>(b);
  const b1 = <u64>load<u32>(b, 4);
  const b2 = <u64>load<u32>(b, 8);
  const b3 = <u64>load<u32>(b, 12);
  const b4 = <u64>load<u32>(b, 16);
  const b5 = <u64>load<u32>(b, 20);
  const b6 = <u64>load<u32>(b, 24);
  const b7 = <u64>load<u32>(b, 28);
  memory.fill(out, 0, 32);
  for (let i: u32 = 0; i < words; i++) {
    // (2³² − 1)² + 2(2³² − 1) < 2⁶⁴: a step never overflows.
    const x = <u64>load<u32>(a + ((<usize>i) << 2));
    let t = x * b0 + <u64>load<u32>(out);
    store<u32>(out, <u32>t);
    t = x * b1 + <u64>load<u32>(out, 4) + (t >> 32);
    store<u32>(out, <u32>t, 4);
    t = x * b2 + <u64>load<u32>(out, 8) + (t >> 32);
    store<u32>(out, <u32>t, 8);
    t = x * b3 + <u64>load<u32>(out, 12) + (t >> 32);
    store<u32>(out, <u32>t, 12);
    t = x * b4 + <u64>load<u32>(out, 16) + (t >> 32);
    store<u32>(out, <u32>t, 16);
    t = x * b5 + <u64>load<u32>(out, 20) + (t >> 32);
    store<u32>(out, <u32>t, 20);
    t = x * b6 + <u64>load<u32>(out, 24) + (t >> 32);
    store<u32>(out, <u32>t, 24);
    t = x * b7 + <u64>load<u32>(out, 28) + (t >> 32);
    store<u32>(out, <u32>t, 28);
    store<u32>(out, <u32>(t >> 32), 32);
    out += 4;
  }
}
