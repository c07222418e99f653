/**
 * The binary tree for a stream of known length (Dwork, Naor, Pitassi and Rothblum, STOC 2010; Chan, Shi and Song, TISSEC 2011,
 * Algorithm 2), and Honaker's online estimator on the same tree (Honaker 2015, "estimation from below").
 *
 * A value lies in one node per level; each of L levels has noise of scale L·Θ/ε. The sum of the first t values is the sum
 * of the nodes that the binary digits of t name. L numbers of state, whatever t is.
 *
 * Honaker: a node's estimate is its own noisy sum and its children's estimates, weighted by their precision:
 *
 *     v_0 = σ²,   1/v_j = 1/σ² + 1/(2 v_{j−1}),   w_j = v_j/σ²,   est = w_j·own + (1 − w_j)·(est(left) + est(right)).
 *
 * All finished nodes lie below the nodes that t names, and nothing above them is finished, so this is the best linear
 * unbiased estimate of a prefix. w_j = 1 gives the plain tree.
 *
 * Departure: no root above the top level, as in our hierarchies: L = log2 T levels instead of L + 1, which favours it.
 */
import type { Spread } from "../../src/stream/answer/variance.js";
import type { Draws } from "./draws.js";
import { type PrefixMechanism, UNKNOWN_SPREAD } from "./record.js";

export class BinaryTree implements PrefixMechanism {
  readonly #levels: number;
  readonly #draws: Draws;
  /** w_j: the weight of a node's own noisy sum. */
  readonly #weights: number[] = [];
  /** Spread of a node's estimate, by level. */
  readonly #spreads: Spread[] = [];
  /** Per level, of the finished node that waits for its sibling: true sum, and estimate. The top level adds up. */
  readonly #sums: Float64Array;
  readonly #estimates: Float64Array;
  #count = 0;

  /** @param refined whether nodes take their children's estimates into account */
  constructor(levels: number, draws: Draws, refined: boolean) {
    this.#levels = levels;
    this.#draws = draws;
    this.#sums = new Float64Array(levels);
    this.#estimates = new Float64Array(levels);
    const own = draws.spread;
    for (let level = 0; level < levels; level++) {
      const below = this.#spreads[level - 1];
      const weight =
        refined && below !== undefined ? 1 / own.variance / (1 / own.variance + 0.5 / below.variance) : 1;
      this.#weights.push(weight);
      this.#spreads.push({
        variance: weight ** 2 * own.variance + 2 * (1 - weight) ** 2 * (below?.variance ?? 0),
        fourth: weight ** 4 * own.fourth + 2 * (1 - weight) ** 4 * (below?.fourth ?? 0),
      });
    }
  }

  push(x: number): number {
    this.#count++;
    let [level, sum, estimate] = [0, x, x + this.#draws.take()];
    for (let rest = this.#count; rest % 2 === 0 && level + 1 < this.#levels; rest /= 2) {
      sum += this.#sums[level]!;
      const children = estimate + this.#estimates[level]!;
      this.#sums[level] = this.#estimates[level] = 0;
      level++;
      const weight = this.#weights[level]!;
      estimate = weight * (sum + this.#draws.take()) + (1 - weight) * children;
    }
    this.#sums[level]! += sum;
    this.#estimates[level]! += estimate;
    let prefix = 0;
    for (let i = this.#levels - 1; i >= 0; i--) prefix += this.#estimates[i]!;
    return prefix;
  }

  /**
   * Spread of the noise of prefix(to) − prefix(from). Nodes that both have cancel. A node a of the shorter prefix inside a
   * node A of the longer one is part of its estimate with weight p = Π (1 − w) on the way up: −a + (p·a + rest of A).
   */
  spread(from: number, to: number): Spread {
    const [shorter, longer] = [this.#nodes(from), this.#nodes(to)];
    let [variance, fourth] = [0, 0];
    for (const { level, start } of longer)
      if (!shorter.some((node) => node.level === level && node.start === start)) {
        variance += this.#spreads[level]!.variance;
        fourth += this.#spreads[level]!.fourth;
      }
    for (const { level, start } of shorter) {
      const around = longer.find((node) => node.start <= start && start < node.start + 2 ** node.level);
      if (around?.level === level) continue;
      let share = around === undefined ? 0 : 1;
      for (let above = level + 1; above <= (around?.level ?? 0); above++) share *= 1 - this.#weights[above]!;
      const { variance: v, fourth: f } = this.#spreads[level]!;
      variance += ((share - 1) ** 2 - share ** 2) * v;
      fourth += ((share - 1) ** 4 - share ** 4) * f;
    }
    return { variance, fourth };
  }

  /** The nodes that make up the first `count` values. */
  #nodes(count: number): { level: number; start: number }[] {
    const nodes: { level: number; start: number }[] = [];
    let start = 0;
    for (let level = this.#levels - 1; level >= 0; level--)
      for (; start + 2 ** level <= count; start += 2 ** level) nodes.push({ level, start });
    return nodes;
  }
}

/**
 * Consistency of Chan, Shi and Song for counts: what is published never falls, and rises by at most the largest value. With
 * values 0 and 1 on a grid of 1 every step is 0 or 1, and no error is larger than the largest error so far.
 * Departure: for values up to Θ a step is cut to [0, Θ], which is the same rule at Θ = 1.
 */
export function monotone(inner: PrefixMechanism, theta: number): PrefixMechanism {
  let last = 0;
  return {
    push: (x) => (last += Math.min(theta, Math.max(0, Math.round(inner.push(x)) - last))),
    spread: () => UNKNOWN_SPREAD,
  };
}
