/** Square Wave, typed out plainly: the continuous mechanism, matrices entry by entry, EM as matrix products. */

export interface Wave {
  /** Full width of the window, and the densities inside and outside of it, on inputs in [0, 1]. */
  readonly w: number;
  readonly p: number;
  readonly q: number;
}

/** Appendix E.1, as printed (with the missing ε restored). Cancels for small ε. */
export function wave(epsilon: number): Wave {
  const e = Math.exp(epsilon);
  const w = (epsilon * e - e + 1) / (e * (e - 1 - epsilon));
  return { w, p: e / (w * e + 1), q: 1 / (w * e + 1) };
}

/** The report in [−w/2, 1 + w/2] that has a share u of the reports of value v below it. */
export function continuousReport(epsilon: number, v: number, u: number): number {
  const { w, p, q } = wave(epsilon);
  const below = q * v;
  if (u < below) return u / q - w / 2;
  if (u < below + p * w) return (u - below) / p + v - w / 2;
  return (u - below - p * w) / q + v + w / 2;
}

/** P(report in output bin i | value uniform in input bin j), rows i: the integral of the window's overlap. */
export function continuousMatrix({ w, p, q }: Wave, bins: number): number[][] {
  const input = 1 / bins;
  const output = (1 + w) / bins;
  // ∬ [y − x ≤ c] over y in [0, output], x in [0, input], both from their bin's start.
  const below = (c: number) =>
    0.5 * (square(c + input) - square(c) - square(c + input - output) + square(c - output));
  return Array.from({ length: bins }, (_, i) =>
    Array.from({ length: bins }, (_, j) => {
      const d = -w / 2 + i * output - j * input;
      return q * output + ((p - q) / input) * (below(w / 2 - d) - below(-w / 2 - d));
    }),
  );
}

const square = (c: number): number => (c > 0 ? c * c : 0);

/** P(report in output bin i | value uniform in input bin j) of the discrete mechanism, by counting every pair of cells. */
export function discreteMatrix(
  bins: number,
  cells: number,
  window: number,
  inside: number,
  outside: number,
): number[][] {
  const width = window * cells;
  const outputs = bins * cells + width - 1;
  const wide = cells + width / bins;
  const matrix = Array.from({ length: bins }, () => new Array<number>(bins).fill(0));
  for (let x = 0; x < bins * cells; x++)
    for (let y = 0; y < outputs; y++)
      matrix[Math.floor(y / wide)]![Math.floor(x / cells)]! +=
        (y >= x && y < x + width ? inside : outside) / cells;
  return matrix;
}

export const times = (matrix: number[][], f: ArrayLike<number>): number[] =>
  matrix.map((row) => row.reduce((sum, entry, j) => sum + entry * f[j]!, 0));

export const transposed = (matrix: number[][]): number[][] =>
  matrix[0]!.map((_, j) => matrix.map((row) => row[j]!));

const normalised = (f: number[]): number[] => {
  const sum = f.reduce((a, b) => a + b);
  return f.map((value) => value / sum);
};

/** f_j Σ_i M_ij counts_i / (M f)_i, divided by its sum. */
export function emUpdate(matrix: number[][], counts: ArrayLike<number>, f: ArrayLike<number>): number[] {
  const ratios = times(matrix, f).map((predicted, i) => counts[i]! / predicted);
  return normalised(times(transposed(matrix), ratios).map((gain, j) => gain * f[j]!));
}

/**
 * [1, 2, 1]/4, divided by its sum. Borders: (2, 1)/3 and (1, 2)/3; `"identity"` leaves the last bin alone, as the
 * code behind the vectors does.
 */
export function smoothed(f: number[], lastRow: "symmetric" | "identity" = "symmetric"): number[] {
  const last = f.length - 1;
  return normalised(
    f.map((value, j) => {
      if (j === 0) return (2 * value + f[1]!) / 3;
      if (j === last) return lastRow === "identity" ? value : (f[last - 1]! + 2 * value) / 3;
      return (f[j - 1]! + 2 * value + f[j + 1]!) / 4;
    }),
  );
}
