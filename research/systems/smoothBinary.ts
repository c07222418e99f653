/**
 * The smooth binary mechanism (Andersson and Pagh, NeurIPS 2023).
 *
 * A binary tree of height h whose leaves are used only where their index has as many ones as zeros: the sum of the first t
 * values is read off at the t-th such leaf, from one node per one in its index. So every prefix has the noise of h/2
 * nodes, and a value, which lies left of a node once per zero in its leaf's index, is in h/2 nodes: sensitivity h/2 in ℓ₁ and
 * √(h/2) in ℓ₂. h is even and the least with C(h, h/2) > T (Section 3 of the paper). h/2 numbers of state.
 *
 * The paper has Gaussian noise; the row with Laplace noise, scale (h/2)·Θ/ε, is ours, from the same two counts.
 */
import { NO_SPREAD, type Spread } from "../../src/stream/answer/variance.js";
import { type Draws, times } from "./draws.js";
import type { PrefixMechanism } from "./record.js";

/** The index is a 32-bit integer. */
const MOST_HEIGHT = 30;

/** h for a stream of T values. */
export function smoothHeight(horizon: number): number {
  let height = 2;
  while (height <= MOST_HEIGHT && choose(height, height / 2) <= horizon) height += 2;
  if (height > MOST_HEIGHT)
    throw new RangeError(
      `maxRange: the smooth binary mechanism takes at most ${choose(MOST_HEIGHT, MOST_HEIGHT / 2) - 1} values, got ${horizon}; lower it`,
    );
  return height;
}

function choose(n: number, k: number): number {
  if (k < 0 || k > n) return 0;
  let product = 1;
  for (let i = 1; i <= k; i++) product = (product * (n - k + i)) / i;
  return Math.round(product);
}

export class SmoothBinary implements PrefixMechanism {
  readonly #draws: Draws;
  readonly #height: number;
  /** Index of the leaf of the running prefix. */
  #leaf: number;
  /** Noise of the node at each one of the leaf's index, and of all of them. */
  readonly #noise: number[];
  #total = 0;
  #sum = 0;

  constructor(height: number, draws: Draws) {
    this.#height = height;
    this.#draws = draws;
    this.#leaf = 2 ** (height / 2) - 1;
    this.#noise = new Array<number>(height).fill(0); // before the first value no node counts
  }

  push(x: number): number {
    this.#sum += x;
    const next = following(this.#leaf);
    // Nodes at and below the highest bit that changes are other nodes now; those above it stay.
    for (let bit = highestBit(next ^ this.#leaf); bit >= 0; bit--) {
      this.#total -= this.#noise[bit]!;
      this.#noise[bit] = ((next >> bit) & 1) === 1 ? this.#draws.take() : 0;
      this.#total += this.#noise[bit]!;
    }
    this.#leaf = next;
    return this.#sum + this.#total;
  }

  /** h/2 nodes each, less those that both have: at the ones above the highest bit that differs. Before any value: none. */
  spread(from: number, to: number): Spread {
    if (from === to) return NO_SPREAD;
    if (from === 0) return times(this.#height / 2, this.#draws.spread);
    const [first, second] = [leafAt(this.#height, from), leafAt(this.#height, to)];
    const shared = ones(first >>> (highestBit(first ^ second) + 1));
    return times(this.#height - 2 * shared, this.#draws.spread);
  }
}

/** The next larger integer with as many ones (Gosper). */
function following(n: number): number {
  const lowest = n & -n;
  const carried = n + lowest;
  return carried | (((n ^ carried) >>> 2) / lowest);
}

const highestBit = (n: number): number => 31 - Math.clz32(n);

function ones(n: number): number {
  let count = 0;
  for (let rest = n; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** Index of the t-th leaf with h/2 ones, from 0: from the highest bit, skip all that have a 0 there if t is larger. */
export function leafAt(height: number, t: number): number {
  let [leaf, left, rest] = [0, height / 2, t];
  for (let bit = height - 1; bit >= 0; bit--) {
    const without = choose(bit, left);
    if (rest < without) continue;
    rest -= without;
    leaf += 2 ** bit;
    left--;
  }
  return leaf;
}
