/**
 * A k-ary tree with subtraction (Andersson, Pagh and Torkamani 2024; with Steiner, FORC 2025), k odd.
 *
 * Every t has one representation t = Σ d_l·k^l with digits −(k−1)/2 … (k−1)/2. A positive digit adds nodes to the right
 * of a place, a negative one subtracts nodes to the left of it: at most (k−1)/2 nodes a level, (k − 1/k)/4 on average. A node
 * that is subtracted holds values that are still to come; they cancel against the node above it, so what is published is
 * the true sum so far plus the noise of these nodes, and it is post-processing of all noisy nodes of the tree. With h levels,
 * (k^h − 1)/2 ≥ T, a value is in h nodes: scale h·Θ/ε. The paper's k is 19. Mean squared error: h³·(k − 1/k)/(2ε²)·Θ².
 *
 * A node serves one place only, so noise is drawn when a place is begun and dropped when it is left: h·(k−1)/2 numbers
 * of state.
 */
import type { Spread } from "../../src/stream/answer/variance.js";
import { type Draws, times } from "./draws.js";
import type { PrefixMechanism } from "./record.js";

/** "k = 19" minimises the leading constant (Section 4 of the paper). */
export const KARY = 19;

/** h: the least number of levels that reaches T. */
export function karyLevels(horizon: number): number {
  let levels = 1;
  while ((KARY ** levels - 1) / 2 < horizon) levels++;
  return levels;
}

const MOST = (KARY - 1) / 2;

export class KarySubtraction implements PrefixMechanism {
  readonly #draws: Draws;
  readonly #levels: number;
  readonly #digits: number[];
  /** Per level: signed sum of the noise in use, and the noise that is still subtracted, leftmost last. */
  readonly #noise: number[];
  readonly #subtracted: number[][];
  #sum = 0;

  constructor(levels: number, draws: Draws) {
    this.#levels = levels;
    this.#draws = draws;
    this.#digits = new Array<number>(levels).fill(0);
    this.#noise = new Array<number>(levels).fill(0);
    this.#subtracted = Array.from({ length: levels }, () => []);
  }

  push(x: number): number {
    this.#sum += x;
    let level = 0;
    for (; this.#digits[level] === MOST; level++) this.#beginPlace(level);
    const digit = this.#digits[level]!++;
    this.#noise[level]! += digit < 0 ? this.#subtracted[level]!.pop()! : this.#draws.take();
    let noise = 0;
    for (let i = 0; i < this.#levels; i++) noise += this.#noise[i]!;
    return this.#sum + noise;
  }

  /** The digit above grows by one, and this one starts from its least: all nodes to the left of the new place. */
  #beginPlace(level: number): void {
    this.#digits[level] = -MOST;
    const fresh = Array.from({ length: MOST }, () => this.#draws.take());
    this.#subtracted[level] = fresh;
    this.#noise[level] = -fresh.reduce((sum, noise) => sum + noise, 0);
  }

  spread(from: number, to: number): Spread {
    let [a, b, nodes] = [from, to, 0];
    for (let level = 0; level < this.#levels; level++) {
      const [first, second] = [lowestDigit(a), lowestDigit(b)];
      [a, b] = [(a - first) / KARY, (b - second) / KARY];
      nodes += a === b ? Math.abs(second - first) : Math.abs(first) + Math.abs(second);
    }
    return times(nodes, this.#draws.spread);
  }
}

/** t mod k in −(k−1)/2 … (k−1)/2. */
function lowestDigit(t: number): number {
  const rest = t % KARY;
  return rest > MOST ? rest - KARY : rest;
}
