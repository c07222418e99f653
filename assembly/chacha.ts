/** Key → random bits: the ChaCha20 block function of RFC 8439, section 2.3, one block at a time. */

/** A quarter round on four words of the state at `s` (RFC 8439, section 2.1). */
// @ts-ignore: decorator
@inline
function quarterRound(s: usize, a: usize, b: usize, c: usize, d: usize): void {
  let x = load<u32>(s + a),
    y = load<u32>(s + b),
    z = load<u32>(s + c),
    w = load<u32>(s + d);
  x += y;
  w = rotl<u32>(w ^ x, 16);
  z += w;
  y = rotl<u32>(y ^ z, 12);
  x += y;
  w = rotl<u32>(w ^ x, 8);
  z += w;
  y = rotl<u32>(y ^ z, 7);
  store<u32>(s + a, x);
  store<u32>(s + b, y);
  store<u32>(s + c, z);
  store<u32>(s + d, w);
}

/**
 * Writes the 16 words of keystream block `counter`.
 * @param input constants, key (8 words), counter, nonce (3 words): the 64-byte state of RFC 8439
 * @param out 64 bytes
 */
export function chachaBlock(input: usize, counter: u32, out: usize): void {
  memory.copy(out, input, 64);
  store<u32>(out, counter, 48);
  for (let i = 0; i < 10; i++) {
    quarterRound(out, 0, 16, 32, 48);
    quarterRound(out, 4, 20, 36, 52);
    quarterRound(out, 8, 24, 40, 56);
    quarterRound(out, 12, 28, 44, 60);
    quarterRound(out, 0, 20, 40, 60);
    quarterRound(out, 4, 24, 44, 48);
    quarterRound(out, 8, 28, 32, 52);
    quarterRound(out, 12, 16, 36, 56);
  }
  for (let i: usize = 0; i < 64; i += 4)
    store<u32>(out + i, load<u32>(out + i) + (i == 48 ? counter : load<u32>(input + i)));
}
