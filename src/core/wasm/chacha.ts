/** Calls assembly/chacha.ts. */
import type { Keystream } from "../core.js";
import { initialState } from "../js/chacha.js";
import { checkPosition } from "../random.js";
import { type NoiseKernels, useArena } from "./instance.js";

/** Words made by one call: four blocks of 16, times 256. */
const CHUNK = 16384;

export function chacha(kernels: NoiseKernels): Keystream {
  return {
    keystream(random, out) {
      checkPosition(random.position + out.length);
      useArena(kernels, (arena) => {
        const state = arena.put(initialState(random));
        const at = arena.take(4 * Math.min(CHUNK, out.length + 80)); // whole groups of 64 words, begun and ended within
        let { position } = random;
        for (let done = 0; done < out.length;) {
          const within = position % 16;
          const take = Math.min(CHUNK - within, out.length - done);
          const groups = Math.ceil((within + take) / 64);
          kernels.chachaFill(state, Math.floor(position / 16), groups, at);
          arena.read(at + 4 * within, out.subarray(done, done + take));
          done += take;
          position += take;
        }
        random.position = position;
      });
    },
  };
}
