/**
 * Sums of release-reports as whole numbers. The estimate of a value is affine in its cell, so a sum of estimates follows
 * from four whole numbers, exactly, in any order and any grouping. Floats come in when an answer is made.
 */
import type { Mechanism } from "../../core/tables/sectors.js";
import { estimatorSlopes, roundedFrom } from "../moments.js";

export interface CellSums {
  readonly reports: number;
  /** Reports of a window (Piecewise), and the sum of their cells. */
  readonly windowed: number;
  readonly cells: bigint;
  /** Reports of Stochastic Rounding that say 1. */
  readonly ones: number;
}

export const NO_REPORTS: CellSums = { reports: 0, windowed: 0, cells: 0n, ones: 0 };

export const addSums = (a: CellSums, b: CellSums): CellSums => ({
  reports: a.reports + b.reports,
  windowed: a.windowed + b.windowed,
  cells: a.cells + b.cells,
  ones: a.ones + b.ones,
});

/** The sums of a batch: at most 2²⁴ cells below 2²², so a double holds them. */
export function sumsOf(cells: Uint32Array, mechanism: Mechanism): CellSums {
  const rounded = roundedFrom(mechanism);
  let [windowed, sum, ones] = [0, 0, 0];
  for (const cell of cells)
    if (cell < rounded) {
      windowed++;
      sum += cell;
    } else ones += cell - rounded;
  return { reports: cells.length, windowed, cells: BigInt(sum), ones };
}

/** Whether such sums can come from reports of this mechanism. */
export function possibleSums({ reports, windowed, cells, ones }: CellSums, mechanism: Mechanism): boolean {
  const rounded = roundedFrom(mechanism);
  return (
    windowed <= reports &&
    (windowed === 0 || rounded > 0) &&
    ones <= reports - windowed &&
    (rounded < mechanism.cells || windowed === reports) &&
    cells <= BigInt(windowed) * BigInt(Math.max(0, rounded - 1))
  );
}

/**
 * The sum of the estimates, as a multiple of θ: ½ each, plus slopes times distances from the middle of the cells. Twice
 * these distances are whole numbers.
 */
export function estimatedSum({ reports, windowed, cells, ones }: CellSums, mechanism: Mechanism): number {
  const { perCell, perBit } = estimatorSlopes(mechanism);
  const middle = BigInt(roundedFrom(mechanism)) - 1n;
  const bits = reports - windowed;
  return (
    reports / 2 +
    (windowed > 0 ? (Number(2n * cells - BigInt(windowed) * middle) / 2) * perCell : 0) +
    (bits > 0 ? (ones - bits / 2) * perBit : 0)
  );
}
