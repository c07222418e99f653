/**
 * What one key has published of the running day: per finest period and column an integer that carries noise, and per family
 * of periods the correction of least squares. An estimate is their sum, which is exact.
 */
import type { Decoder, Encoder } from "../stream/codec.js";
import { DayPeriods } from "./calendar.js";
import { familyOf } from "./dayNoise.js";
import type { KeptDay } from "./history.js";
import { Packed } from "./packed.js";

export class RunningDay {
  // Parameters
  readonly periods: DayPeriods;
  readonly #columns: number;
  // State
  readonly #noisy: Packed;
  /** Per family of leaves, every column; empty for one level, and until the first number. */
  #corrections: readonly number[] = [];
  /** Leaves up to this one may have numbers. */
  #end = 0;

  constructor(periods: DayPeriods, columns: number) {
    this.periods = periods;
    this.#columns = columns;
    this.#noisy = new Packed(periods.leaves * columns);
  }

  /** Whether no number is published. */
  get isEmpty(): boolean {
    return this.#end === 0;
  }

  /** Makes room for the noisy integers of a leaf: `put` then cannot fail. */
  reserve(noisy: Float64Array): void {
    this.#noisy.reserve(noisy);
  }

  /** Publishes the noisy integers of a leaf. @param corrections of the day's noise */
  put(leaf: number, noisy: Float64Array, corrections: readonly number[]): void {
    for (let i = 0; i < noisy.length; i++) this.#noisy.set(leaf * this.#columns + i, noisy[i]!);
    this.#corrections = corrections;
    this.#end = Math.max(this.#end, leaf + 1);
  }

  /** Writes the estimates of a leaf, every column; NaN if it has none. */
  read(leaf: number, out: Float64Array, at = 0): void {
    const columns = this.#columns;
    const family = familyOf(this.periods.shape, leaf) * columns;
    for (let i = 0; i < columns; i++)
      out[at + i] = this.#noisy.at(leaf * columns + i) + (this.#corrections[family + i] ?? 0);
  }

  /** Writes all estimates into a day that is kept. Cannot fail. */
  copyTo({ values }: KeptDay): void {
    for (let leaf = 0; leaf < this.periods.leaves; leaf++) this.read(leaf, values, leaf * this.#columns);
  }

  /** Periods that are still to come are left out. */
  save(writer: Encoder): void {
    const { day, start } = this.periods;
    for (const time of [day.start, day.end, start]) writer.double(time);
    writer.count(this.#corrections.length);
    for (const correction of this.#corrections) writer.double(correction);
    writer.count(this.#end);
    for (let i = 0; i < this.#end * this.#columns; i++) writer.double(this.#noisy.at(i));
  }

  static load(reader: Decoder, levels: readonly number[], columns: number): RunningDay {
    const day = { start: reader.double(), end: reader.double() };
    const running = new RunningDay(new DayPeriods(day, levels, reader.double()), columns);
    const corrections = Array.from({ length: reader.count() }, () => reader.double());
    const end = reader.count();
    for (let leaf = 0; leaf < end; leaf++) {
      const noisy = Float64Array.from({ length: columns }, () => reader.double());
      if (noisy.some(Number.isNaN)) continue; // nobody listened to it
      running.reserve(noisy);
      running.put(leaf, noisy, corrections);
    }
    running.#corrections = corrections;
    running.#end = end;
    return running;
  }
}
