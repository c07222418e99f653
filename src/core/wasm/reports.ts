/** Calls assembly/reports.ts. */
import type { Reports } from "../core.js";
import { type DataKernels, useArena } from "./instance.js";
import { withRandom } from "./reader.js";

/** Values copied at a time: 64 KiB. */
const CHUNK = 8192;

export function reports(kernels: DataKernels): Reports {
  return {
    fillReports(random, mechanism, { scale, shift }, values, out) {
      // The mechanism's room for u is wiped as well: with its report, u gives the value away.
      useArena(kernels, (arena) => {
        const mechanismAt = arena.put(mechanism.words);
        const bytes = 8 * Math.min(CHUNK, values.length);
        const valuesAt = arena.take(bytes);
        const outAt = arena.take(bytes / 2);
        withRandom(kernels, arena, random, (record) => {
          for (let done = 0; done < values.length; done += CHUNK) {
            const part = values.subarray(done, done + CHUNK);
            arena.write(valuesAt, part);
            kernels.fillReports(record, mechanismAt, valuesAt, part.length, scale, shift, outAt);
            arena.read(outAt, out.subarray(done, done + CHUNK));
          }
        });
      });
    },
  };
}
