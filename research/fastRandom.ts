/** A fast generator for made-up people: no noise comes from it. */
export function fastRandom(seed: number): () => number {
  let x = seed >>> 0;
  return () => {
    x = (x + 0x6d2b79f5) >>> 0;
    let y = Math.imul(x ^ (x >>> 15), 1 | x);
    y = (y + Math.imul(y ^ (y >>> 7), 61 | y)) ^ y;
    return ((y ^ (y >>> 14)) >>> 0) / 2 ** 32;
  };
}
