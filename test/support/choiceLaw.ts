/** The exact law of the choice of θ, for tiny instances. */
import { type Choice, cost } from "../../src/stream/holdout/choice.js";
import { winnerDistribution } from "./noisyMax.js";

/** #{x > Θ} per candidate. */
export const above = (candidates: Float64Array, values: readonly number[]): Float64Array =>
  candidates.map((theta) => values.filter((x) => x > theta).length);

/** The choice on a coarser grid: the law has the same form, and its sums are 32 times shorter. */
export const coarse = (choice: Choice): Choice => ({ ...choice, countWeight: 32 });

/** P(each candidate wins), exactly: costs on the grid, noise of scale `t`. */
export const law = (
  choice: Choice,
  values: readonly number[],
  beta: number,
  knee: number,
  t: number,
): number[] =>
  winnerDistribution(
    [...above(choice.candidates, values)].map((count, k) =>
      cost(choice, count, choice.candidates[k]!, beta, knee),
    ),
    t,
    "exponential",
  );
