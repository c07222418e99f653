/**
 * The noise of one day, for every column of a release: one forest per column, all of the shape of the day's periods. An
 * event is in one node per level and moves the columns together by at most Δ, so noise of scale levels·Δ/ε on every node
 * protects it (docs/events.md).
 *
 * The corrections of least squares are made when the day begins. The noise of leaves is drawn again from the key, one run
 * at a time, when it is due: what is kept is one run of leaves and one correction per family.
 *
 * A number is the integer T + N of its leaf, and the correction of its family.
 */
import type { Core } from "../core/core.js";
import type { DayShape } from "../core/dayShape.js";
import { DAY_RUN } from "../core/layout.js";
import { Stage, subStream } from "../core/random.js";
import type { Scale } from "../core/tables/scale.js";
import { roundAll } from "../core/treeSlices.js";
import { laplaceVariance } from "../stream/variance.js";
import type { DayPeriods } from "./calendar.js";
import { Packed } from "./packed.js";

/** What the noise of all days and keys of a metric has in common. */
export interface NoiseSource {
  readonly core: Core;
  readonly columns: number;
  readonly scale: Scale;
  /** Corrections are rounded to multiples of 1/fraction, so that sums of estimates are exact. */
  readonly fraction: number;
}

/** Days are numbered by their start, which may lie before 1970. */
const dayIndex = (start: number): number => start + 2 ** 47;

/** More columns would share sub-streams with the runs of leaves. */
export const MOST_COLUMNS = 2 ** 16;

/** The noise of a run of leaves. */
interface Run {
  readonly run: number;
  /** Per leaf, every column. */
  readonly rows: Packed;
  /** Columns that are drawn. */
  drawn: number;
}

export class DayNoise {
  // Parameters
  readonly periods: DayPeriods;
  readonly #source: NoiseSource;
  /** 8 secret words. */
  readonly #key: Uint32Array;
  /** Per family of leaves, the correction of every column; none for one level. */
  readonly corrections: readonly number[];
  // State
  #now: Run | undefined;
  /** The next run as far as it is drawn, a few columns with every leaf, so that no leaf waits for a whole run. */
  #ahead: Run | undefined;

  constructor(source: NoiseSource, key: Uint32Array, periods: DayPeriods) {
    const { core, columns, scale, fraction } = source;
    this.#source = source;
    this.#key = key;
    this.periods = periods;
    const families = periods.shape.sizes[1] ?? 0;
    // A plain array: the header of a typed one takes 200 bytes, and most keys have one column and few families.
    const corrections = new Array<number>(families * columns).fill(0);
    this.corrections = corrections;
    if (families === 0) return;
    const day = dayIndex(periods.day.start);
    for (let column = 0; column < columns; column++) {
      const grown = core.growDay(
        subStream(key, Stage.dayLeaves, column * MOST_COLUMNS, day),
        subStream(key, Stage.dayNodes, column, day),
        scale,
        periods.shape,
      );
      roundAll(grown, fraction);
      for (let i = 0; i < families; i++) corrections[i * columns + column] = grown[i]!;
    }
  }

  /** T + N of every column for a leaf, from its true sums of integers. Leaves are mostly asked for in order. */
  estimate(leaf: number, sums: Float64Array): Float64Array {
    const { columns } = this.#source;
    const run = Math.floor(leaf / DAY_RUN);
    if (run !== this.#now?.run) this.#turnTo(run);
    const { rows } = this.#now!;
    const noise = (leaf - run * DAY_RUN) * columns;
    const out = new Float64Array(columns);
    for (let i = 0; i < columns; i++) out[i] = sums[i]! + rows.at(noise + i);
    this.#drawAhead(run + 1);
    return out;
  }

  #turnTo(run: number): void {
    const next = this.#ahead?.run === run ? this.#ahead : this.#begin(run);
    this.#draw(next, this.#source.columns);
    this.#now = next;
    this.#ahead = undefined;
  }

  #drawAhead(run: number): void {
    const { columns } = this.#source;
    // One column is drawn when it is due: that takes as long as one step ahead.
    if (columns === 1 || run * DAY_RUN >= this.periods.leaves || this.#ahead?.drawn === columns) return;
    try {
      this.#ahead ??= this.#begin(run);
      this.#draw(this.#ahead, this.#ahead.drawn + Math.ceil(columns / (DAY_RUN / 2)));
    } catch {
      // What fails ahead is drawn when it is due.
    }
  }

  #begin(run: number): Run {
    const leaves = Math.min(DAY_RUN, this.periods.leaves - run * DAY_RUN);
    return { run, rows: new Packed(leaves * this.#source.columns), drawn: 0 };
  }

  /** Draws columns of a run up to `end`. */
  #draw(ahead: Run, end: number): void {
    const { core, columns, scale } = this.#source;
    const { run, rows } = ahead;
    const drawn = new Float64Array(rows.length / columns);
    const day = dayIndex(this.periods.day.start);
    for (; ahead.drawn < Math.min(end, columns); ahead.drawn++) {
      const stream = subStream(this.#key, Stage.dayLeaves, ahead.drawn * MOST_COLUMNS + run, day);
      core.laplace(stream, scale, drawn);
      rows.reserve(drawn);
      for (let i = 0; i < drawn.length; i++) rows.set(i * columns + ahead.drawn, drawn[i]!);
    }
  }
}

/** First leaf of each family of a shape, and the end of the last. */
const families = new WeakMap<DayShape, Uint32Array>();

/** The family that a leaf is in: its parent's place among the parents of leaves. */
export function familyOf(shape: DayShape, leaf: number): number {
  let starts = families.get(shape);
  if (starts === undefined) {
    const count = shape.sizes[1] ?? 0;
    starts = new Uint32Array(count + 1);
    for (let i = 0; i < count; i++) starts[i + 1] = starts[i]! + shape.fanouts[i]!;
    families.set(shape, starts);
  }
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
  core: Core,
  key: Uint32Array,
  purpose: number,
  day: number,
  scale: Scale,
  count: number,
): number {
  const noise = new Float64Array(1);
  core.laplace(subStream(key, Stage.dayCounts, purpose, dayIndex(day)), scale, noise);
  return count + noise[0]!;
}

/** Variance v of discrete Laplace noise of scale t, and its fourth cumulant over 3: v² + v/3. */
export function discreteNoise(t: number): { readonly variance: number; readonly fourth: number } {
  const variance = laplaceVariance(t);
  return { variance, fourth: variance ** 2 + variance / 3 };
}
