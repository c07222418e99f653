/** Calls assembly/reader.ts: key and position for any kernel that draws. */
import { RANDOM_POSITION } from "../layout.js";
import { initialState } from "../js/chacha.js";
import { checkPosition, type Random } from "../random.js";
import { type Arena, type Kernels, useArena } from "./instance.js";

/**
 * Runs a kernel that draws from `random`: stages the block that assembly/reader.ts describes, moves
 * `random.position` to where the kernel stopped. Copy the kernel's results out after this returns: past the end of the
 * sub-stream it throws.
 * @param arena of `useArena`, which wipes key and keystream
 */
export function withRandom(
  kernels: Kernels,
  arena: Arena,
  random: Random,
  run: (block: number) => void,
): void {
  checkPosition(random.position);
  const block = arena.take(kernels.randomBytes());
  arena.write(block, initialState(random));
  arena.writeDouble(block + RANDOM_POSITION, random.position);
  run(block);
  const position = arena.readDouble(block + RANDOM_POSITION);
  checkPosition(position);
  random.position = position;
}

/** Samples made by one call: 64 KiB of f64. */
const CHUNK = 8192;

/** Fills `out` chunk by chunk with what `fill` draws from the staged `input`. */
export function fillChunks(
  kernels: Kernels,
  random: Random,
  input: Uint32Array,
  out: Float64Array,
  fill: (block: number, input: number, count: number, at: number) => void,
): void {
  useArena(kernels, (arena) => {
    const staged = arena.put(input);
    const at = arena.take(out.BYTES_PER_ELEMENT * Math.min(CHUNK, out.length));
    withRandom(kernels, arena, random, (block) => {
      for (let done = 0; done < out.length; done += CHUNK) {
        const part = out.subarray(done, done + CHUNK);
        fill(block, staged, part.length, at);
        arena.read(at, part);
      }
    });
  });
}
