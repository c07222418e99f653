/** Numbers for tests: the same on every run, made fast enough for millions. */

/** Whole numbers in [−size, size], from a 32-bit counter mixed as in MurmurHash3; not random enough for noise. */
export function integers(seed: number, length: number, size: number): Float64Array {
  return Float64Array.from({ length }, (_, i) => {
    let word = Math.imul(i + 1, 0x9e3779b9) ^ Math.imul(seed + 1, 0x85ebca6b);
    word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
    word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
    word ^= word >>> 16;
    return Math.round((word / 2 ** 31) * size) + 0; // + 0: no negative zero
  });
}

/** All bits of an array as text: tells 0 from −0 and compares millions at once. */
export function bits(numbers: Float64Array): string {
  return Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength).toString("base64");
}
