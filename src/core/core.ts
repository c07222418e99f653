/**
 * What both cores can do. `wasm` runs the kernels of assembly/, `js` their twins in plain TypeScript; on the
 * same key they give the same answers, bit for bit. A core keeps nothing between calls: every array that goes
 * in or comes out belongs to the caller.
 */
import type { Random } from "./random.js";

/** ChaCha20 (RFC 8439). */
export interface Keystream {
  /** Fills `out` with the next words of the keystream. */
  keystream(random: Random, out: Uint32Array): void;
}

export interface Core extends Keystream {
  readonly name: "wasm" | "js";
}
