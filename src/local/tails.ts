/**
 * θ where the reports cannot show the tail. The best θ has 0.2 to 0.4 % of the values above it, but m reports of ε tell a
 * share from 0 only above s = e^(ε/2)/((e^ε − 1)·√m), 0.17 to 2 %. So θ is an extrapolation: many models of the tail are
 * weighed by how well they explain the reports, and θ has the least expected regret over all of them.
 *
 * Model (body, j, shape, β): mass 2⁻ʲ is the tail, with mean excess β over u: survival e^(−y/β), or (1 + y/(3β))⁻⁴ for a
 * heavy tail; what would lie above `max` is at `max`. The rest is the body: EM's distribution below u, its
 * (1 − 2⁻ʲ)-quantile; or all of it in the first bin, with u = 0, for sparse streams. All lengths are in bins, n of them.
 *
 *     ln weight = ℓ − j·c/2 − 3·ln(1 + s·n·2ʲ/(4β)),   c = max(ln 2, −ln s)
 *
 * ℓ is the log-likelihood of the reports. Each level j trusts the body one halving deeper and pays half of what BIC asks for
 * a parameter, with the effective sample size 1/s². The last term is the prior of β: the reports place a mass of 2⁻ʲ only
 * to about s·n·2ʲ bins, so all smaller β look alike to them, and many small β would outvote the larger ones. Jeffreys' prior
 * has this form with other constants; ½, 3 and ¼ are measured (research/notes/local-threshold.md). Post-processing of ε-LDP reports: everything
 * here is public.
 */
import type { Cost } from "./threshold.js";

const LEAST_BETA = 1 / 4;
const BETAS_PER_OCTAVE = 3;
/** Sparse bodies go this many halvings below s: what is too rare to see may still be large. */
const DEEPER = 2;
/** Models this much less likely than the best have no say. */
const NEGLIGIBLE = 1e-9;

/** A survival function with mean 1: tails are scaled by β. */
interface Shape {
  /** out[i] = survival at y + (i − from)·step, from `from` to the end. */
  readonly fill: (out: Float64Array, from: number, y: number, step: number) => void;
  /** The integral of the survival function from y on. */
  readonly beyond: (y: number) => number;
}

const square = (x: number): number => x * x;

/** Products, no power and one exponential a tail: there are a million places. */
const SHAPES: readonly Shape[] = [
  {
    fill: (out, from, y, step) => {
      const ratio = Math.exp(-step);
      for (let i = from, s = Math.exp(-y); i < out.length; i++, s *= ratio) out[i] = s;
    },
    beyond: (y) => Math.exp(-y),
  },
  {
    fill: (out, from, y, step) => {
      for (let i = from; i < out.length; i++) out[i] = 1 / square(square(1 + (y + (i - from) * step) / 3));
    },
    beyond: (y) => 1 / ((1 + y / 3) * square(1 + y / 3)),
  },
];

/** Evidence of the reports: EM's estimate, and the log-likelihood of any distribution over the same bins. */
export interface Evidence {
  readonly shares: Float64Array;
  readonly logLikelihood: (shares: Float64Array) => number;
  /** s: the least share that the reports can tell from 0. */
  readonly resolution: number;
}

/** s for m reports of ε: the standard error of a share under randomised response. */
export const resolutionOf = (epsilon: number, reports: number): number =>
  Math.exp(epsilon / 2) / (Math.expm1(epsilon) * Math.sqrt(reports));

/** The average over all models. */
export interface AveragedTail {
  /** The distribution, in EM's bins. */
  readonly shares: Float64Array;
  /** The index of θ among the thresholds asked about. */
  readonly best: number;
  /** E (v − θ)₊ for that θ, in bins. */
  readonly excess: number;
}

interface Model {
  readonly body: Body;
  readonly shape: Shape;
  readonly beta: number;
  readonly logWeight: number;
}

/**
 * @param thresholds θ to choose from, in bins, rising
 * @param pause lets other work run
 */
export async function averageTails(
  evidence: Evidence,
  thresholds: Float64Array,
  cost: Cost,
  pause: () => Promise<void>,
): Promise<AveragedTail> {
  const { shares, resolution, logLikelihood } = evidence;
  const models: Model[] = [];
  const trial = new Float64Array(shares.length);
  const betas = scales(shares.length);
  /** The likeliest model so far, and where the last body of the same kind and shape had its own. */
  let top = -Infinity;
  const starts = new Map<string, number>();
  for (const body of bodies(shares, resolution)) {
    const unseen = (resolution * shares.length * 2 ** body.level) / 4;
    SHAPES.forEach((shape, kind) => {
      const hill = (q: number) => {
        body.write(shape, betas[q]!, trial);
        const prior = -body.level * price(resolution) - 3 * Math.log1p(unseen / betas[q]!);
        const logWeight = logLikelihood(trial) + prior;
        models.push({ body, shape, beta: betas[q]!, logWeight });
        top = Math.max(top, logWeight);
        return logWeight;
      };
      const row = `${body.zeros} ${kind}`;
      const start = starts.get(row) ?? betas.length >> 1;
      starts.set(
        row,
        walkHill(hill, betas.length, start, () => top + Math.log(NEGLIGIBLE)),
      );
    });
    await pause();
  }
  return average(models, thresholds, cost, trial);
}

/** β = ¼·2^(q/3) bins, up to n. */
function scales(n: number): number[] {
  const betas: number[] = [];
  for (let q = 0, beta = LEAST_BETA; beta <= n; beta = LEAST_BETA * 2 ** (++q / BETAS_PER_OCTAVE))
    betas.push(beta);
  return betas;
}

/**
 * Calls a function that rises to one top and falls again wherever it is above `least()`, and around its top; the other
 * places have no say. Returns the place of the top. The likelihood is such a function of ln β, up to wiggles of one step.
 */
export function walkHill(
  hill: (place: number) => number,
  length: number,
  start: number,
  least: () => number,
): number {
  const known = new Map<number, number>();
  const at = (place: number): number => {
    if (place < 0 || place >= length) return -Infinity;
    let height = known.get(place);
    if (height === undefined) known.set(place, (height = hill(place)));
    return height;
  };
  let best = start;
  for (const way of [1, -1]) {
    while (Math.max(at(best + way), at(best + 2 * way)) > at(best))
      best += at(best + way) > at(best) ? way : 2 * way;
  }
  for (const way of [1, -1]) for (let place = best; at(place) > least();) place += way;
  return best;
}

/** c/2: what trusting the body one halving deeper costs. */
const price = (resolution: number): number => Math.max(Math.LN2, -Math.log(resolution)) / 2;

function* bodies(shares: Float64Array, resolution: number): Generator<Body> {
  yield new Body(shares, 0, true);
  for (let j = 1; 2 ** -j >= resolution / 2 ** DEEPER; j++) {
    if (2 ** -j >= resolution) yield new Body(shares, j, false);
    yield new Body(shares, j, true);
  }
}

function average(
  models: readonly Model[],
  thresholds: Float64Array,
  cost: Cost,
  trial: Float64Array,
): AveragedTail {
  const top = Math.max(...models.map(({ logWeight }) => logWeight));
  const shares = new Float64Array(trial.length);
  const regret = new Float64Array(thresholds.length);
  const excess = new Float64Array(thresholds.length);
  let total = 0;
  for (const { body, shape, beta, logWeight } of models) {
    const weight = Math.exp(logWeight - top);
    if (weight < NEGLIGIBLE) continue;
    total += weight;
    body.write(shape, beta, trial);
    trial.forEach((share, i) => (shares[i]! += weight * share));
    const hidden = thresholds.map((theta) => body.excess(shape, beta, theta));
    const costs = thresholds.map((theta, k) => cost(theta, hidden[k]!));
    const least = costs.reduce((a, b) => Math.min(a, b));
    costs.forEach((value, k) => (regret[k]! += weight * (value / least)));
    hidden.forEach((value, k) => (excess[k]! += weight * value));
  }
  const best = regret.reduce((least, value, k) => (value < regret[least]! ? k : least), 0);
  return { shares: shares.map((share) => share / total), best, excess: excess[best]! / total };
}

/** The distribution below the tail: EM's distribution up to its (1 − 2⁻ʲ)-quantile, or zeros. */
class Body {
  /** j */
  readonly level: number;
  readonly zeros: boolean;
  readonly #shares: Float64Array;
  /** Mass of the tail, and u, where it begins. */
  readonly #mass: number;
  readonly #start: number;
  /** #excess[i] = ∫ EM's survival from bin i on; #above[i] = EM's survival at bin i. */
  readonly #excess: Float64Array;
  readonly #above: Float64Array;

  constructor(shares: Float64Array, j: number, zeros: boolean) {
    const n = shares.length;
    this.level = j;
    this.zeros = zeros;
    this.#shares = shares;
    this.#mass = 2 ** -j;
    this.#above = new Float64Array(n + 1);
    this.#excess = new Float64Array(n + 1);
    for (let i = n - 1; i >= 0; i--) {
      this.#above[i] = this.#above[i + 1]! + shares[i]!;
      this.#excess[i] = this.#excess[i + 1]! + this.#above[i + 1]! + shares[i]! / 2;
    }
    let bin = 0;
    while (this.#above[bin + 1]! > this.#mass) bin++; // nothing is above the last bin
    const part = shares[bin]! > 0 ? (this.#above[bin]! - this.#mass) / shares[bin]! : 0;
    this.#start = zeros ? 0 : bin + Math.min(1, Math.max(0, part));
  }

  /** The model's shares, bin by bin; they sum to 1. */
  write({ fill }: Shape, beta: number, out: Float64Array): void {
    const n = out.length;
    const first = Math.min(Math.floor(this.#start), n - 1);
    fill(out, first, (first + 1 - this.#start) / beta, 1 / beta);
    out[n - 1] = 0; // what would lie above is in the last bin
    for (let i = n - 1; i > first; i--) out[i] = this.#mass * (out[i - 1]! - out[i]!);
    const rest = Math.max(0, 1 - this.#mass - (1 - this.#above[first]!));
    out[first] = this.#mass * (1 - out[first]!) + rest;
    out.set(this.#shares.subarray(0, first));
  }

  /** E (v − θ)₊ of the model. */
  excess({ beyond }: Shape, beta: number, theta: number): number {
    const end = beyond((this.#shares.length - this.#start) / beta);
    const tail = (y: number) => this.#mass * beta * Math.max(0, beyond(y / beta) - end);
    if (theta >= this.#start) return tail(theta - this.#start);
    return tail(0) + Math.max(0, this.#estimated(theta) - this.#estimated(this.#start));
  }

  /** ∫ EM's survival from x on; within a bin it is a parabola, since a bin's values are spread evenly. */
  #estimated(x: number): number {
    const bin = Math.min(Math.floor(x), this.#shares.length - 1);
    const part = x - bin;
    return this.#excess[bin]! - part * this.#above[bin]! + (part * part * this.#shares[bin]!) / 2;
  }
}
