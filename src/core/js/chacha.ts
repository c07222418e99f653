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

/** Writes the 16 words of keystream block `counter` at out[at…]. Locals, because a typed array would be seven times slower. */
export function chachaBlock(input: Uint32Array, counter: number, out: Uint32Array, at: number): void {
  let x0 = input[0]! | 0;
  let x1 = input[1]! | 0;
  let x2 = input[2]! | 0;
  let x3 = input[3]! | 0;
  let x4 = input[4]! | 0;
  let x5 = input[5]! | 0;
  let x6 = input[6]! | 0;
  let x7 = input[7]! | 0;
  let x8 = input[8]! | 0;
  let x9 = input[9]! | 0;
  let x10 = input[10]! | 0;
  let x11 = input[11]! | 0;
  let x12 = counter | 0;
  let x13 = input[13]! | 0;
  let x14 = input[14]! | 0;
  let x15 = input[15]! | 0;
  for (let i = 0; i < 10; i++) {
    // Quarter rounds (section 2.1) on the columns …
    x0 = (x0 + x4) | 0;
    x12 ^= x0;
    x12 = (x12 << 16) | (x12 >>> 16);
    x8 = (x8 + x12) | 0;
    x4 ^= x8;
    x4 = (x4 << 12) | (x4 >>> 20);
    x0 = (x0 + x4) | 0;
    x12 ^= x0;
    x12 = (x12 << 8) | (x12 >>> 24);
    x8 = (x8 + x12) | 0;
    x4 ^= x8;
    x4 = (x4 << 7) | (x4 >>> 25);

    x1 = (x1 + x5) | 0;
    x13 ^= x1;
    x13 = (x13 << 16) | (x13 >>> 16);
    x9 = (x9 + x13) | 0;
    x5 ^= x9;
    x5 = (x5 << 12) | (x5 >>> 20);
    x1 = (x1 + x5) | 0;
    x13 ^= x1;
    x13 = (x13 << 8) | (x13 >>> 24);
    x9 = (x9 + x13) | 0;
    x5 ^= x9;
    x5 = (x5 << 7) | (x5 >>> 25);

    x2 = (x2 + x6) | 0;
    x14 ^= x2;
    x14 = (x14 << 16) | (x14 >>> 16);
    x10 = (x10 + x14) | 0;
    x6 ^= x10;
    x6 = (x6 << 12) | (x6 >>> 20);
    x2 = (x2 + x6) | 0;
    x14 ^= x2;
    x14 = (x14 << 8) | (x14 >>> 24);
    x10 = (x10 + x14) | 0;
    x6 ^= x10;
    x6 = (x6 << 7) | (x6 >>> 25);

    x3 = (x3 + x7) | 0;
    x15 ^= x3;
    x15 = (x15 << 16) | (x15 >>> 16);
    x11 = (x11 + x15) | 0;
    x7 ^= x11;
    x7 = (x7 << 12) | (x7 >>> 20);
    x3 = (x3 + x7) | 0;
    x15 ^= x3;
    x15 = (x15 << 8) | (x15 >>> 24);
    x11 = (x11 + x15) | 0;
    x7 ^= x11;
    x7 = (x7 << 7) | (x7 >>> 25);

    // … and on the diagonals.
    x0 = (x0 + x5) | 0;
    x15 ^= x0;
    x15 = (x15 << 16) | (x15 >>> 16);
    x10 = (x10 + x15) | 0;
    x5 ^= x10;
    x5 = (x5 << 12) | (x5 >>> 20);
    x0 = (x0 + x5) | 0;
    x15 ^= x0;
    x15 = (x15 << 8) | (x15 >>> 24);
    x10 = (x10 + x15) | 0;
    x5 ^= x10;
    x5 = (x5 << 7) | (x5 >>> 25);

    x1 = (x1 + x6) | 0;
    x12 ^= x1;
    x12 = (x12 << 16) | (x12 >>> 16);
    x11 = (x11 + x12) | 0;
    x6 ^= x11;
    x6 = (x6 << 12) | (x6 >>> 20);
    x1 = (x1 + x6) | 0;
    x12 ^= x1;
    x12 = (x12 << 8) | (x12 >>> 24);
    x11 = (x11 + x12) | 0;
    x6 ^= x11;
    x6 = (x6 << 7) | (x6 >>> 25);

    x2 = (x2 + x7) | 0;
    x13 ^= x2;
    x13 = (x13 << 16) | (x13 >>> 16);
    x8 = (x8 + x13) | 0;
    x7 ^= x8;
    x7 = (x7 << 12) | (x7 >>> 20);
    x2 = (x2 + x7) | 0;
    x13 ^= x2;
    x13 = (x13 << 8) | (x13 >>> 24);
    x8 = (x8 + x13) | 0;
    x7 ^= x8;
    x7 = (x7 << 7) | (x7 >>> 25);

    x3 = (x3 + x4) | 0;
    x14 ^= x3;
    x14 = (x14 << 16) | (x14 >>> 16);
    x9 = (x9 + x14) | 0;
    x4 ^= x9;
    x4 = (x4 << 12) | (x4 >>> 20);
    x3 = (x3 + x4) | 0;
    x14 ^= x3;
    x14 = (x14 << 8) | (x14 >>> 24);
    x9 = (x9 + x14) | 0;
    x4 ^= x9;
    x4 = (x4 << 7) | (x4 >>> 25);
  }
  out[at] = x0 + input[0]!;
  out[at + 1] = x1 + input[1]!;
  out[at + 2] = x2 + input[2]!;
  out[at + 3] = x3 + input[3]!;
  out[at + 4] = x4 + input[4]!;
  out[at + 5] = x5 + input[5]!;
  out[at + 6] = x6 + input[6]!;
  out[at + 7] = x7 + input[7]!;
  out[at + 8] = x8 + input[8]!;
  out[at + 9] = x9 + input[9]!;
  out[at + 10] = x10 + input[10]!;
  out[at + 11] = x11 + input[11]!;
  out[at + 12] = x12 + counter;
  out[at + 13] = x13 + input[13]!;
  out[at + 14] = x14 + input[14]!;
  out[at + 15] = x15 + input[15]!;
}

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
