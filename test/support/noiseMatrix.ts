/** Coefficients of every noise draw in every prefix sum of a linear mechanism, found without sampling. */
import type { Draws } from "../../research/systems/draws.js";
import type { PrefixMechanism } from "../../research/systems/record.js";

/** A draw with variance 1, and the fourth cumulant of Laplace noise. */
const UNIT = { variance: 1, fourth: 1 };

/** Prefix sums of zeros for t = 0 … horizon when the draws are these. */
function prefixes(make: (draws: Draws) => PrefixMechanism, horizon: number, draw: () => number): number[] {
  const mechanism = make({ take: draw, spread: UNIT });
  return [0, ...Array.from({ length: horizon }, () => mechanism.push(0))];
}

/** Columns: one per draw; each has an entry per prefix. */
export function noiseMatrix(make: (draws: Draws) => PrefixMechanism, horizon: number): number[][] {
  let count = 0;
  prefixes(make, horizon, () => (count++, 0));
  return Array.from({ length: count }, (_, column) => {
    let at = 0;
    return prefixes(make, horizon, () => (at++ === column ? 1 : 0));
  });
}

/** Variance and fourth cumulant of prefix(to) − prefix(from) by the matrix. */
export function spreadBy(matrix: readonly number[][], from: number, to: number) {
  const coefficients = matrix.map((column) => column[to]! - column[from]!);
  const power = (p: number) => coefficients.reduce((sum, c) => sum + c ** p, 0);
  return { variance: power(2), fourth: power(4) };
}

/** The largest difference, over all ranges, between what a mechanism says and what the matrix says. */
export function spreadError(make: (draws: Draws) => PrefixMechanism, horizon: number): number {
  const matrix = noiseMatrix(make, horizon);
  const mechanism = make({ take: () => 0, spread: UNIT });
  let worst = 0;
  for (let from = 0; from < horizon; from++)
    for (let to = from + 1; to <= horizon; to++) {
      const [said, is] = [mechanism.spread(from, to), spreadBy(matrix, from, to)];
      worst = Math.max(worst, Math.abs(said.variance - is.variance), Math.abs(said.fourth - is.fourth));
    }
  return worst;
}
