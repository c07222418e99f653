/** Calls assembly/ingest.ts in chunks; what is too small for the copies, or faster in JavaScript, goes to the twin. */
import type { Ingest } from "../core.js";
import * as js from "../js/ingest.js";
import { refuse } from "../quantise.js";
import { Arena, type DataKernels, useArena } from "./instance.js";

/** Values copied at a time: 64 KiB, which stay in the processor's cache between copy and kernel. */
const CHUNK = 8192;
/** Below this, a call with its copies costs more than the loop in JavaScript. */
const SMALL = 512;
const BYTES = Float64Array.BYTES_PER_ELEMENT;

export function ingest(kernels: DataKernels): Ingest {
  return {
    blockSums(values, theta, resolution, n, filled, partial, sums, limit) {
      if (values.length < SMALL)
        return js.blockSums(values, theta, resolution, n, filled, partial, sums, limit);
      js.checkBlocks(values.length, n, filled, sums);
      return useArena(kernels, (arena) => {
        const room = Math.min(CHUNK, values.length) * BYTES;
        const at = arena.take(room);
        const sumsAt = arena.take(room);
        let blocks = 0;
        let above = 0;
        for (let done = 0; done < values.length && !Number.isNaN(partial); done += CHUNK) {
          const part = values.subarray(done, done + CHUNK);
          arena.write(at, part);
          partial = kernels.blockSums(at, part.length, theta, resolution, n, filled, partial, sumsAt);
          if (limit < Infinity) above += kernels.countAbove(at, part.length, limit);
          const complete = Math.floor((filled + part.length) / n);
          arena.read(sumsAt, sums.subarray(blocks, blocks + complete));
          blocks += complete;
          filled = (filled + part.length) % n;
        }
        return Number.isNaN(partial) ? refuse(values) : { sum: partial, above };
      });
    },

    estimateLeaves(sums, tree, fanout, leaf, out) {
      const { noise, corrections } = tree;
      if (sums.length < SMALL || corrections.length === 0)
        return js.estimateLeaves(sums, tree, fanout, leaf, out);
      js.checkLeaves(sums, noise, leaf, out);
      useArena(kernels, (arena) => {
        const room = Math.min(CHUNK, sums.length) * BYTES;
        const at = arena.take(room);
        const noiseAt = arena.take(room);
        const correctionsAt = arena.take(room);
        for (let done = 0; done < sums.length; done += CHUNK) {
          const part = sums.subarray(done, done + CHUNK);
          const first = leaf + done;
          const group = Math.floor(first / fanout);
          arena.write(at, part);
          arena.write(noiseAt, noise.subarray(first, first + part.length));
          arena.write(correctionsAt, corrections.subarray(group, Math.ceil((first + part.length) / fanout)));
          const inGroup = (group + 1) * fanout - first;
          kernels.estimateLeaves(at, noiseAt, correctionsAt, fanout, inGroup, part.length, at);
          arena.read(at, out.subarray(done, done + CHUNK));
        }
      });
    },

    publishBlocks(shares, lasts, n, filled, out) {
      if (out.length < SMALL || n >= js.FILL_FROM) return js.publishBlocks(shares, lasts, n, filled, out);
      js.checkBlocks(out.length, n, filled, lasts);
      const arena = new Arena(kernels); // what is published is public: nothing to wipe
      const at = arena.take(CHUNK * BYTES);
      const sharesAt = arena.take((Math.ceil(CHUNK / n) + 1) * BYTES);
      const lastsAt = arena.take(Math.ceil(CHUNK / n) * BYTES);
      let blocks = 0;
      for (let done = 0; done < out.length; done += CHUNK) {
        const part = out.subarray(done, done + CHUNK);
        const complete = Math.floor((filled + part.length) / n);
        arena.write(sharesAt, shares.subarray(blocks, blocks + complete + 1));
        arena.write(lastsAt, lasts.subarray(blocks, blocks + complete));
        kernels.publishBlocks(sharesAt, lastsAt, n, n - filled, part.length, at);
        arena.read(at, part);
        blocks += complete;
        filled = (filled + part.length) % n;
      }
    },
  };
}
