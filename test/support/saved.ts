import type { Smoother } from "../../src/stream/predict/smoothers/index.js";

/** Everything a smoother remembers. */
export function saved(smoother: Smoother): Float64Array {
  const state = new Float64Array(smoother.size);
  smoother.save(state);
  return state;
}
