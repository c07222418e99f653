import type { Smoother } from "./smoother.js";

/** p_(t+1) = α û_t + (1−α) p_t, from p_2 = û_1 on. */
export function exponential(alpha: number): Smoother {
  const state = new Float64Array(2); // started, p
  return {
    state,
    next(estimate) {
      state[1] = state[0] === 0 ? estimate : alpha * estimate + (1 - alpha) * state[1]!;
      state[0] = 1;
      return state[1];
    },
  };
}
