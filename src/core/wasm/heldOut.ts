/** Calls assembly/heldOut.ts in chunks; few values go to the twin. */
import type { HeldOut } from "../core.js";
import * as js from "../js/heldOut.js";
import { type DataKernels, useArena } from "./instance.js";

/** Values copied at a time: 64 KiB, which stay in the processor's cache between copy and kernel. */
const CHUNK = 8192;
/** Below this, a call with its copies costs more than the loop in JavaScript. */
const SMALL = 512;

export function heldOut(kernels: DataKernels): HeldOut {
  return {
    countHeldOut(values, max, resolution, table, purposes, first, counters) {
      if (values.length < SMALL)
        return js.countHeldOut(values, max, resolution, table, purposes, first, counters);
      js.checkCounters(table, purposes, counters);
      const { candidates, smallBins, step } = table;
      useArena(kernels, (arena) => {
        const [candidatesAt, binsAt] = [arena.put(candidates), arena.put(smallBins)];
        const [purposesAt, countersAt] = [arena.put(purposes), arena.put(counters)];
        const at = arena.take(Math.min(CHUNK, values.length) * Float64Array.BYTES_PER_ELEMENT);
        for (let done = 0; done < values.length; done += CHUNK) {
          const part = values.subarray(done, done + CHUNK);
          arena.write(at, part);
          kernels.countHeldOut(
            ...([at, part.length, max, resolution, step, candidatesAt, candidates.length] as const),
            ...([binsAt, smallBins.length, purposesAt, (first + done) % 32, countersAt] as const),
          );
        }
        arena.read(countersAt, counters); // last: a call that fails has counted nothing
      });
    },
  };
}
