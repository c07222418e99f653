/**
 * The models of src/local/tails.ts, all of them and word by word: no search for the likely ones, no recurrences, integrals by
 * their antiderivatives. Slow, and right for the same reasons as the text above that file.
 */
import type { Evidence } from "../../src/local/tails.js";
import type { Cost } from "../../src/local/threshold.js";

/** Survival functions of mean 1, and their integrals from y on. */
const SHAPES = [
  { survival: (y: number) => Math.exp(-y), beyond: (y: number) => Math.exp(-y) },
  { survival: (y: number) => (1 + y / 3) ** -4, beyond: (y: number) => (1 + y / 3) ** -3 },
];

interface Model {
  readonly shares: Float64Array;
  readonly excess: (theta: number) => number;
  readonly logWeight: number;
}

/** ∫ P(v > t) from a to b, values being spread evenly over their bins: linear between bin edges, so trapezia are exact. */
function survivalBetween(shares: Float64Array, a: number, b: number): number {
  let [sum, above] = [0, 0];
  for (let bin = shares.length - 1; bin >= 0; bin--) {
    const at = (x: number) => above + shares[bin]! * (bin + 1 - x);
    const [from, to] = [Math.max(a, bin), Math.min(b, bin + 1)];
    if (from < to) sum += ((to - from) * (at(from) + at(to))) / 2;
    above += shares[bin]!;
  }
  return sum;
}

/** The place above which a share of `mass` lies: the largest, where there are many. */
function quantile(shares: Float64Array, mass: number): number {
  for (let bin = shares.length - 1, above = 0; bin >= 0; bin--) {
    if (above + shares[bin]! > mass) return bin + (above + shares[bin]! - mass) / shares[bin]!;
    above += shares[bin]!;
  }
  return 0;
}

function model(
  { shares, resolution: s, logLikelihood }: Evidence,
  j: number,
  zeros: boolean,
  shape: (typeof SHAPES)[number],
  beta: number,
): Model {
  const n = shares.length;
  const mass = 2 ** -j;
  const u = zeros ? 0 : quantile(shares, mass);
  const above = (x: number) => (x >= n ? 0 : shape.survival(Math.max(0, x - u) / beta));
  const own = shares.map((share, i) => {
    const below = zeros ? (i === 0 ? 1 - mass : 0) : i + 1 <= u ? share : 0;
    return below + mass * (above(i) - above(i + 1));
  });
  // What EM has in the bin of u, below u.
  if (!zeros) own[Math.floor(u)]! += 1 - own.reduce((sum, share) => sum + share, 0);
  const tail = (y: number) => mass * beta * (shape.beyond(y / beta) - shape.beyond((n - u) / beta));
  const price = Math.max(Math.log(2), -Math.log(s)) / 2;
  return {
    shares: own,
    excess: (theta) =>
      theta >= u ? tail(Math.min(theta, n) - u) : tail(0) + survivalBetween(shares, theta, u),
    logWeight: logLikelihood(own) - j * price - 3 * Math.log(1 + (s * n * 2 ** j) / (4 * beta)),
  };
}

function allModels(evidence: Evidence): Model[] {
  const models: Model[] = [];
  const [n, s] = [evidence.shares.length, evidence.resolution];
  for (const zeros of [true, false])
    for (let j = zeros ? 0 : 1; 2 ** -j >= (zeros ? s / 4 : s); j++)
      for (const shape of SHAPES)
        for (let q = 0; 2 ** (q / 3) / 4 <= n; q++)
          models.push(model(evidence, j, zeros, shape, 2 ** (q / 3) / 4));
  return models;
}

/** Reference for `averageTails`: averages over all models, one by one. */
export function averagedModels(evidence: Evidence, thresholds: Float64Array, cost: Cost) {
  const models = allModels(evidence);
  const top = Math.max(...models.map(({ logWeight }) => logWeight));
  const weights = models.map(({ logWeight }) => Math.exp(logWeight - top));
  const total = weights.reduce((a, b) => a + b);
  const mean = (of: (model: Model) => number) =>
    models.reduce((sum, each, i) => sum + weights[i]! * of(each), 0) / total;
  const excesses = models.map(({ excess }) => thresholds.map(excess));
  const regrets = new Float64Array(thresholds.length);
  excesses.forEach((excess, i) => {
    const costs = thresholds.map((theta, k) => cost(theta, excess[k]!));
    const least = Math.min(...costs);
    costs.forEach((value, k) => (regrets[k]! += (weights[i]! * value) / least));
  });
  const best = regrets.indexOf(Math.min(...regrets));
  return {
    shares: evidence.shares.map((_, i) => mean((each) => each.shares[i]!)),
    best,
    excess: mean((each) => each.excess(thresholds[best]!)),
  };
}
