/**
 * Noise in a sum over part of a day, exact and in O(levels) (docs/privacy-events.md).
 *
 * Least squares gives the noise of node x the coefficient (1 − c(x))·K(x) in a sum that asks for the share β(leaf) of each
 * leaf. With ρ(y) = u(y)/S(x) for a child y of x, and c(leaf) = 0:
 *     β(x) = Σ_children ρ(y)·β(y),     K(last level) = β,     K(y) = β(y) − β(x) + c(x)·K(x)
 * Off the paths to the two ends β is 0 or 1, so that siblings there have one K, and a whole subtree adds K²·Q₂ and K⁴·Q₄:
 *     Q_k(x) = (1 − c)ᵏ + cᵏ·Σ_children Q_k(y)
 */
import type { DayShape } from "../../core/dayShape.js";
import { NO_SPREAD, type Spread } from "../../stream/answer/variance.js";

/** One level's tables: numbers of all its nodes before a node. */
interface Level {
  /** First child of each node, and the end of the last one's children. */
  readonly children: Uint32Array;
  /** First leaf of each node, and the end of the last one's leaves. */
  readonly leaves: Uint32Array;
  /** Sums of u, Q₂ and Q₄ before each node. */
  readonly u: Float64Array;
  readonly squares: Float64Array;
  readonly fourths: Float64Array;
  /** c of each node. */
  readonly weights: Float64Array;
}

export class DaySpread {
  readonly #levels: readonly Level[];

  constructor({ sizes, fanouts, weights }: DayShape) {
    const levels = [leafLevel(sizes[0]!)];
    let first = 0;
    for (const size of sizes.slice(1)) {
      const end = first + size;
      levels.push(levelAbove(levels.at(-1)!, fanouts.subarray(first, end), weights.subarray(first, end)));
      first = end;
    }
    this.#levels = levels;
  }

  /** Coefficients of the noise in the sum over leaves [from, to): Σ squares and Σ fourth powers. */
  of(from: number, to: number): Spread {
    if (from === to) return NO_SPREAD;
    const top = this.#levels.length - 1;
    let [variance, fourth] = [0, 0];
    const add = (level: Level, start: number, end: number, k: number): void => {
      variance += k ** 2 * (level.squares[end]! - level.squares[start]!);
      fourth += k ** 4 * (level.fourths[end]! - level.fourths[start]!);
    };
    /** Adds the nodes [start, end) of a level; `base` is what K(y) − β(y) is for all of them. */
    const visit = (l: number, start: number, end: number, base: number): void => {
      const level = this.#levels[l]!;
      // Siblings in the order of time: outside, an end, inside, an end, outside.
      const first = Math.min(end, Math.max(start, nodeAt(level, from)));
      const last = Math.min(end, Math.max(start, nodeAt(level, to - 1) + 1));
      add(level, start, first, base);
      add(level, last, end, base);
      let [inner, outer] = [first, last];
      for (const x of first + 1 < last ? [first, last - 1] : first < last ? [first] : []) {
        const whole = level.leaves[x]! >= from && level.leaves[x + 1]! <= to;
        if (whole) continue;
        const share = this.#share(l, x, from, to);
        const k = share + base;
        const c = level.weights[x]!;
        variance += ((1 - c) * k) ** 2;
        fourth += ((1 - c) * k) ** 4;
        visit(l - 1, level.children[x]!, level.children[x + 1]!, c * k - share);
        if (x === first) inner = first + 1;
        else outer = last - 1;
      }
      if (inner < outer) add(level, inner, outer, 1 + base);
    };
    visit(top, 0, this.#levels[top]!.leaves.length - 1, 0);
    return { variance, fourth };
  }

  /** β of a node that [from, to) cuts. */
  #share(l: number, x: number, from: number, to: number): number {
    const level = this.#levels[l]!;
    const [start, end] = [Math.max(from, level.leaves[x]!), Math.min(to, level.leaves[x + 1]!)];
    if (start >= end) return 0;
    if (start === level.leaves[x] && end === level.leaves[x + 1]) return 1;
    const below = this.#levels[l - 1]!;
    const [first, last] = [nodeAt(below, start), nodeAt(below, end - 1)];
    const weight = (y: number): number => (below.u[y + 1]! - below.u[y]!) * this.#share(l - 1, y, from, to);
    const sum =
      first === last ? weight(first) : weight(first) + (below.u[last]! - below.u[first + 1]!) + weight(last);
    return sum / (below.u[level.children[x + 1]!]! - below.u[level.children[x]!]!);
  }
}

/** The node of a level that a leaf is in. */
function nodeAt({ leaves }: Level, leaf: number): number {
  let [low, high] = [0, leaves.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (leaves[middle]! <= leaf) low = middle;
    else high = middle;
  }
  return low;
}

function leafLevel(size: number): Level {
  const index = Uint32Array.from({ length: size + 1 }, (_, i) => i);
  const ones = Float64Array.from(index);
  return {
    children: new Uint32Array(size + 1),
    leaves: index,
    u: ones,
    squares: ones,
    fourths: ones,
    weights: new Float64Array(size),
  };
}

function levelAbove(below: Level, fanouts: Uint32Array, weights: Float64Array): Level {
  const size = fanouts.length;
  const children = new Uint32Array(size + 1);
  const leaves = new Uint32Array(size + 1);
  const [u, squares, fourths] = [0, 1, 2].map(() => new Float64Array(size + 1)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  for (let x = 0; x < size; x++) {
    const start = children[x]!;
    const end = (children[x + 1] = start + fanouts[x]!);
    leaves[x + 1] = below.leaves[end]!;
    const c = weights[x]!;
    u[x + 1] = u[x]! + c * (below.u[end]! - below.u[start]!);
    squares[x + 1] = squares[x]! + (1 - c) ** 2 + c ** 2 * (below.squares[end]! - below.squares[start]!);
    fourths[x + 1] = fourths[x]! + (1 - c) ** 4 + c ** 4 * (below.fourths[end]! - below.fourths[start]!);
  }
  return { children, leaves, u, squares, fourths, weights };
}
