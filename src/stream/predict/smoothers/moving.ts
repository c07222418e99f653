import { remember, remembered, remembers, type Smoother } from "./smoother.js";

/** p_(t+1) = mean of the last w of û_1 … û_t, summed oldest place first so that a restored stream agrees in every bit. */
export function moving(w: number): Smoother {
  const state = new Float64Array(1 + w);
  return {
    ...remembers(state),
    weights(block) {
      const blocks = Math.min(w, block);
      return [{ blocks, weight: 1 / blocks }];
    },
    next(estimate) {
      remember(state, estimate);
      const count = remembered(state);
      let sum = 0;
      for (let i = 1; i <= count; i++) sum += state[i]!;
      return sum / count;
    },
  };
}
