/** Pearson's test. A p-value below 1e-6 is called a failure: that is the odds of a false alarm on a fresh seed. */

export const ODDS = 1e-6;

/** P(χ² ≥ x) for `freedom` degrees of freedom: the upper incomplete gamma function Q(freedom/2, x/2). */
export function chiSquareTail(x: number, freedom: number): number {
  const [a, z] = [freedom / 2, x / 2];
  if (z <= 0) return 1;
  const front = Math.exp(a * Math.log(z) - z - logGamma(a));
  if (z < a + 1) {
    let sum = 0;
    for (let n = 0, term = 1 / a; term > sum * 1e-17; term *= z / (a + ++n)) sum += term;
    return 1 - front * sum;
  }
  // Continued fraction of Γ(a, z), from the back.
  let fraction = 0;
  for (let n = 500; n >= 1; n--) fraction = (n * (a - n)) / (z + 2 * n + 1 - a + fraction);
  return front / (z + 1 - a + fraction);
}

/** Lanczos, g = 7: relative error below 1e-13. */
function logGamma(x: number): number {
  const coefficients = [
    676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905,
    -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7,
  ];
  const sum = coefficients.reduce((s, c, i) => s + c / (x + i), 0.9999999999998099);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(x + 6.5) - (x + 6.5) + Math.log(sum);
}

/** p-value of observed counts against exact probabilities; outcomes are joined until each cell expects ≥ `least`. */
export function againstExact(
  observed: ArrayLike<number>,
  probabilities: ArrayLike<number>,
  least: number,
): number {
  const total = Array.from(observed).reduce((a, b) => a + b, 0);
  let [statistic, cells, seen, expected, left] = [0, 0, 0, 0, total];
  for (let i = 0; i < observed.length; i++) {
    seen += observed[i]!;
    expected += total * probabilities[i]!;
    // The last cell takes what is left, so that none is too small.
    if (i < observed.length - 1 && (expected < least || left - expected < least)) continue;
    statistic += (seen - expected) ** 2 / expected;
    cells++;
    left -= expected;
    seen = expected = 0;
  }
  return chiSquareTail(statistic, cells - 1);
}

/** p-value of "both samples come from one distribution"; outcomes are joined until each cell saw ≥ `least` of both. */
export function twoSamples(a: ArrayLike<number>, b: ArrayLike<number>, least: number): number {
  const sum = (counts: ArrayLike<number>) => Array.from(counts).reduce((x, y) => x + y, 0);
  const [total, other] = [sum(a), sum(b)];
  const ratio = Math.sqrt(other / total);
  let [statistic, cells, x, y, left] = [0, 0, 0, 0, total + other];
  for (let i = 0; i < a.length; i++) {
    x += a[i]!;
    y += b[i]!;
    if (i < a.length - 1 && (x + y < least || left - x - y < least)) continue;
    if (x + y > 0) {
      statistic += (ratio * x - y / ratio) ** 2 / (x + y);
      cells++;
    }
    left -= x + y;
    x = y = 0;
  }
  return chiSquareTail(statistic, cells - 1);
}
