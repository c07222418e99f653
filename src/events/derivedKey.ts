import type { Keystream } from "../core/core.js";
import { type Stage, subStream } from "../core/random.js";

/** A key for one purpose: the first words of its sub-stream. */
export function derivedKey(core: Keystream, key: Uint32Array, stage: Stage, words: number): Uint32Array {
  const derived = new Uint32Array(words);
  core.keystream(subStream(key, stage, 0, 0), derived);
  return derived;
}
