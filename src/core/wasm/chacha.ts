/** Stages assembly/chacha.ts. */
import type { Keystream } from "../core.js";
import { initialState } from "../js/chacha.js";
import { checkPosition } from "../random.js";
import { Arena, type Kernels } from "./instance.js";

/** Words made by one call: four blocks of 16, times 256. */
const CHUNK = 16384;

export function chacha(kernels: Kernels): Keystream {
  return {
    keystream(random, out) {
      checkPosition(random.position + out.length);
      const arena = new Arena(kernels);
      const state = arena.put(initialState(random));
      const at = arena.take(4 * CHUNK);
      let used = 0;
      for (let done = 0; done < out.length;) {
        const within = random.position % 16;
        const take = Math.min(CHUNK - within, out.length - done);
        const groups = Math.ceil((within + take) / 64);
        kernels.chachaFill(state, Math.floor(random.position / 16), groups, at);
        arena.read(at + 4 * within, out.subarray(done, done + take));
        used = Math.max(used, 256 * groups);
        done += take;
        random.position += take;
      }
      arena.wipe(state, 64);
      arena.wipe(at, used);
    },
  };
}
