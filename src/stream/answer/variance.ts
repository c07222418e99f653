/**
 * Variance of the noise in a range, in closed form (docs/intervals.md).
 *
 * Least squares on a hierarchy is diagonal in the spaces "constant on level-l blocks, mean 0 on level l+1":
 * for a query q over the leaves, Var = Σ_l (‖E_l q‖² − ‖E_{l+1} q‖²)/λ_l, where E_l averages over blocks of
 * n_l = b^(l−1) leaves, λ_l = Σ_{l' ≤ l} w n_l', w = 1/(variance of a node's noise), and E_{L+1} q = 0.
 */

/** Variance of the discrete Laplace noise P(k) ∝ exp(−|k|/t): 2q/(1−q)², q = e^(−1/t); nearly 2t². */
export function laplaceVariance(t: number): number {
  const q = Math.exp(-1 / t);
  return (2 * q) / Math.expm1(-1 / t) ** 2;
}

/** Noise of an answer: its variance, and how far from Gaussian it is. */
export interface Spread {
  /** In squared grid units. */
  readonly variance: number;
  /** Fourth cumulant over 12: Σ c⁴·(node variance)², so that excess kurtosis is 3·fourth/variance². */
  readonly fourth: number;
}

export const NO_SPREAD: Spread = { variance: 0, fourth: 0 };

/** Spread of a sum of two independent errors. */
export const addSpreads = (a: Spread, b: Spread): Spread => ({
  variance: a.variance + b.variance,
  fourth: a.fourth + b.fourth,
});

/** Spread of an error, multiplied by a factor. */
export const scaleSpread = ({ variance, fourth }: Spread, factor: number): Spread => ({
  variance: variance * factor ** 2,
  fourth: fourth * factor ** 4,
});

/** At most the spread of a sum of two errors, however they depend on each other: triangle inequality in ℓ₂ and ℓ₄. */
export const boundSpreads = (a: Spread, b: Spread): Spread => ({
  variance: (Math.sqrt(a.variance) + Math.sqrt(b.variance)) ** 2,
  fourth: (a.fourth ** 0.25 + b.fourth ** 0.25) ** 4,
});

/** Leaves in [from, to), real positions, that count `weight` each; part of a leaf counts in proportion. */
export interface Piece {
  readonly from: number;
  readonly to: number;
  readonly weight: number;
}

/**
 * Spread of the answer Σ q_i û_i over one forest. The estimate puts the coefficient
 * c_l(B) = w n_l Σ_{k ≥ l} (m_k − m_{k+1})/λ_k on the noise of level-l block B, with m_k the mean of q over B's ancestor
 * on level k. Only ancestors of the ends of pieces have means other than the weight of a piece, so equal coefficients
 * come in a few runs per level, and from the top down each run adds one term to that of its ancestor: O(L²) for a range,
 * whatever its length.
 * @param pieces disjoint, in order; q is 0 elsewhere
 */
export function forestSpread(
  pieces: readonly Piece[],
  fanout: number,
  levels: number,
  nodeVariance: number,
): Spread {
  const weightBefore = integral(pieces);
  let variance = 0;
  let fourth = 0;
  // The runs of the level above: where each begins, its mean m and its sum Σ (m_k − m_{k+1})/λ_k. The last one is an end.
  let above: Run[] = [];
  for (let l = levels - 1; l >= 0; l--) {
    const size = fanout ** l; // n_l for l = 1 … L, counted from 0
    const lambda = (size * fanout - 1) / ((fanout - 1) * nodeVariance);
    const runs: Run[] = [];
    let parent = 0;
    for (const start of cutsOf(pieces, size, above)) {
      while (parent + 1 < above.length && above[parent + 1]!.start <= start) parent++;
      const mean = (weightBefore(start + size) - weightBefore(start)) / size;
      const { mean: higher, sum } = above[parent] ?? NO_RUN;
      runs.push({ start, mean, sum: sum + (mean - higher) / lambda });
    }
    for (let i = 0; i + 1 < runs.length; i++) {
      const count = (runs[i + 1]!.start - runs[i]!.start) / size;
      const c2 = (runs[i]!.sum * size) ** 2 / nodeVariance;
      variance += count * c2;
      fourth += count * c2 * c2;
    }
    above = runs;
  }
  return { variance, fourth };
}

/** Blocks of a level whose ancestors have the same means, up to the next run. */
interface Run {
  readonly start: number;
  readonly mean: number;
  readonly sum: number;
}
const NO_RUN: Run = { start: 0, mean: 0, sum: 0 };

/** Where runs begin on a level, in order: where they did on the level above, and around the blocks that hold an end of a piece. */
function cutsOf(pieces: readonly Piece[], size: number, above: readonly Run[]): number[] {
  const cuts: number[] = [];
  let next = 0;
  const add = (cut: number): void => {
    for (; next < above.length && above[next]!.start <= cut; next++) push(above[next]!.start);
    push(cut);
  };
  const push = (cut: number): void => {
    if (cuts.length === 0 || cut > cuts[cuts.length - 1]!) cuts.push(cut);
  };
  for (const { from, to } of pieces)
    for (const end of [from, to]) {
      const start = Math.floor(end / size) * size;
      add(start);
      add(start + size);
    }
  for (; next < above.length; next++) push(above[next]!.start);
  return cuts;
}

/** x ↦ the weight of all that lies before x. */
function integral(pieces: readonly Piece[]): (x: number) => number {
  const before = [0];
  for (const { from, to, weight } of pieces) before.push(before[before.length - 1]! + (to - from) * weight);
  return (x) => {
    let [low, high] = [0, pieces.length]; // the pieces that begin before x
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pieces[middle]!.from < x) low = middle + 1;
      else high = middle;
    }
    const last = pieces[low - 1];
    return last === undefined ? 0 : before[low - 1]! + (Math.min(x, last.to) - last.from) * last.weight;
  };
}

/**
 * C_s: the variance of a range drawn at random among r values, in units of (θ/ε)², when a leaf covers b^s of
 * them and part of a leaf counts in proportion; node noise has variance 2L²(θ/ε)².
 * E‖E_l q‖² = (1/n_l)·Σ_blocks Σ_{x,y in block} P(x and y in range), summed as polynomials.
 */
export function meanVariance(maxRange: number, fanout: number, levels: number, skipped: number): number {
  const leaf = fanout ** skipped; // values
  let variance = 0;
  let lambda = 0;
  let norm = meanSquare(maxRange, leaf) / leaf;
  for (let l = 1; l <= levels; l++) {
    const size = fanout ** (l - 1); // leaves
    lambda += size / (2 * levels * levels);
    const next = l === levels ? 0 : meanSquare(maxRange, leaf * size * fanout) / leaf;
    variance += (norm - next) / lambda;
    norm = next;
  }
  return variance;
}

/** E‖E_l q‖² for a uniformly random range in N values cut into blocks of n (the last block may be short). */
function meanSquare(N: number, n: number): number {
  const blocks = Math.ceil(N / n);
  const last = N - (blocks - 1) * n;
  // Σ over x, y in a block that starts at a and has k values of (1 + min(x, y))(N − max(x, y)), from 0.
  const inBlock = (a: number, k: number): number => {
    const smaller = ((k - 1) * k * (2 * k - 1)) / 6; // Σ min(u, v)
    const larger = (k * (k - 1) * (4 * k + 1)) / 6; // Σ max(u, v)
    const product = ((k * (k - 1)) / 2) ** 2; // Σ u v
    return k * k * (a + 1) * (N - a) + smaller * (N - a) - larger * (a + 1) - product;
  };
  // inBlock is quadratic in a, so three values give the sum over a = 0, n, 2n, …, (B−1)n.
  const B = blocks - 1;
  const [f0, f1, f2] = [inBlock(0, n), inBlock(n, n), inBlock(2 * n, n)];
  const d1 = f1 - f0;
  const d2 = f2 - 2 * f1 + f0;
  const whole = B * f0 + ((B * (B - 1)) / 2) * d1 + ((B * (B - 1) * (B - 2)) / 6) * d2;
  return (whole + inBlock(B * n, last)) / n / ((N * (N + 1)) / 2);
}
