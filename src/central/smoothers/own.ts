import { remember, remembered, type Smoother } from "./smoother.js";

/** Blocks a caller's own smoother is shown. */
export const OWN_BLOCKS = 256;

/**
 * A caller's prediction of the next mean value, from the released block means so far: at most the last 256,
 * oldest first. They carry noise already, so whatever it does with them costs no privacy.
 */
export type OwnSmoother = (means: readonly number[]) => number;

/** @param unit what turns a block sum in grid units into a mean in units of the stream */
export function own(predict: OwnSmoother, unit: number): Smoother {
  const state = new Float64Array(1 + OWN_BLOCKS);
  return {
    state,
    next(estimate) {
      const held = Math.min(remembered(state), OWN_BLOCKS - 1); // the new one makes it 256 at most
      const oldest = state[0]! - held;
      const means = Array.from({ length: held }, (_, i) => state[1 + ((oldest + i) % OWN_BLOCKS)]! * unit);
      const mean = predict([...means, estimate * unit]);
      if (!Number.isFinite(mean))
        throw new TypeError(`smoother: expected a finite number from your function, got ${mean}`);
      remember(state, estimate); // only now: a function that throws leaves the stream as it was
      return mean / unit;
    },
  };
}
