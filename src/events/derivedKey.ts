import type { Keystream } from "../core/core.js";
import { type Purpose, subStream } from "../core/random.js";

/** A key for one purpose: the first words of its sub-stream. @param number of several keys for one purpose */
export function derivedKey(
  core: Keystream,
  key: Uint32Array,
  purpose: Purpose,
  words: number,
  number = 0,
): Uint32Array {
  const derived = new Uint32Array(words);
  core.keystream(subStream(key, purpose, number, 0), derived);
  return derived;
}
