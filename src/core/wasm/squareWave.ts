/** Calls assembly/squareWave.ts: the tables go in once for all steps of a call. */
import type { SquareWave } from "../core.js";
import { Arena, type DataKernels } from "./instance.js";

export function squareWave(kernels: DataKernels): SquareWave {
  return {
    emSteps(transition, counts, smooth, estimates, predicted) {
      const { bins: n, window: k, level, starts, taps, backStarts, backTaps } = transition;
      const arena = new Arena(kernels); // reports carry noise: nothing to wipe
      const at = [level, starts, taps, backStarts, backTaps, counts].map((table) => arena.put(table));
      const first = arena.take(estimates.byteLength);
      arena.write(first, estimates.subarray(0, n));
      const out = arena.take(predicted.byteLength);
      const work = arena.take(4 * 8 * (n + k + 8));
      const [l, s, t, bs, bt, c] = at as [number, number, number, number, number, number];
      kernels.emSteps(n, k, l, s, t, bs, bt, c, smooth, predicted.length / n, first, out, work);
      arena.read(first, estimates);
      arena.read(out, predicted);
    },
  };
}
