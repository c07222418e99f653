/**
 * Random words in order, for any kernel. A kernel that draws takes a pointer `random` to a record put there by
 * src/core/wasm/reader.ts, and does
 *
 *     beginRandom(random);
 *     … nextWord(), flip(coin); drawGeometric(scale), drawLaplace(scale) of laplace.ts …
 *     endRandom();
 *
 * The record: ChaCha20 state (64 bytes), position in words (f64, read at the beginning and written at the end),
 * 8 bytes of padding, buffer. Words are made four blocks ahead, but `position` counts only those taken.
 */
import { RANDOM_BUFFER, RANDOM_POSITION } from "../src/core/layout";
import { chachaFourBlocks } from "./chacha";

const POSITION: usize = RANDOM_POSITION;
const BUFFER: usize = RANDOM_BUFFER;
const BUFFER_BYTES: usize = 1024;

/** Bytes of the record; the arena asks for as many. */
export function randomBytes(): usize {
  return BUFFER + BUFFER_BYTES;
}

let state: usize = 0;
/** The next block to make; beyond 2³² (which the counter cannot count) the caller throws the results away. */
let nextBlock: u64 = 0;
/** The next word to take, and the end of those made: pointers. laplace.ts keeps a copy in its loop. */
export let cursor: usize = 0;
export let limit: usize = 0;

/** Starts reading at the block's position. */
export function beginRandom(random: usize): void {
  const position = <u64>load<f64>(random, POSITION);
  state = random;
  nextBlock = position >> 4;
  refill();
  cursor += (<usize>(position & 15)) << 2;
}

/** Writes the position after the last word taken into the block. */
export function endRandom(): void {
  store<f64>(state, <f64>((nextBlock << 4) - ((<u64>(limit - cursor)) >> 2)), POSITION);
}

/** Makes the next words; those left over are lost, so only for an empty buffer. */
export function refill(): void {
  cursor = state + BUFFER;
  limit = cursor + BUFFER_BYTES;
  for (let at = cursor; at < limit; at += 256, nextBlock += 4) chachaFourBlocks(state, <u32>nextBlock, at);
}

/** Moves the cursor: for loops that read words on their own. */
// @ts-ignore: decorator
@inline
export function moveCursor(to: usize): void {
  cursor = to;
}

/** The next 32 bits. */
// @ts-ignore: decorator
@inline
export function nextWord(): u32 {
  if (cursor == limit) refill();
  const word = load<u32>(cursor);
  cursor += 4;
  return word;
}

/** True with the probability of the coin at `coin` (src/core/tables/coin.ts): 6 words, compared while they tie. */
// @ts-ignore: decorator
@inline
export function flip(coin: usize): bool {
  const word = nextWord();
  const threshold = load<u32>(coin);
  return word == threshold ? tailBelow(coin + 4, 5, <bool>load<u32>(coin, 24)) : word < threshold;
}

/** Whether the next `words` words, as one number, are below the number at `threshold`; `tie` if they are equal. */
export function tailBelow(threshold: usize, words: i32, tie: bool): bool {
  for (let i = 0; i < words; i++, threshold += 4) {
    const word = nextWord();
    if (word != load<u32>(threshold)) return word < load<u32>(threshold);
  }
  return tie;
}
