/** Bins → the noisy best θ, exactly and lazily. The algorithm and its proof: docs/lazy-scan.md. */
import * as layout from "../src/core/layout";
import { chunkCount, bound, cheapestChunk, cost, openChunks } from "./chunks";
import { drawGeometric, drawLaplace } from "./laplace";
import { beginRandom, endRandom, flip, nextWord } from "./reader";

// A selection in bytes.
const STRIDE: usize = layout.SELECTION_STRIDE;
const STRIDE_COIN: usize = layout.SELECTION_STRIDE_COIN;
const SIDE_COIN: usize = layout.SELECTION_SIDE_COIN;
const SCALE: usize = layout.SELECTION_SCALE;

let selection: usize = 0;
let stride: f64 = 0;
let twoSided: bool = false;
let n: u32 = 0;
let beta: u32 = 0;
/** The mark: the best score plus noise so far, and whose it is. */
let mark: f64 = 0;
let holder: u32 = 0;

/**
 * The selected candidate, from 1. The most promising chunk sets a mark; one word is then enough to see that most
 * others stay below it.
 * @param random a record of reader.ts
 * @param parameters grid of the scores (4 × f64: chunks.ts), two coins, scale
 * @param bins m of them, u32 if `wide`, else u16
 * @param scratch chunksBytes(candidates, chunkBits, m) bytes
 */
export function noisyMax(
  random: usize,
  parameters: usize,
  laplace: bool,
  candidates: u32,
  chunkBits: u32,
  bins: usize,
  m: u32,
  wide: bool,
  scratch: usize,
): u32 {
  selection = parameters;
  stride = load<f64>(selection, STRIDE);
  twoSided = laplace;
  n = candidates;
  beta = chunkBits;
  mark = -Infinity;
  holder = 0;
  openChunks(selection, n, beta, bins, m, wide, scratch);
  beginRandom(random);
  const first = cheapestChunk();
  visit(first);
  for (let k: u32 = 0; k < chunkCount; k++) if (k != first) visit(k);
  endRandom();
  mark = 0; // a score with its noise is as secret as the values
  return holder + 1;
}

/** Looks for candidates of chunk k with noise ≥ j·T: any other stays below the mark, whatever its score. */
function visit(k: u32): void {
  const end = min(n, (k + 1) << beta);
  for (let a = k << beta; a < end;) {
    const j = level(mark + bound(k));
    const width = min(j, beta);
    const skipped = firstLucky(j, width);
    a += skipped;
    if (skipped >> width == 0 && a < end) consider(a++, k, j);
  }
}

/** The largest j with j·T ≤ gap, within bounds. Any smaller j is right too, so a quotient rounded up is all to mend. */
// @ts-ignore: decorator
@inline
function level(gap: f64): u32 {
  if (gap < stride) return 0;
  const j = min(<f64>layout.MAX_LEVEL, floor<f64>(gap / stride));
  return <u32>(j * stride > gap ? j - 1 : j);
}

/**
 * Among 2^width candidates, each lucky with probability x = 2^−j: the index of the first, or 2^width if none is.
 * P(i) = x(1 − x)^i = 2^(width−j) · 2^−width · (1 − x)^i, in that order: most chunks end after one word.
 */
// @ts-ignore: decorator
@inline
function firstLucky(j: u32, width: u32): u32 {
  const none: u32 = 1 << width;
  if (!zeros(j - width)) return none;
  const i: u32 = width == 0 ? 0 : nextWord() >> (32 - width);
  for (let before: u32 = 0; before < i; before++) if (zeros(j)) return none;
  return i;
}

/** True with probability 2^−bits. */
// @ts-ignore: decorator
@inline
function zeros(bits: u32): bool {
  for (; bits >= 32; bits -= 32) if (nextWord() != 0) return false;
  return bits == 0 || nextWord() >> (32 - bits) == 0;
}

/** Lucky candidate a: coins thin 2^−j to P(noise ≥ j·T) = 2^−j·c^j, and what exceeds j·T is geometric again. */
function consider(a: u32, k: u32, j: u32): void {
  if (j > 0 && twoSided && !flip(selection + SIDE_COIN)) return;
  for (let i: u32 = 0; i < j; i++) if (!flip(selection + STRIDE_COIN)) return;
  const rest = j == 0 && twoSided ? drawLaplace(selection + SCALE) : drawGeometric(selection + SCALE);
  const score = <f64>j * stride + rest - cost(a, k);
  if (score > mark || (score == mark && a < holder)) {
    mark = score;
    holder = a;
  }
}
