import { type PastRun, remembers, type Smoother } from "./smoother.js";

/** Within a run that counts as alike, weights differ by this factor at most: variances are then right to 0.1 %. */
const ALIKE = 0.9;
/** Older blocks that count less than this, all together, are left out. */
const LITTLE = 2 ** -10;

/** p_(t+1) = α û_t + (1−α) p_t, from p_2 = û_1 on. */
export function exponential(alpha: number): Smoother {
  const state = new Float64Array(2); // started, p
  return {
    ...remembers(state),
    weights(block) {
      const run = Math.max(1, Math.floor(Math.log(ALIKE) / Math.log(1 - alpha)));
      const runs: PastRun[] = [];
      let left = 1; // what blocks older than those in `runs` count
      let seen = 0;
      while (seen < block - 1 && left >= LITTLE) {
        const blocks = Math.min(run, block - 1 - seen);
        const kept = left * (1 - alpha) ** blocks;
        runs.push({ blocks, weight: (left - kept) / blocks });
        left = kept;
        seen += blocks;
      }
      if (seen === block - 1) runs.push({ blocks: 1, weight: left }); // p_2 = û_1: the oldest has all the rest
      return runs;
    },
    next(estimate) {
      state[1] = state[0] === 0 ? estimate : alpha * estimate + (1 - alpha) * state[1]!;
      state[0] = 1;
      return state[1];
    },
  };
}
