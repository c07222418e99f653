import { remembers, type Smoother } from "./smoother.js";

/** p_(t+1) = mean of û_1 … û_t. */
export function mean(): Smoother {
  const state = new Float64Array(2); // count, sum
  return {
    ...remembers(state),
    weights: (block) => [{ blocks: block, weight: 1 / block }],
    next(estimate) {
      state[0] = state[0]! + 1;
      state[1] = state[1]! + estimate;
      return state[1] / state[0];
    },
  };
}
