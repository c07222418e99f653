/**
 * Apart from random.ts, so that a device that never asks for a seed does not carry the generator for it. A stream is made in
 * one synchronous call, so the generator cannot be loaded on demand; without its six alternatives it has 1 KB.
 */
import seedrandom from "seedrandom/seedrandom.js";

/** A key anyone who knows `seed` can make again: for tests, benchmarks and papers, never private. */
export function unsafeKey(seed: string): Uint32Array {
  const generator = seedrandom(seed);
  return Uint32Array.from({ length: 8 }, () => generator.int32());
}
