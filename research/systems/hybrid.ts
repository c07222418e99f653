/**
 * The binary tree for a stream without end: the Hybrid Mechanism of Chan, Shi and Song (TISSEC 2011, Section 4.2).
 *
 * Half of ε goes to the Logarithmic Mechanism, which counts up to t = 1, 2, 4, 8, …: each adds the sum since the one before,
 * with noise of scale 2Θ/ε. The other half goes to a binary tree of k levels for the values between 2^k and 2^(k+1), with
 * noise of scale 2kΘ/ε. Numbers of state: the logarithm of t.
 */
import type { Core } from "../../src/core/core.js";
import { addSpreads, type Spread } from "../../src/stream/answer/variance.js";
import { BinaryTree } from "./binary.js";
import { type Draws, laplaceDraws, laplaceScale, times } from "./draws.js";
import type { PrefixMechanism } from "./record.js";

/** Levels that are ever needed: no stream reaches 2⁴⁸ values. */
export const HYBRID_LEVELS = 48;
const LOGARITHMIC = 1;
const TREE = 2;
/** ε/2. */
const HALF = [1, 2] as const;

export class Hybrid implements PrefixMechanism {
  readonly #treeDraws: (epoch: number) => Draws;
  readonly #draws: Draws;
  /** Noisy sum of the first 2^epoch values, and the true sum since then. */
  #reached = 0;
  #since = 0;
  #count = 0;
  #epoch = 0;
  #tree: BinaryTree | undefined;

  /** @param purpose its noise has the two numbers after this one */
  constructor(core: Core, key: Uint32Array, theta: number, epsilon: number, purpose = 0) {
    this.#draws = laplaceDraws(core, key, laplaceScale(theta, epsilon, 1, HALF), 0, purpose + LOGARITHMIC);
    this.#treeDraws = (epoch) =>
      laplaceDraws(core, key, laplaceScale(theta, epsilon, epoch, HALF), epoch, purpose + TREE);
  }

  push(x: number): number {
    this.#count++;
    this.#since += x;
    if (this.#count !== 2 ** this.#epoch) return this.#reached + this.#tree!.push(x);
    this.#reached += this.#since + this.#draws.take();
    this.#since = 0;
    this.#tree = this.#epoch === 0 ? undefined : this.#treeOf(this.#epoch);
    this.#epoch++;
    return this.#reached;
  }

  #treeOf(epoch: number): BinaryTree {
    return new BinaryTree(epoch, this.#treeDraws(epoch), false);
  }

  spread(from: number, to: number): Spread {
    const [low, high] = [epochOf(from), epochOf(to)];
    const tree = (epoch: number, start: number, end: number): Spread =>
      epoch < 1 ? times(0, this.#draws.spread) : this.#treeOf(epoch).spread(start, end);
    if (low === high) return tree(high, from - 2 ** high, to - 2 ** high);
    const counted = times(high - low, this.#draws.spread);
    const ends = addSpreads(tree(high, 0, to - 2 ** high), tree(low, 0, from - 2 ** low));
    return addSpreads(counted, ends);
  }
}

/** The largest k with 2^k ≤ t; −1 for t = 0. */
function epochOf(t: number): number {
  let epoch = -1;
  for (let power = 1; power <= t; power *= 2) epoch++;
  return epoch;
}
