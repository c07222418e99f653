import { remember, remembered, remembers, type Smoother, type SmootherContext } from "./smoother.js";

/** Blocks a caller's own smoother is shown. */
const OWN_BLOCKS = 256;

/**
 * A caller's prediction of the next mean value, from the released block means so far: at most the last 256,
 * oldest first. They carry noise already, so whatever it does with them costs no privacy. Where it throws, or gives
 * no finite number, the last block's mean stands in and the statement counts it: a push must not fail then, because
 * the estimate was shown, and trying again with other values would show their difference under the same noise.
 */
export type CustomSmoother = (means: readonly number[]) => number;

export function custom(
  predict: CustomSmoother,
  { unit, least, largest }: SmootherContext,
): Smoother & { readonly failures: number } {
  const state = new Float64Array(1 + OWN_BLOCKS);
  let failures = 0;
  const means = (): number[] => {
    const count = remembered(state);
    const oldest = state[0]! - count;
    return Array.from({ length: count }, (_, i) => state[1 + ((oldest + i) % OWN_BLOCKS)]! * unit + least);
  };
  const attempt = (): number => {
    try {
      return (predict(means()) - least) / unit;
    } catch {
      return NaN;
    }
  };
  return {
    ...remembers(state),
    get failures() {
      return failures;
    },
    next(estimate) {
      remember(state, estimate);
      const prediction = attempt();
      if (Math.abs(prediction) <= largest) return prediction;
      failures++;
      return estimate;
    },
  };
}
