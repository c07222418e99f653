/** Batches of local reports. src/core/mechanism.ts says what the four sectors are; all of them by `select`, no branch to guess. */
import { beginRandom, cursor, endRandom, limit, moveCursor, nextWord } from "./reader";

const COIN_BYTES: usize = 32;
/** Behind the three coins: room for the 6 words of a number that ties with one of them. */
const NUMBER: usize = 3 * COIN_BYTES;

/** Whether the 6 words at `number` are below the coin at `coin`, most significant first. */
function isBelow(number: usize, coin: usize): bool {
  for (let at: usize = 0; at < 24; at += 4) {
    const word = load<u32>(number + at);
    const threshold = load<u32>(coin + at);
    if (word != threshold) return word < threshold;
  }
  return <bool>load<u32>(coin, 24);
}

/** The sector when the first word ties with a coin, once in 2³⁰: the other 5 words decide. */
function tiedSector(word: u32, coins: usize): u32 {
  const number = coins + NUMBER;
  store<u32>(number, word);
  for (let at: usize = 4; at < 24; at += 4) store<u32>(number + at, nextWord());
  return (
    3 -
    <u32>isBelow(number, coins) -
    <u32>isBelow(number, coins + COIN_BYTES) -
    <u32>isBelow(number, coins + 2 * COIN_BYTES)
  );
}

/**
 * Uniform on 0 … n − 1, n ≤ 2²¹: the top 32 bits of word·n, drawn again for the 2³² mod n words too many. One word all but
 * once in 2¹¹, where `below` takes two as often as not.
 */
function belowOnce(n: u32): u32 {
  let product = <u64>nextWord() * <u64>n;
  if (<u32>product < n) {
    const surplus: u32 = (<u32>0 - n) % n; // 2³² mod n
    while (<u32>product < surplus) product = <u64>nextWord() * <u64>n;
  }
  return <u32>(product >> 32);
}

/** The cell that sector and uniform number give to input x. */
// @ts-ignore: decorator
@inline
function cellOf(sector: u32, u: u32, x: u32, width: u32, cells: u32): u32 {
  const under = <u32>(u < x);
  const outside = u + ((under - 1) & width);
  const rounded = cells - 2 + (under ^ (sector & 1));
  return select<u32>(x + u, select<u32>(outside, rounded, sector == 1), sector == 0);
}

/** A report word by word: at the end of the buffer, after a tie, or when a uniform number may have to be drawn again. */
function drawReport(x: u32, top: u32, width: u32, cells: u32, coins: usize): u32 {
  const word = nextWord();
  const first = load<u32>(coins),
    second = load<u32>(coins, COIN_BYTES),
    third = load<u32>(coins, 2 * COIN_BYTES);
  const sector =
    word == first || word == second || word == third
      ? tiedSector(word, coins)
      : <u32>(word >= first) + <u32>(word >= second) + <u32>(word >= third);
  return cellOf(sector, belowOnce(select<u32>(width, top, sector == 0)), x, width, cells);
}

/**
 * One report per value: quantise, then draw. Two words at once from the reader's buffer, all but once in 2¹¹.
 * @param values count f64, finite
 * @param coins three coins, and 32 bytes more
 * @param out count u32
 */
export function fillReports(
  random: usize,
  values: usize,
  count: i32,
  scale: f64,
  shift: f64,
  top: u32,
  width: u32,
  cells: u32,
  coins: usize,
  out: usize,
): void {
  const first = load<u32>(coins),
    second = load<u32>(coins, COIN_BYTES),
    third = load<u32>(coins, 2 * COIN_BYTES);
  beginRandom(random);
  let at = cursor;
  for (let i = 0; i < count; i++, values += 8, out += 4) {
    const x = <u32>min<f64>(floor<f64>(max<f64>(load<f64>(values), 0) * scale + shift), <f64>top);
    if (limit - at >= 8) {
      const word = load<u32>(at);
      const sector = <u32>(word >= first) + <u32>(word >= second) + <u32>(word >= third);
      const n = select<u32>(width, top, sector == 0);
      const product = <u64>load<u32>(at, 4) * <u64>n;
      const tie = (<i32>(word == first)) | (<i32>(word == second)) | (<i32>(word == third));
      if (!(tie | (<i32>(<u32>product < n)))) {
        store<u32>(out, cellOf(sector, <u32>(product >> 32), x, width, cells));
        at += 8;
        continue;
      }
    }
    moveCursor(at);
    store<u32>(out, drawReport(x, top, width, cells, coins));
    at = cursor;
  }
  moveCursor(at);
  endRandom();
}
