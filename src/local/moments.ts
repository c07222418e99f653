/**
 * Moments of a report, given its value: an unbiased estimate, and how far it strays. Computed from the rounded probabilities
 * that the device uses, not from e^ε. Values and estimates are shares of the domain: 0 is input 0, 1 is input N.
 */
import { madeOnce } from "../core/madeOnce.js";
import type { Mechanism } from "../core/tables/sectors.js";

/** numerator/denominator as the nearest double, whatever their size; 0 for a part that a mechanism does not have. */
export function quotient(numerator: bigint, denominator: bigint): number {
  return denominator === 0n ? 0 : Number((numerator << 192n) / denominator) / 2 ** 192;
}

interface Constants {
  /** Probability of a window report at all; of its window, given that; and of a rounded value being kept. */
  readonly windowed: number;
  readonly inside: number;
  /** Factor from an input to the mean of a window report, and 2·kept − 1. */
  readonly slope: number;
  readonly contrast: number;
}

const constants = madeOnce((mechanism: Mechanism): Constants => {
  const [inside, outside, kept, flipped] = mechanism.weights;
  const [n, w] = [BigInt(mechanism.top), BigInt(mechanism.width)];
  const windowed = w * inside + n * outside;
  return {
    windowed: quotient(windowed, mechanism.total),
    inside: quotient(w * inside, windowed),
    slope: quotient(w * (inside - outside), windowed),
    contrast: quotient(kept - flipped, kept + flipped),
  };
});

/**
 * The unbiased estimate from one report: affine in the cell, E[estimate | x] = x/N.
 * Window: a cell's distance from the middle of the grid has mean slope·(x − N/2).
 */
export function estimateOf(mechanism: Mechanism, cell: number): number {
  return estimator(mechanism)(cell);
}

/** The estimate of a value from a report, for many reports of one mechanism. */
export function estimator(mechanism: Mechanism): (cell: number) => number {
  const { top, width, cells } = mechanism;
  const { slope, contrast } = constants(mechanism);
  const rounded = roundedFrom(mechanism);
  return (cell) =>
    cell >= rounded
      ? 0.5 + (cell - (cells - 1.5)) / contrast
      : 0.5 + (cell - (top + width - 1) / 2) / (slope * top);
}

/** Cells from here on are those of Stochastic Rounding: the first says 0, the second 1. */
export const roundedFrom = ({ cells, weights }: Mechanism): number => (weights[2] > 0n ? cells - 2 : cells);

/** Slopes of the two estimators: the step of the one from a window per cell, and of the other one from 0 to 1. */
export function estimatorSlopes(mechanism: Mechanism): { readonly perCell: number; readonly perBit: number } {
  const { slope, contrast } = constants(mechanism);
  return { perCell: 1 / (slope * mechanism.top), perBit: 1 / contrast };
}

/** Variance of the estimate from one report of the value `share`. Both kinds are unbiased, so their variances mix. */
export function varianceOf(mechanism: Mechanism, share: number): number {
  const { windowed } = constants(mechanism);
  return (
    (windowed > 0 ? windowed * windowVariance(mechanism, share) : 0) +
    (windowed < 1 ? (1 - windowed) * roundingVariance(mechanism, share) : 0)
  );
}

/** P(1) = ½ + (share − ½)·contrast, and the estimate is that bit divided by the contrast. */
function roundingVariance(mechanism: Mechanism, share: number): number {
  const { contrast } = constants(mechanism);
  const lean = (share - 0.5) * contrast;
  return (0.25 - lean * lean) / (contrast * contrast);
}

/** Second moments about the middle of the grid: a run of n cells has (n² − 1)/12 about its own middle. */
function windowVariance(mechanism: Mechanism, share: number): number {
  const { top, width } = mechanism;
  const { inside, slope } = constants(mechanism);
  const about = (n: number) => (n * n - 1) / 12;
  const x = (share - 0.5) * top;
  const within = x * x + about(width);
  const without = ((top + width) * about(top + width) - width * within) / top;
  const variance = inside * within + (1 - inside) * without - slope * slope * x * x;
  return variance / (slope * slope * top * top);
}

/** The largest variance over all values: it is a parabola in the share, symmetric about ½. (Hybrid: flat above ε = 0.61.) */
export function worstVariance(mechanism: Mechanism): number {
  return Math.max(varianceOf(mechanism, 0), varianceOf(mechanism, 0.5));
}

/** Probability of one cell inside the window and outside of it, for a mechanism with a window alone. */
export function cellProbabilities({ weights, total }: Mechanism): { inside: number; outside: number } {
  return { inside: quotient(weights[0], total), outside: quotient(weights[1], total) };
}
