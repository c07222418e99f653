/**
 * Published estimates of past days, for every column, and sums over any range of time from them. Fine periods are kept for a
 * few days, hours for weeks, days for a year: a day is compacted level by level as it grows old. The running day has a shape
 * of its own, which takes an eighth of the memory or so.
 */
import { madeOnce } from "../../core/madeOnce.js";
import type { DayShape } from "../../core/dayShape.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import { addSpreads, boundSpreads, NO_SPREAD, type Spread } from "../../stream/answer/variance.js";
import { DAY, HOUR } from "./calendar.js";
import { DayPeriods } from "./dayPeriods.js";
import { DaySpread } from "../answer/daySpread.js";
import { RunningDay } from "./runningDay.js";

/** How long periods are kept, in milliseconds: of a day, of an hour and longer, and finer ones. */
export interface Keep {
  readonly days: number;
  readonly hours: number;
  readonly finer: number;
}

/** Published sums over a range of time, with their noise. */
export interface Measured {
  /** Per column, in grid units. */
  readonly sums: Float64Array;
  /** Squares and fourth powers of the coefficients of the noise: of each column, in units of a node's. */
  readonly spread: Spread;
  /** The measured part of the range; equal if there is none. */
  readonly from: number;
  readonly to: number;
  /** Whether every moment of the range is measured. */
  readonly complete: boolean;
}

/** A day that has ended. */
export interface KeptDay {
  readonly periods: DayPeriods;
  /** The finest level that is kept. */
  level: number;
  /** Per node of that level, every column; NaN if the node was not published. */
  values: Float64Array;
}

/** Shared by histories without a day: most keys of a hub have none here. Never changed. */
const NO_DAYS: KeptDay[] = [];

/** How long periods of a length are kept after their day; days are kept apart from it. */
export const keptFor = (length: number, keep: Keep): number =>
  length >= DAY ? Infinity : length >= HOUR ? keep.hours : keep.finer;

/** The nodes of a day, one level up: each parent is the sum of its children. */
export function raised({ periods, level, values }: KeptDay, columns: number): KeptDay {
  const { fanouts, sizes } = periods.shape;
  const first = sizes.slice(1, level + 1).reduce((total, n) => total + n, 0);
  const parents = sizes[level + 1]!;
  const sums = new Float64Array(parents * columns);
  for (let parent = 0, child = 0; parent < parents; parent++)
    for (const end = child + fanouts[first + parent]!; child < end; child++)
      for (let i = 0; i < columns; i++) sums[parent * columns + i]! += values[child * columns + i]!;
  return { periods, level: level + 1, values: sums };
}

/** Shape that all histories of a metric have in common. */
export interface HistoryShape {
  /** Milliseconds, finest first. */
  readonly levels: readonly number[];
  readonly columns: number;
  readonly keep: Keep;
}

export class History {
  // Parameters
  readonly #shape: HistoryShape;
  // State
  #days: KeptDay[] = NO_DAYS;
  #running: RunningDay | undefined;

  constructor(shape: HistoryShape) {
    this.#shape = shape;
  }

  /** The start of the first period that is kept; undefined before there is one. */
  get oldest(): number | undefined {
    return (this.#days[0] ?? this.#running)?.periods.start;
  }

  /** The day whose periods are published one by one; undefined between days. */
  get running(): RunningDay | undefined {
    return this.#running;
  }

  /** Begins a day. */
  begin(day: RunningDay): void {
    this.#running = day;
  }

  /** Room for the running day once it has ended: `end` then cannot fail. */
  prepareEnd(): KeptDay {
    const { periods } = this.#running!;
    const values = new Float64Array(periods.leaves * this.#shape.columns);
    if (this.#days === NO_DAYS) this.#days = [];
    return { periods, level: 0, values };
  }

  /** Ends the running day. @param kept what `prepareEnd` gave */
  end(kept: KeptDay): void {
    this.#running!.copyTo(kept);
    this.#days.push(kept);
    this.#running = undefined;
  }

  /** Drops the running day if it has published nothing. */
  dropEmpty(): void {
    if (this.#running?.isEmpty === true) this.#running = undefined;
  }

  /** Gives the days that ended by a time to a caller who keeps them elsewhere. */
  takeBefore(time: number): KeptDay[] {
    let count = 0;
    while (count < this.#days.length && this.#days[count]!.periods.day.end <= time) count++;
    return this.#days.splice(0, count);
  }

  /** These days followed by those of this history. */
  after(days: readonly KeptDay[]): History {
    const whole = new History(this.#shape);
    whole.#days = [...days, ...this.#days];
    whole.#running = this.#running;
    return whole;
  }

  /** Compacts and drops what is older than it is kept. */
  compact(now: number): void {
    const { levels, columns, keep } = this.#shape;
    while (this.#days.length > 1 && this.#days[0]!.periods.day.end <= now - keep.days) this.#days.shift();
    for (const day of this.#days) {
      const age = now - day.periods.day.end;
      while (day.level + 1 < levels.length && age >= keptFor(levels[day.level]!, keep))
        try {
          Object.assign(day, raised(day, columns));
        } catch {
          return; // out of memory: what is finer than it need be is compacted at the next midnight
        }
    }
  }

  /** Sums of all columns over the whole periods in [from, to) that are published and kept. */
  measure(from: number, to: number): Measured {
    const sums = new Float64Array(this.#shape.columns);
    let spread = NO_SPREAD;
    let [start, end, covered] = [NaN, NaN, 0];
    for (const day of this.#running === undefined ? this.#days : [...this.#days, this.#running]) {
      const { periods } = day;
      if (periods.day.end <= from || periods.start >= to) continue;
      let own: Spread | undefined;
      for (const [a, b] of this.#pieces(day, from, to, sums)) {
        const piece = spreadOf(periods.shape).of(a, b);
        own = own === undefined ? piece : boundSpreads(own, piece);
        if (Number.isNaN(start)) start = periods.startOf(a);
        end = periods.startOf(b);
        covered += end - periods.startOf(a);
      }
      if (own !== undefined) spread = addSpreads(spread, own);
    }
    if (Number.isNaN(start)) return { sums, spread, from, to: from, complete: false };
    return { sums, spread, from: start, to: end, complete: covered === to - from };
  }

  /** Runs of leaves [a, b) of a day that are measured and lie in [from, to); adds their estimates up. */
  *#pieces(
    day: KeptDay | RunningDay,
    from: number,
    to: number,
    sums: Float64Array,
  ): Generator<[number, number]> {
    const { columns } = this.#shape;
    const { periods } = day;
    const bounds = leafBounds(periods.shape)[day instanceof RunningDay ? 0 : day.level]!;
    const row = new Float64Array(columns);
    let [a, b] = [-1, -1];
    for (let node = this.#firstNode(bounds, periods, from); node + 1 < bounds.length; node++) {
      const last = bounds[node + 1]!;
      if (periods.startOf(last) > to) break;
      if (day instanceof RunningDay) day.read(node, row);
      else for (let i = 0; i < columns; i++) row[i] = day.values[node * columns + i]!;
      if (Number.isNaN(row[0]!)) continue;
      for (let i = 0; i < columns; i++) sums[i]! += row[i]!;
      if (bounds[node] !== b) {
        if (b > a) yield [a, b];
        a = bounds[node]!;
      }
      b = last;
    }
    if (b > a) yield [a, b];
  }

  /** The first node that starts at or after a time. */
  #firstNode(bounds: Uint32Array, periods: DayPeriods, from: number): number {
    const leaf = Math.ceil((from - periods.start) / this.#shape.levels[0]!);
    let [low, high] = [0, bounds.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (bounds[middle]! < leaf) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  save(writer: Encoder): void {
    writer.count(this.#days.length);
    for (const { periods, level, values } of this.#days) {
      for (const time of [periods.day.start, periods.day.end, periods.start]) writer.double(time);
      writer.count(level);
      for (const value of values) writer.double(value);
    }
    writer.count(this.#running === undefined ? 0 : 1);
    this.#running?.save(writer);
  }

  load(reader: Decoder): void {
    const { levels, columns } = this.#shape;
    this.#days = Array.from({ length: reader.count() }, () => {
      const day = { start: reader.double(), end: reader.double() };
      const periods = new DayPeriods(day, levels, reader.double());
      const level = reader.count();
      const length = periods.shape.sizes[level]! * columns;
      return { periods, level, values: Float64Array.from({ length }, () => reader.double()) };
    });
    this.#running = reader.count() === 0 ? undefined : RunningDay.load(reader, levels, columns);
  }
}

/** The noise of sums over a day of this shape. */
export const spreadOf = madeOnce((shape: DayShape) => new DaySpread(shape));

/** Per level, the first leaf of each node, and the end of the last node's leaves. */
const leafBounds = madeOnce(({ sizes, fanouts }: DayShape): readonly Uint32Array[] => {
  let own = Uint32Array.from({ length: sizes[0]! + 1 }, (_, i) => i);
  const bounds = [own];
  for (let l = 1, first = 0; l < sizes.length; first += sizes[l]!, l++) {
    const above = new Uint32Array(sizes[l]! + 1);
    for (let node = 0, child = 0; node < sizes[l]!; node++) {
      child += fanouts[first + node]!;
      above[node + 1] = own[child]!;
    }
    bounds.push((own = above));
  }
  return bounds;
});
