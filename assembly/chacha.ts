/** Key → random bits: ChaCha20 (RFC 8439), four blocks at a time, one block to a lane. */

// By whole bytes: a swizzle, whose constant engines keep at hand. They build the constant of a shuffle again each time.

// @ts-ignore: decorator
@inline
function rotl16(x: v128): v128 {
  return i8x16.swizzle(x, i8x16(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
}

// @ts-ignore: decorator
@inline
function rotl12(x: v128): v128 {
  return v128.or(i32x4.shl(x, 12), i32x4.shr_u(x, 20));
}

// @ts-ignore: decorator
@inline
function rotl8(x: v128): v128 {
  return i8x16.swizzle(x, i8x16(3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14));
}

// @ts-ignore: decorator
@inline
function rotl7(x: v128): v128 {
  return v128.or(i32x4.shl(x, 7), i32x4.shr_u(x, 25));
}

/** Adds words i … i+3 of the input to lanes of four blocks and stores them as rows of 16 bytes, block by block. */
// @ts-ignore: decorator
@inline
function storeRows(input: usize, out: usize, x0: v128, x1: v128, x2: v128, x3: v128): void {
  const row = v128.load(input);
  const low01 = i32x4.shuffle(x0, x1, 0, 4, 1, 5);
  const low23 = i32x4.shuffle(x2, x3, 0, 4, 1, 5);
  const high01 = i32x4.shuffle(x0, x1, 2, 6, 3, 7);
  const high23 = i32x4.shuffle(x2, x3, 2, 6, 3, 7);
  v128.store(out, i32x4.add(row, i64x2.shuffle(low01, low23, 0, 2)));
  v128.store(out, i32x4.add(row, i64x2.shuffle(low01, low23, 1, 3)), 64);
  v128.store(out, i32x4.add(row, i64x2.shuffle(high01, high23, 0, 2)), 128);
  v128.store(out, i32x4.add(row, i64x2.shuffle(high01, high23, 1, 3)), 192);
}

/**
 * Writes the 64 words of keystream blocks counter … counter + 3.
 * @param input constants, key (8 words), 0 for the counter, nonce (3 words): the state of RFC 8439, section 2.3
 * @param out 256 bytes
 */
export function chachaFourBlocks(input: usize, counter: u32, out: usize): void {
  const counters = i32x4.add(i32x4.splat(counter), i32x4(0, 1, 2, 3));
  let a0 = v128.load32_splat(input, 0);
  let a1 = v128.load32_splat(input, 4);
  let a2 = v128.load32_splat(input, 8);
  let a3 = v128.load32_splat(input, 12);
  let b0 = v128.load32_splat(input, 16);
  let b1 = v128.load32_splat(input, 20);
  let b2 = v128.load32_splat(input, 24);
  let b3 = v128.load32_splat(input, 28);
  let c0 = v128.load32_splat(input, 32);
  let c1 = v128.load32_splat(input, 36);
  let c2 = v128.load32_splat(input, 40);
  let c3 = v128.load32_splat(input, 44);
  let d0 = counters;
  let d1 = v128.load32_splat(input, 52);
  let d2 = v128.load32_splat(input, 56);
  let d3 = v128.load32_splat(input, 60);
  for (let i = 0; i < 10; i++) {
    // Quarter rounds (section 2.1) on the columns …
    a0 = i32x4.add(a0, b0);
    d0 = rotl16(v128.xor(d0, a0));
    c0 = i32x4.add(c0, d0);
    b0 = rotl12(v128.xor(b0, c0));
    a0 = i32x4.add(a0, b0);
    d0 = rotl8(v128.xor(d0, a0));
    c0 = i32x4.add(c0, d0);
    b0 = rotl7(v128.xor(b0, c0));

    a1 = i32x4.add(a1, b1);
    d1 = rotl16(v128.xor(d1, a1));
    c1 = i32x4.add(c1, d1);
    b1 = rotl12(v128.xor(b1, c1));
    a1 = i32x4.add(a1, b1);
    d1 = rotl8(v128.xor(d1, a1));
    c1 = i32x4.add(c1, d1);
    b1 = rotl7(v128.xor(b1, c1));

    a2 = i32x4.add(a2, b2);
    d2 = rotl16(v128.xor(d2, a2));
    c2 = i32x4.add(c2, d2);
    b2 = rotl12(v128.xor(b2, c2));
    a2 = i32x4.add(a2, b2);
    d2 = rotl8(v128.xor(d2, a2));
    c2 = i32x4.add(c2, d2);
    b2 = rotl7(v128.xor(b2, c2));

    a3 = i32x4.add(a3, b3);
    d3 = rotl16(v128.xor(d3, a3));
    c3 = i32x4.add(c3, d3);
    b3 = rotl12(v128.xor(b3, c3));
    a3 = i32x4.add(a3, b3);
    d3 = rotl8(v128.xor(d3, a3));
    c3 = i32x4.add(c3, d3);
    b3 = rotl7(v128.xor(b3, c3));

    // … and on the diagonals.
    a0 = i32x4.add(a0, b1);
    d3 = rotl16(v128.xor(d3, a0));
    c2 = i32x4.add(c2, d3);
    b1 = rotl12(v128.xor(b1, c2));
    a0 = i32x4.add(a0, b1);
    d3 = rotl8(v128.xor(d3, a0));
    c2 = i32x4.add(c2, d3);
    b1 = rotl7(v128.xor(b1, c2));

    a1 = i32x4.add(a1, b2);
    d0 = rotl16(v128.xor(d0, a1));
    c3 = i32x4.add(c3, d0);
    b2 = rotl12(v128.xor(b2, c3));
    a1 = i32x4.add(a1, b2);
    d0 = rotl8(v128.xor(d0, a1));
    c3 = i32x4.add(c3, d0);
    b2 = rotl7(v128.xor(b2, c3));

    a2 = i32x4.add(a2, b3);
    d1 = rotl16(v128.xor(d1, a2));
    c0 = i32x4.add(c0, d1);
    b3 = rotl12(v128.xor(b3, c0));
    a2 = i32x4.add(a2, b3);
    d1 = rotl8(v128.xor(d1, a2));
    c0 = i32x4.add(c0, d1);
    b3 = rotl7(v128.xor(b3, c0));

    a3 = i32x4.add(a3, b0);
    d2 = rotl16(v128.xor(d2, a3));
    c1 = i32x4.add(c1, d2);
    b0 = rotl12(v128.xor(b0, c1));
    a3 = i32x4.add(a3, b0);
    d2 = rotl8(v128.xor(d2, a3));
    c1 = i32x4.add(c1, d2);
    b0 = rotl7(v128.xor(b0, c1));
  }
  storeRows(input, out, a0, a1, a2, a3);
  storeRows(input + 16, out + 16, b0, b1, b2, b3);
  storeRows(input + 32, out + 32, c0, c1, c2, c3);
  storeRows(input + 48, out + 48, i32x4.add(d0, counters), d1, d2, d3);
}

/** Writes `groups` times four blocks, from block `counter` on. */
export function chachaFill(input: usize, counter: u32, groups: i32, out: usize): void {
  for (let i = 0; i < groups; i++) chachaFourBlocks(input, counter + 4 * i, out + 256 * i);
}
