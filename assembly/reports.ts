/** Batches of local reports. src/core/mechanism.ts says what the four sectors are; all of them by `select`, no branch to guess. */
import { beginRandom, endRandom, nextWord } from "./reader";

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
// @ts-ignore: decorator
@inline
function belowOnce(n: u32): u32 {
  let product = <u64>nextWord() * <u64>n;
  if (<u32>product < n) {
    const surplus: u32 = (<u32>0 - n) % n; // 2³² mod n
    while (<u32>product < surplus) product = <u64>nextWord() * <u64>n;
  }
  return <u32>(product >> 32);
}

/**
 * One report per value: quantise, then draw.
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
  for (let i = 0; i < count; i++, values += 8, out += 4) {
    const x = <u32>min<f64>(floor<f64>(max<f64>(load<f64>(values), 0) * scale + shift), <f64>top);
    const word = nextWord();
    let sector = <u32>(word >= first) + <u32>(word >= second) + <u32>(word >= third);
    if (word == first || word == second || word == third) sector = tiedSector(word, coins);
    const u = belowOnce(select<u32>(width, top, sector == 0));
    const under = <u32>(u < x);
    const outside = u + ((under - 1) & width);
    const rounded = cells - 2 + (under ^ (sector & 1));
    store<u32>(out, select<u32>(x + u, select<u32>(outside, rounded, sector == 1), sector == 0));
  }
  endRandom();
}
