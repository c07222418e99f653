/**
 * Better sums from the same released numbers: nodes are moved towards what their siblings say, by as much as they look
 * like noise (docs/intervals.md, "Shrunk answers").
 *
 * Within a family of b siblings on level l, the deviations from the family's mean are multiplied by
 * c_l = (1 − N_l/S_l)₊. S_l is the sum of squares of their running sums over all finished trees of a forest: what a range
 * that ends in the family is off by. N_l is what the noise alone is expected to give. Trees are moved towards their
 * common mean in the same way. Where data vary far more than the noise, c is 1; where all variation is noise, c is 0.
 */
import type { Growable } from "../release/growable.js";

/** prefix.at(k): sum of the first k estimates. */
export type Prefix = Pick<Growable, "at">;

export interface TreeShape {
  readonly fanout: number;
  readonly levels: number;
}

/** The factors of one epoch of trees in a forest, brought up to date when a tree has ended: O(leaves of that tree), once. */
export class Shrinkage {
  readonly #fanout: number;
  /** The first leaf of the epoch, counted in the forest. */
  readonly #start: number;
  /** Leaves of a tree. */
  readonly #tree: number;
  /** σ_l²: variance of a node's deviation from its family, times b/(b−1), on levels from the leaves up to the trees. */
  readonly #variances: readonly number[];
  /** S_l of all levels below the trees. */
  readonly #squares: Float64Array;
  /** c_l, the last one for trees. */
  readonly #factors: Float64Array;
  #trees = 0;

  /** @param nodeVariance of the noise on every node */
  constructor({ fanout, levels }: TreeShape, nodeVariance: number, start = 0) {
    this.#fanout = fanout;
    this.#start = start;
    this.#tree = fanout ** (levels - 1);
    this.#variances = deviationVariances(fanout, levels, nodeVariance);
    this.#squares = new Float64Array(levels - 1);
    this.#factors = new Float64Array(levels).fill(1);
  }

  /** The first leaf, counted in the forest, that is in no finished tree that the factors know of. */
  get end(): number {
    return this.#start + this.#trees * this.#tree;
  }

  /**
   * @param prefix prefix[k]: sum of the first k estimates of the forest
   * @param end estimates up to this leaf are there and in the epoch
   */
  update(prefix: Prefix, end: number): void {
    const trees = Math.floor((end - this.#start) / this.#tree);
    if (trees === this.#trees) return;
    for (; this.#trees < trees; this.#trees++) this.#addTree(prefix, this.end);
    const top = this.#factors.length - 1;
    const b = this.#fanout;
    for (let l = 0; l < top; l++) {
      const families = (trees * this.#tree) / b ** (l + 1);
      this.#setFactor(l, this.#squares[l]!, families, b);
    }
    this.#setFactor(top, familySquares(prefix, this.#start, this.#tree, trees), 1, trees);
  }

  /** The shrunk sum of all leaves before `leaves`, a real number counted in the forest, at most `end`. */
  sumBefore(leaves: number, prefix: Prefix): number {
    const b = this.#fanout;
    const top = this.#factors.length - 1;
    // A family's sum as it is, and shrunk: first of all trees, then of the one that holds the end, and so on down.
    let raw = prefix.at(this.end) - prefix.at(this.#start);
    let shrunk = raw;
    let children = this.#trees;
    let start = this.#start;
    let sum = prefix.at(start);
    for (let l = top, size = this.#tree; l >= 0; l--, size /= b) {
      const c = this.#factors[l]!;
      const whole = Math.floor((leaves - start) / size);
      const at = start + whole * size;
      sum += (whole / children) * shrunk + c * (prefix.at(at) - prefix.at(start) - (whole / children) * raw);
      if (at === leaves) return sum;
      const child = prefix.at(at + size) - prefix.at(at);
      shrunk = shrunk / children + c * (child - raw / children);
      raw = child;
      children = b;
      start = at;
    }
    return sum + (leaves - start) * shrunk;
  }

  #addTree(prefix: Prefix, start: number): void {
    const b = this.#fanout;
    for (let l = 0, size = 1; l < this.#squares.length; l++, size *= b) {
      let sum = 0;
      for (let family = start; family < start + this.#tree; family += size * b)
        sum += familySquares(prefix, family, size, b);
      this.#squares[l]! += sum;
    }
  }

  /** From the sum of squares of so many families. */
  #setFactor(level: number, squares: number, families: number, children: number): void {
    const noise = (this.#variances[level]! * families * (children ** 2 - 1)) / 6;
    const signal = Math.max(0, squares - noise);
    this.#factors[level] = signal === 0 ? 0 : signal / squares;
  }
}

/**
 * σ_l² = 1/P_l with P_1 = 1/v and P_l = 1/v + P_(l−1)/b: what is known of a node from itself and all below it. Nodes above
 * add the same to all siblings, so deviations have covariance σ_l²(I − J/b), and k of them sum to σ_l²·k(b − k)/b.
 */
export function deviationVariances(fanout: number, levels: number, nodeVariance: number): number[] {
  let precision = 0;
  return Array.from({ length: levels }, () => 1 / (precision = 1 / nodeVariance + precision / fanout));
}

/** Σ_k (sum of the first k deviations)² in a family of `children` nodes of `size` leaves each. */
function familySquares(prefix: Prefix, start: number, size: number, children: number): number {
  const first = prefix.at(start);
  const mean = (prefix.at(start + children * size) - first) / children;
  let squares = 0;
  for (let k = 1; k < children; k++) squares += (prefix.at(start + k * size) - first - k * mean) ** 2;
  return squares;
}
