/** The grids that values are rounded to, and that candidates for θ lie on. */
import type { GridSettings } from "./options.js";

/** Finer candidates for θ would cost accuracy: more of them compete, and the smallest are far from any value. */
const FINE_STEPS = 2 ** 16;
const COARSE_STEPS = 2 ** 8;

/** The largest power of two with max/g ≥ steps, and at most 1: whole numbers and sums stay exact. */
function gridOf(max: number, steps: number): number {
  let resolution = 1;
  while (max / resolution < steps && resolution > Number.MIN_VALUE) resolution /= 2;
  return resolution;
}

/** The usual grid. */
export const fineGrid = (max: number): number => gridOf(max, FINE_STEPS);

/** The grid of candidates for θ, of event streams, and of the paper's variant. */
export const coarseGrid = (max: number): number => gridOf(max, COARSE_STEPS);

/** The largest candidate for Θ, and what the others are multiples of, in grid units. */
export const candidateGrid = ({
  width,
  resolution,
  thresholdStep,
}: GridSettings): {
  readonly largest: number;
  readonly step: number;
} => ({ largest: Math.floor(width / resolution), step: thresholdStep / resolution });
