/**
 * The transition matrix of the discrete Square Wave mechanism, bin-averaged, in the form that EM multiplies by.
 *
 * Inputs are cells 0 … nC−1, C to a bin; the window of input x is the W = kC outputs from x on; outputs are
 * 0 … nC+W−2, c = C + kC/n to a bin (the last bin lacks one cell). With f spread evenly over each bin's cells, the mass in
 * the window that output y sees is, for u = y + 1, the line through D(t) = f_{t−k} + … + f_{t−1} at u = tC:
 *
 *     (M f)_i = outside·cells_i + (inside − outside) Σ_{u = ci+1}^{ci+c} Σ_t hat(u/C − t) D(t)
 *
 * hat(z) = max(0, 1 − |z|). As C ≤ c ≤ 2C, four consecutive t cover an output bin, and three output bins touch
 * a hat: four taps a row in both directions.
 */

/** Transition matrix of the mechanism as both cores read it. Taps come in rows of four. */
export interface Transition {
  /** n: input bins, and output bins; even. */
  readonly bins: number;
  /** k: width of the window in input bins. */
  readonly window: number;
  /** outside·cells_i: what every input adds to output bin i. */
  readonly level: Float64Array;
  /** Row i of M f: the first t, and four weights on D(t), D(t+1), … */
  readonly starts: Uint32Array;
  readonly taps: Float64Array;
  /** Row t − 1 of Mᵀ g, t = 1 … n+k (one more row of zeros if that is odd): the first i, and four weights on g_i, … */
  readonly backStarts: Uint32Array;
  readonly backTaps: Float64Array;
}

const TAPS = 4;

/**
 * @param cells C: input cells per bin, a multiple of `bins`
 * @param inside probability of one output cell in the window
 * @param outside probability of one output cell elsewhere
 */
export function makeTransition(
  bins: number,
  cells: number,
  window: number,
  inside: number,
  outside: number,
): Transition {
  const wide = cells + (window * cells) / bins;
  const level = new Float64Array(bins).fill(outside * wide);
  level[bins - 1] = outside * (wide - 1);
  const starts = new Uint32Array(bins);
  const taps = new Float64Array(TAPS * bins);
  const rows = bins + window + ((bins + window) & 1);
  const backStarts = new Uint32Array(rows).fill(bins); // rows of zeros: any start will do
  const backTaps = new Float64Array(TAPS * rows);
  for (let i = 0; i < bins; i++) {
    const first = wide * i + 1;
    starts[i] = Math.floor(first / cells);
    for (let e = 0; e < TAPS; e++) {
      const t = starts[i]! + e;
      const weight =
        ((inside - outside) * hatSum(first - t * cells, first + wide - t * cells, cells)) / cells;
      taps[TAPS * i + e] = weight;
      if (weight === 0 || t === 0) continue; // D(0) is an empty window
      backStarts[t - 1] = Math.min(backStarts[t - 1]!, i);
      backTaps[TAPS * (t - 1) + i - backStarts[t - 1]!] = weight;
    }
  }
  return { bins, window, level, starts, taps, backStarts, backTaps };
}

/** Σ_{u = from}^{to − 1} max(0, C − |u|), in whole numbers. */
function hatSum(from: number, to: number, cells: number): number {
  const rise = (u: number) => triangle(cells + Math.min(u, 0)) + descent(Math.max(u, 0), cells);
  return rise(to - 1) - rise(from - 1);
}

/** 1 + 2 + … + n, or 0. */
const triangle = (n: number): number => (n > 0 ? (n * (n + 1)) / 2 : 0);

/** (C − 1) + … + (C − u), as far as positive. */
const descent = (u: number, cells: number): number => triangle(cells - 1) - triangle(cells - 1 - u);
