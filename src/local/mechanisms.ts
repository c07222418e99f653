/**
 * The local mechanisms, discrete and exact (Appendix E): every probability is in proportion to an integer, rounded so that no
 * report is more than e^ε times as likely under one input as under another. Constants come from BigInt arithmetic, so a phone and a
 * server agree on the grid to the last cell.
 *
 * Window mechanism: inputs 0 … N, outputs 0 … N+W−1, weight e^ε on the W cells from x on and 1 on the N others.
 */
import { checkNumber } from "../core/checks.js";
import { exactRational, expFixed } from "../core/tables/fixedPoint.js";
import { makeMechanism, type Mechanism, WHOLE } from "../core/tables/sectors.js";

/** Bins of the estimated distribution, and input cells per bin of the learning grid. */
export const BINS = 1024;

/** Release grid: values are multiples of θ/2²⁰. */
const RELEASE_TOP = 2 ** 20;

/** Above this ε the Hybrid mechanism mixes Piecewise in (Appendix E.2). */
const HYBRID_FROM = 0.61;

/** e^−ε is carried with this many fractional bits; one unit covers its error, which is below 0.51 (fixedPoint.ts). */
const BITS = 256;
const ONE = 1n << BigInt(BITS);

/** A local ε, from 10⁻⁶ to 24. */
export const checkLocalEpsilon = (name: string, epsilon: unknown): number =>
  checkNumber(name, epsilon, 1e-6, 24);

/** 2²⁵⁶·e^(−ε/divisor), to the nearest integer. */
function expOf(epsilon: number, divisor = 1n): bigint {
  const { numerator, denominator } = exactRational(epsilon);
  return expFixed(numerator, denominator * divisor, BITS);
}

/**
 * The weights of a favoured place and of another, as large as `budget` has room for so many of both. e^−ε rounded up and
 * both quotients down: favoured ≤ e^ε·other for the exact rational that ε stands for, and the sum within the budget.
 */
function weightsOf(epsilon: number, favoured: number, others: number, budget: bigint): [bigint, bigint] {
  const least = expOf(epsilon) + 1n;
  const other = (budget * least) / (BigInt(favoured) * ONE + BigInt(others) * least);
  return [(other * ONE) / least, other];
}

/** round(numerator/denominator) for positive numbers. */
const nearest = (numerator: bigint, denominator: bigint): number =>
  Number((2n * numerator + denominator) / (2n * denominator));

/**
 * The Square Wave window that serves best, as a share of the domain times 2²⁵⁶: with a = e^−ε,
 * w = a(ε − 1 + a)/(1 − a(1 + ε)). Both differences cancel for small ε, which 256 bits do not mind.
 */
function bestWindow(epsilon: number): bigint {
  const a = expOf(epsilon);
  const { numerator, denominator } = exactRational(epsilon);
  const scaled = (ONE * numerator) / denominator;
  return (a * (scaled - ONE + a)) / (ONE - a - (a * scaled) / ONE);
}

/**
 * The window of a day's reports: bins·cells inputs, W/N = e^(−ε/2) as in Piecewise, rounded to whole bins so that EM's matrix is
 * banded. One report serves a mean (unbiased, affine in the cell) and a distribution.
 */
export function dayWindow(epsilon: number, bins = BINS, cells = BINS): Mechanism {
  checkLocalEpsilon("epsilon", epsilon);
  const top = bins * cells - 1;
  const width = cells * windowOf(epsilon, bins);
  return makeMechanism(epsilon, top, width, [...weightsOf(epsilon, width, top, WHOLE), 0n, 0n]);
}

/** Full width w of the continuous Square Wave's window, on inputs in [0, 1]. */
export function squareWaveWidth(epsilon: number): number {
  return Number(bestWindow(checkLocalEpsilon("epsilon", epsilon))) / 2 ** BITS;
}

/**
 * Square Wave: bins·cells inputs, the window a whole number of input bins, so that EM's matrix is banded. The rounding of w
 * to 1/1024 costs less than 10⁻³ of the information for ε ≤ 5; beyond it w is below two bins, finer than the estimate shows.
 */
export function squareWave(epsilon: number, bins = BINS, cells = BINS): Mechanism {
  checkLocalEpsilon("epsilon", epsilon);
  const top = bins * cells - 1;
  const width = cells * Math.max(1, nearest(bestWindow(epsilon) * BigInt(bins), ONE));
  return makeMechanism(epsilon, top, width, [...weightsOf(epsilon, width, top, WHOLE), 0n, 0n]);
}

/** Stochastic Rounding: x to 0 or N with odds N−x : x, then randomised response. */
export function stochasticRounding(epsilon: number, top = RELEASE_TOP): Mechanism {
  checkLocalEpsilon("epsilon", epsilon);
  return makeMechanism(epsilon, top, 0, [0n, 0n, ...weightsOf(epsilon, top, top, WHOLE)]);
}

/** Piecewise: W/N = e^(−ε/2), rounded to whole cells. */
export function piecewise(epsilon: number, top = RELEASE_TOP): Mechanism {
  checkLocalEpsilon("epsilon", epsilon);
  const width = windowOf(epsilon, top);
  return makeMechanism(epsilon, top, width, [...weightsOf(epsilon, width, top, WHOLE), 0n, 0n]);
}

const windowOf = (epsilon: number, top: number): number =>
  Math.max(1, nearest(BigInt(top) * expOf(epsilon, 2n), ONE));

/**
 * Hybrid: Piecewise with probability α = 1 − e^(−ε/2), else Stochastic Rounding; up to ε = 0.61 the latter only. α does not
 * depend on the value and cancels in every ratio. A report shows which of the two made it.
 */
export function hybrid(epsilon: number, top = RELEASE_TOP): Mechanism {
  if (checkLocalEpsilon("epsilon", epsilon) <= HYBRID_FROM) return stochasticRounding(epsilon, top);
  const width = windowOf(epsilon, top);
  const alpha = (WHOLE * (ONE - expOf(epsilon, 2n))) / ONE;
  return makeMechanism(epsilon, top, width, [
    ...weightsOf(epsilon, width, top, alpha),
    ...weightsOf(epsilon, top, top, WHOLE - alpha),
  ]);
}
