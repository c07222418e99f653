/**
 * The noise of one day, for every column of a release: one forest per column, all of the shape of the day's periods. An
 * event is in one node per level and moves the columns together by at most Δ, so noise of scale levels·Δ/ε on every node
 * protects it (docs/privacy-events.md).
 *
 * The corrections of least squares are made when the day begins. The noise of leaves is drawn again from the key, one run
 * at a time, when it is due (runningDay.ts).
 *
 * A number is the integer T + N of its leaf, and the correction of its family.
 */
import { oneLaplace } from "../../core/oneLaplace.js";
import { madeOnce } from "../../core/madeOnce.js";
import type { NoiseCore } from "../../core/core.js";
import type { DayShape } from "../../core/dayShape.js";
import { Purpose, subStream } from "../../core/random.js";
import type { Scale } from "../../core/tables/scale.js";
import { roundAll } from "../../core/treeSlices.js";
import { laplaceVariance } from "../../stream/answer/variance.js";
import type { DayPeriods } from "./dayPeriods.js";

/** Source of the noise of all days and keys of a metric. */
export interface NoiseSource {
  readonly core: NoiseCore;
  readonly columns: number;
  readonly scale: Scale;
  /** Corrections are rounded to multiples of 1/fraction, so that sums of estimates are exact. */
  readonly fraction: number;
}

/** Days are numbered by their start, which may lie before 1970. */
export const dayIndex = (start: number): number => start + 2 ** 47;

/** More columns would share sub-streams with the runs of leaves. */
export const MOST_COLUMNS = 2 ** 16;

/** Corrections of least squares of a day: per family of leaves, every column; none for one level. @param key 8 secret words */
export function dayCorrections(source: NoiseSource, key: Uint32Array, periods: DayPeriods): number[] {
  const { core, columns, scale, fraction } = source;
  const families = periods.shape.sizes[1] ?? 0;
  // A plain array: the header of a typed one takes 200 bytes, and most keys have one column and few families.
  const corrections = new Array<number>(families * columns).fill(0);
  if (families === 0) return corrections;
  const day = dayIndex(periods.day.start);
  for (let column = 0; column < columns; column++) {
    const grown = core.growDay(
      subStream(key, Purpose.dayLeaves, column * MOST_COLUMNS, day),
      subStream(key, Purpose.dayNodes, column, day),
      scale,
      periods.shape,
    );
    roundAll(grown, fraction);
    for (let i = 0; i < families; i++) corrections[i * columns + column] = grown[i]!;
  }
  return corrections;
}

/** Draws the noise of a run of `DAY_RUN` leaves, or of the rest of the day, for one column. @param key 8 secret words */
export function drawLeaves(
  { core, scale }: NoiseSource,
  key: Uint32Array,
  { day }: DayPeriods,
  column: number,
  run: number,
  out: Float64Array,
): void {
  core.laplace(
    subStream(key, Purpose.dayLeaves, column * MOST_COLUMNS + run, dayIndex(day.start)),
    scale,
    out,
  );
}

/** First leaf of each family of a shape, and the end of the last. */
const familyStarts = madeOnce(({ sizes, fanouts }: DayShape) => {
  const count = sizes[1] ?? 0;
  const starts = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++) starts[i + 1] = starts[i]! + fanouts[i]!;
  return starts;
});

/** The family that a leaf is in: its parent's place among the parents of leaves. */
export function familyOf(shape: DayShape, leaf: number): number {
  const starts = familyStarts(shape);
  let [low, high] = [0, starts.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (starts[middle]! <= leaf) low = middle;
    else high = middle;
  }
  return low;
}

/** One noisy count per day, beside the sums: an integer plus discrete Laplace noise. */
export function noisyDayCount(
  core: NoiseCore,
  key: Uint32Array,
  purpose: number,
  day: number,
  scale: Scale,
  count: number,
): number {
  return count + oneLaplace(core, subStream(key, Purpose.dayCounts, purpose, dayIndex(day)), scale);
}

/** Variance v of discrete Laplace noise of scale t, and its fourth cumulant over 3: v² + v/3. */
export function discreteNoise(t: number): { readonly variance: number; readonly fourth: number } {
  const variance = laplaceVariance(t);
  return { variance, fourth: variance ** 2 + variance / 3 };
}
