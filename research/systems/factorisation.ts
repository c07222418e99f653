/**
 * Factorisations of the counting matrix A = B·C, all entries on and below the diagonal 1: what is published is A·x + B·z, the
 * same as B·(C·x + z), with Gaussian z for the ℓ₂ norm of a column of C, Θ·√(Σ c_k²). All three are Toeplitz.
 *
 * - Square root (Fichtenberger, Henzinger and Upadhyay 2023; Henzinger, Upadhyay and Upadhyay 2023): b_k = c_k = C(2k, k)/4^k.
 *   As printed it keeps all of z. Here c_k, k ≥ 1, is the integral (1/π)·∫ s^k·√(s(1−s)) du, s = 1/(1 + e^(−u)), by the
 *   trapezoidal rule: 101 decaying sums, each entry within 10⁻⁶ of itself, and no memory of z.
 * - Banded (Choquette-Choo et al. 2023; Kalinin and Lampert 2024): C keeps the first p of these entries, and C⁻¹·z needs the last
 *   p of its own values. The papers leave p open for prefix sums; a wider band is better and slower, p = 256 here.
 * - BLT, buffered linear Toeplitz (Dvijotham, McMahan, Pillutla, Steinke and Thakurta 2024): c_k = Σ_d ω_d·θ_d^(k−1), and
 *   C⁻¹·z needs one buffer per d. Eight buffers by the same rule, from u = −1 to ln T + 1; the paper optimises
 *   them numerically. The error over that of the square root is 0.99 at T = 2²⁰ (test).
 *
 * Departures: C·x is not on the grid of z, and B·z is a double, rounded to the grid: for comparison, not for use.
 */
import type { Spread } from "../../src/stream/answer/variance.js";
import type { Draws } from "./draws.js";
import type { PrefixMechanism } from "./record.js";

/** A linear filter from z to the noise of prefix sums. */
interface Filter {
  next(z: number): number;
}

export interface Factorisation {
  /** B, with no state yet. */
  filter(horizon: number): Filter;
  /** Σ_{k < T} c_k². */
  columnNorm(horizon: number): number;
}

/** c_k = C(2k, k)/4^k for k < count. */
export function rootEntries(count: number): Float64Array {
  const entries = new Float64Array(count);
  for (let k = 0, entry = 1; k < count; k++, entry *= (2 * k - 1) / (2 * k)) entries[k] = entry;
  return entries;
}

/** ω_d and θ_d of `count` nodes between u = low and high. */
function quadrature(
  count: number,
  low: number,
  high: number,
): { weights: Float64Array; decays: Float64Array } {
  const step = (high - low) / (count - 1);
  const nodes = Float64Array.from({ length: count }, (_, i) => low + i * step);
  const decays = nodes.map((u) => 1 / (1 + Math.exp(-u)));
  const weights = nodes.map(
    (u, i) => (step / Math.PI) * decays[i]! * Math.sqrt(decays[i]! / (1 + Math.exp(u))),
  );
  return { weights, decays };
}

const squares = (entries: Float64Array): number => entries.reduce((sum, c) => sum + c * c, 0);

export const squareRoot: Factorisation = {
  columnNorm: (horizon) => squares(rootEntries(horizon)) * (1 + 1e-5), // for the error of the rule
  filter() {
    const { weights, decays } = quadrature(101, -12, 42);
    const sums = new Float64Array(weights.length); // Σ_{j ≥ 1} θ^(j−1)·z_(t−j)
    return {
      next(z) {
        let noise = z;
        for (let d = 0; d < sums.length; d++) {
          noise += weights[d]! * sums[d]!;
          sums[d] = decays[d]! * sums[d]! + z;
        }
        return noise;
      },
    };
  },
};

export const BAND = 256;

export const banded: Factorisation = {
  columnNorm: (horizon) => squares(rootEntries(Math.min(BAND, horizon))),
  filter() {
    const entries = rootEntries(BAND);
    const last = new Float64Array(2 * BAND); // twice, so that the last p values are always in a row
    let [at, prefix] = [0, 0];
    return {
      next(z) {
        let value = z;
        for (let k = 1; k < BAND; k++) value -= entries[k]! * last[at + BAND - k]!;
        last[at] = last[at + BAND] = value;
        at = (at + 1) % BAND;
        return (prefix += value);
      },
    };
  },
};

const BUFFERS = 8;
const bufferRule = (horizon: number) => quadrature(BUFFERS, -1, Math.log(horizon) + 1);

export const buffered: Factorisation = {
  columnNorm(horizon) {
    const { weights, decays } = bufferRule(horizon);
    let sum = 1;
    for (let k = 1; k < horizon; k++) {
      let entry = 0;
      for (let d = 0; d < BUFFERS; d++) {
        entry += weights[d]!;
        weights[d]! *= decays[d]!;
      }
      sum += entry * entry;
    }
    return sum;
  },
  filter(horizon) {
    const { weights, decays } = bufferRule(horizon);
    const buffers = new Float64Array(BUFFERS);
    let prefix = 0;
    return {
      next(z) {
        let value = z;
        for (let d = 0; d < BUFFERS; d++) value -= weights[d]! * buffers[d]!;
        for (let d = 0; d < BUFFERS; d++) buffers[d] = decays[d]! * buffers[d]! + value;
        return (prefix += value);
      },
    };
  },
};

/** b_k for k < count: what one unit of z does to later prefix sums. The last ones asked for are kept, for error bars. */
const responses = new WeakMap<Factorisation, { horizon: number; entries: Float64Array }>();

export function responseOf(factorisation: Factorisation, horizon: number): Float64Array {
  const kept = responses.get(factorisation);
  if (kept?.horizon === horizon) return kept.entries;
  const filter = factorisation.filter(horizon);
  const entries = Float64Array.from({ length: horizon }, (_, k) => filter.next(k === 0 ? 1 : 0));
  responses.set(factorisation, { horizon, entries });
  return entries;
}

/** Column norms are public and take a pass over all entries: kept by horizon. */
const norms = new WeakMap<Factorisation, Map<number, number>>();

export function columnNormOf(factorisation: Factorisation, horizon: number): number {
  const kept = norms.get(factorisation) ?? new Map<number, number>();
  norms.set(factorisation, kept);
  const norm = kept.get(horizon) ?? factorisation.columnNorm(horizon);
  kept.set(horizon, norm);
  return norm;
}

export class FactorisedCounter implements PrefixMechanism {
  readonly #factorisation: Factorisation;
  readonly #horizon: number;
  readonly #draws: Draws;
  readonly #filter: Filter;
  #sum = 0;

  /** @param draws z, for the column norm of the factorisation */
  constructor(factorisation: Factorisation, horizon: number, draws: Draws) {
    this.#factorisation = factorisation;
    this.#horizon = horizon;
    this.#draws = draws;
    this.#filter = factorisation.filter(horizon);
  }

  push(x: number): number {
    this.#sum += x;
    return this.#sum + Math.round(this.#filter.next(this.#draws.take()));
  }

  /** z of the range enters with b_k alone, z before it with b_(k + length) − b_k. */
  spread(from: number, to: number): Spread {
    const entries = responseOf(this.#factorisation, this.#horizon);
    const length = to - from;
    const within = smoothSum(length, (k) => entries[k]! ** 2);
    const before = smoothSum(from, (k) => (entries[k + length]! - entries[k]!) ** 2);
    return { variance: (within + before) * this.#draws.spread.variance, fourth: 0 };
  }
}

/** Terms that are added one by one; beyond them each doubling of k takes as many steps as half of these. */
const ONE_BY_ONE = 8192;

/** Σ_{k < count} f(k) for f that is smooth far out, by steps of k/4096 and the term in their middle: within 10⁻⁴ of it (test). */
export function smoothSum(count: number, f: (k: number) => number): number {
  let sum = 0;
  for (let k = 0; k < Math.min(count, ONE_BY_ONE); k++) sum += f(k);
  for (let from = ONE_BY_ONE; from < count; from *= 2) {
    const step = (2 * from) / ONE_BY_ONE;
    const end = Math.min(2 * from, count);
    for (let k = from; k < end; k += step) {
      const width = Math.min(step, end - k);
      sum += width * f(k + (width >> 1));
    }
  }
  return sum;
}
