/** Calls assembly/reader.ts: key and position for any kernel that draws. */
import { RANDOM_POSITION } from "../layout.js";
import { initialState } from "../js/chacha.js";
import { checkPosition, type Random } from "../random.js";
import { type Arena, type Kernels, useArena } from "./instance.js";

/**
 * Runs a kernel that draws from `random`: puts the record that assembly/reader.ts describes, and moves
 * `random.position` to where the kernel stopped. Copy the kernel's results out after this returns: past the end of the
 * sub-stream it throws.
 * @param arena of `useArena`, which wipes key and keystream
 */
export function withRandom(
  kernels: Kernels,
  arena: Arena,
  random: Random,
  run: (record: number) => void,
): void {
  checkPosition(random.position);
  const record = putRandom(kernels, arena, random);
  run(record);
  const position = arena.readDouble(record + RANDOM_POSITION);
  checkPosition(position);
  random.position = position;
}

/** Puts a sub-stream, at its position, into the arena. @returns where assembly/reader.ts finds it */
export function putRandom(kernels: Kernels, arena: Arena, random: Random): number {
  const record = arena.take(kernels.randomBytes());
  arena.write(record, initialState(random));
  arena.writeDouble(record + RANDOM_POSITION, random.position);
  return record;
}

/** Samples made by one call: 64 KiB of f64. */
const CHUNK = 8192;

/** Fills `out` chunk by chunk with what `fill` draws from a copy of `input`. */
export function fillChunks(
  kernels: Kernels,
  random: Random,
  input: Uint32Array,
  out: Float64Array,
  fill: (record: number, input: number, count: number, at: number) => void,
): void {
  useArena(kernels, (arena) => {
    const copy = arena.put(input);
    const at = arena.take(out.BYTES_PER_ELEMENT * Math.min(CHUNK, out.length));
    withRandom(kernels, arena, random, (record) => {
      for (let done = 0; done < out.length; done += CHUNK) {
        const part = out.subarray(done, done + CHUNK);
        fill(record, copy, part.length, at);
        arena.read(at, part);
      }
    });
  });
}
