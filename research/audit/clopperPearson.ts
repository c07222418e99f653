/** Exact confidence bounds for a probability, from k hits in n tries (Clopper and Pearson 1934). */

/** The largest p such that k hits or more have probability ≤ alpha: the true p is below it with probability ≤ alpha. */
export function lowerBound(hits: number, tries: number, alpha: number): number {
  if (hits === 0) return 0;
  return solve((p) => betaShare(p, hits, tries - hits + 1) < alpha);
}

/** The smallest p such that k hits or fewer have probability ≤ alpha. */
export function upperBound(hits: number, tries: number, alpha: number): number {
  return 1 - lowerBound(tries - hits, tries, alpha);
}

/** Where `below` changes from true to false on (0, 1), rounded down: halving from 2⁻⁶⁰ up, then bisection. */
function solve(below: (p: number) => boolean): number {
  let high = 1;
  while (high > 2 ** -60 && !below(high / 2)) high /= 2;
  let low = high / 2;
  for (let i = 0; i < 52; i++) {
    const middle = (low + high) / 2;
    if (below(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** I_x(a, b) = P(Beta(a, b) ≤ x) = P(at least a hits in a + b − 1 tries of probability x). */
export function betaShare(x: number, a: number, b: number): number {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaShare(1 - x, b, a); // where the fraction converges fast
  const front = a * Math.log(x) + b * Math.log1p(-x) + logGamma(a + b) - logGamma(a) - logGamma(b);
  return (Math.exp(front) / a) * betaFraction(x, a, b);
}

/** The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method. */
function betaFraction(x: number, a: number, b: number): number {
  const TINY = 1e-300;
  const nonzero = (value: number) => (Math.abs(value) < TINY ? TINY : value);
  let c = 1;
  let d = 1 / nonzero(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1, change = 0; m < 100_000 && Math.abs(change - 1) > 1e-15; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonzero(1 + even * d);
    c = nonzero(1 + even / c);
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonzero(1 + odd * d);
    c = nonzero(1 + odd / c);
    change = d * c;
    fraction *= change;
  }
  return fraction;
}

/** Stirling's series, shifted to where six terms are exact to a double. */
function logGamma(x: number): number {
  let shift = 0;
  for (; x < 15; x++) shift += Math.log(x);
  const y = 1 / (x * x);
  const series =
    (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y * (1 / 1188 - (y * 691) / 360360))))) / x;
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series - shift;
}
