/** Stages assembly/chacha.ts. */
import type { Keystream } from "../core.js";
import { initialState } from "../js/chacha.js";
import { Arena, type Kernels } from "./instance.js";

export function chacha(kernels: Kernels): Keystream {
  return {
    keystream(random, out) {
      const arena = new Arena(kernels);
      const state = arena.put(initialState(random));
      const at = arena.take(64);
      const block = new Uint32Array(16);
      for (let done = 0; done < out.length;) {
        const within = random.position % 16;
        kernels.chachaBlock(state, Math.floor(random.position / 16), at);
        arena.read(at, block);
        const take = Math.min(16 - within, out.length - done);
        out.set(block.subarray(within, within + take), done);
        done += take;
        random.position += take;
      }
    },
  };
}
