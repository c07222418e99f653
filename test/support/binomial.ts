/** Clopper–Pearson: bounds of a probability from k successes in n trials, each wrong with probability at most `odds`. */

/** Largest p with P(Binomial(n, p) ≥ k) ≤ odds. */
export function lowerBound(k: number, n: number, odds: number): number {
  return k === 0 ? 0 : solve((p) => incompleteBeta(k, n - k + 1, p) <= odds);
}

/** Smallest p with P(Binomial(n, p) ≤ k) ≤ odds. */
export function upperBound(k: number, n: number, odds: number): number {
  return k === n ? 1 : solve((p) => 1 - incompleteBeta(k + 1, n - k, p) >= odds);
}

/** Where a condition that holds from 0 on stops holding. */
function solve(holds: (p: number) => boolean): number {
  let [low, high] = [0, 1];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** I_x(a, b) = P(Binomial(a + b − 1, x) ≥ a), by its continued fraction (DLMF 8.17.22). */
export function incompleteBeta(a: number, b: number, x: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(b, a, 1 - x);
  const front = Math.exp(
    logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x) - Math.log(a),
  );
  // Lentz, from the first term on.
  const tiny = 1e-300;
  let [c, d] = [1, 1 / Math.max(tiny, 1 - ((a + b) * x) / (a + 1))];
  let fraction = d;
  for (let m = 1; m < 10_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    for (const term of [even, odd]) {
      d = 1 / (1 + term * d || tiny);
      c = 1 + term / c || tiny;
      fraction *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-15) break;
  }
  return front * fraction;
}

/** Stirling's series above 15, shifted up to it by ln Γ(x) = ln Γ(x + 1) − ln x. */
function logGamma(x: number): number {
  if (x < 15) return logGamma(x + 1) - Math.log(x);
  const inverse = 1 / x;
  const series = inverse / 12 - inverse ** 3 / 360 + inverse ** 5 / 1260 - inverse ** 7 / 1680;
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series;
}
