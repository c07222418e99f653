/** Key → random bits: twin of assembly/chacha.ts. */
import type { Keystream } from "../core.js";
import { checkPosition, type Random } from "../random.js";

/** "expand 32-byte k" (RFC 8439, section 2.3). */
const CONSTANTS = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574];

/** The 16 words of the state before the rounds; word 12, the block counter, is 0. */
export function initialState(random: Random): Uint32Array {
  const state = new Uint32Array(16);
  state.set(CONSTANTS);
  state.set(random.key, 4);
  state.set(random.nonce, 13);
  return state;
}

/** Writes the 16 words of keystream block `counter` at out[at…]. */
export function chachaBlock(input: Uint32Array, counter: number, out: Uint32Array, at: number): void {
  const x = new Int32Array(input);
  x[12] = counter;
  for (let i = 0; i < 10; i++) {
    quarterRound(x, 0, 4, 8, 12);
    quarterRound(x, 1, 5, 9, 13);
    quarterRound(x, 2, 6, 10, 14);
    quarterRound(x, 3, 7, 11, 15);
    quarterRound(x, 0, 5, 10, 15);
    quarterRound(x, 1, 6, 11, 12);
    quarterRound(x, 2, 7, 8, 13);
    quarterRound(x, 3, 4, 9, 14);
  }
  for (let i = 0; i < 16; i++) out[at + i] = x[i]! + (i === 12 ? counter : input[i]!);
}

function quarterRound(x: Int32Array, a: number, b: number, c: number, d: number): void {
  x[a] = x[a]! + x[b]!;
  x[d] = rotl(x[d]! ^ x[a], 16);
  x[c] = x[c]! + x[d];
  x[b] = rotl(x[b]! ^ x[c], 12);
  x[a] = x[a] + x[b];
  x[d] = rotl(x[d] ^ x[a], 8);
  x[c] = x[c] + x[d];
  x[b] = rotl(x[b] ^ x[c], 7);
}

const rotl = (word: number, by: number): number => (word << by) | (word >>> (32 - by));

export const keystream: Keystream["keystream"] = (random, out) => {
  checkPosition(random.position + out.length);
  const state = initialState(random);
  const block = new Uint32Array(16);
  for (let done = 0; done < out.length;) {
    const within = random.position % 16;
    chachaBlock(state, Math.floor(random.position / 16), block, 0);
    const take = Math.min(16 - within, out.length - done);
    out.set(block.subarray(within, within + take), done);
    done += take;
    random.position += take;
  }
};
