/**
 * The running day of one key. A place per finest period and column holds the noise N of the period from the time it is drawn,
 * and the number T + N once it is published: noise and numbers take one array, of a byte each while all are small. It is a
 * ring of one or two runs of noise; numbers that have to make room are kept in fewer bits (codedRows.ts). An estimate is the
 * number and the correction of its family of periods, and their sum is exact.
 */
import { DAY_RUN } from "../../core/layout.js";
import { SmallArrays } from "../../core/smallArrays.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import { DayPeriods } from "./dayPeriods.js";
import { chunkOf, CodedRows } from "./codedRows.js";
import { dayCorrections, drawLeaves, familyOf, type NoiseSource } from "./dayNoise.js";
import type { KeptDay } from "./history.js";
import { Packed } from "./packed.js";

const NOT_DRAWN: readonly number[] = [];
/** Corrections end with their day. */
const small = new SmallArrays();

export class RunningDay {
  // Parameters
  readonly periods: DayPeriods;
  readonly #columns: number;
  // State
  /** Numbers of the leaves up to the ring; undefined until there are any. */
  #coded: CodedRows | undefined;
  /** Per leaf after them, every column: a ring. Noise is read from the end on, numbers before it. */
  readonly #noisy = new Packed();
  /** Per family of leaves, every column; none for one level, and until they are drawn. */
  #corrections: ArrayLike<number> = NOT_DRAWN;
  /** Leaves before this one have a number, or were missed; none from it on has one. */
  #end = 0;
  /** The run of leaves whose noise is drawn, from the leaf on that was asked for first; −1 before any. */
  #run = -1;
  /** Columns of the next run that are drawn, a few with every leaf, so that no leaf waits for a whole run. */
  #ahead = 0;

  constructor(periods: DayPeriods, columns: number) {
    this.periods = periods;
    this.#columns = columns;
  }

  /** Whether no number is published. */
  get isEmpty(): boolean {
    return this.#end === 0;
  }

  /** Whether the corrections are drawn. */
  get isDrawn(): boolean {
    return this.#corrections.length > 0 || this.periods.shape.sizes.length === 1;
  }

  /** Draws the day's corrections if they are not drawn yet. @param key 8 secret words */
  draw(source: NoiseSource, key: Uint32Array): void {
    if (!this.isDrawn) this.#corrections = narrowed(dayCorrections(source, key, this.periods));
  }

  /**
   * T + N of every column for a leaf, from its true sums of integers, and room for them. Publishes nothing. Leaves are asked
   * for in order; one may be left out.
   * @param key 8 secret words
   */
  estimate(source: NoiseSource, key: Uint32Array, leaf: number, sums: ArrayLike<number>): Float64Array {
    const columns = this.#columns;
    // The place of a published leaf holds its number, not its noise.
    if (leaf < Math.max(this.#end, this.#first))
      throw new Error(`leaf: expected one that has no number yet, got ${leaf}`);
    this.#code(leaf);
    const run = Math.floor(leaf / DAY_RUN);
    if (run !== this.#run) {
      this.#drawRun(source, key, run, leaf, run === this.#run + 1 ? this.#ahead : 0, columns);
      this.#run = run;
      this.#ahead = 0;
    }
    const out = new Float64Array(columns);
    const place = this.#placeOf(leaf);
    for (let i = 0; i < columns; i++) out[i] = sums[i]! + this.#noisy.at(place + i);
    this.#noisy.reserve(out, 0);
    this.#drawAhead(source, key, run + 1);
    return out;
  }

  /** The first leaf that is in the ring. */
  get #first(): number {
    return this.#coded?.rows ?? 0;
  }

  /** Leaves that the ring has room for: two runs of noise if one of them is drawn ahead. */
  get #room(): number {
    return Math.min(this.periods.leaves, this.#columns === 1 ? DAY_RUN : 2 * DAY_RUN);
  }

  /** Where the columns of a leaf begin in the ring. */
  #placeOf(leaf: number): number {
    return (leaf % this.#room) * this.#columns;
  }

  /** Moves numbers out of the ring, in whole chunks before a leaf: all leaves before it have a number, or were missed. */
  #code(leaf: number): void {
    const columns = this.#columns;
    const chunk = chunkOf(columns);
    if (leaf - this.#first < chunk || this.#room === this.periods.leaves) return; // the ring holds a short day
    this.#coded ??= new CodedRows(columns);
    const values = new Float64Array(chunk * columns);
    while (leaf - this.#first >= chunk) {
      const first = this.#first;
      for (let i = 0; i < chunk; i++) this.#number(first + i, values, i * columns);
      this.#coded.append(values);
    }
  }

  /** Writes T + N of a leaf, every column; NaN if it has none. */
  #number(leaf: number, out: Float64Array, at: number): void {
    if (leaf >= this.#end) out.fill(NaN, at, at + this.#columns);
    else if (leaf < this.#first) this.#coded!.read(leaf, out, at);
    else {
      const place = this.#placeOf(leaf);
      for (let i = 0; i < this.#columns; i++) out[at + i] = this.#noisy.at(place + i);
    }
  }

  #drawAhead(source: NoiseSource, key: Uint32Array, run: number): void {
    const columns = this.#columns;
    // One column is drawn when it is due: that takes as long as one step ahead.
    if (columns === 1 || run * DAY_RUN >= this.periods.leaves || this.#ahead === columns) return;
    const end = Math.min(columns, this.#ahead + Math.ceil(columns / (DAY_RUN / 2)));
    try {
      this.#drawRun(source, key, run, run * DAY_RUN, this.#ahead, end);
      this.#ahead = end;
    } catch {
      // What fails ahead is drawn when it is due.
    }
  }

  /** Draws columns [from, to) of a run, and keeps the noise of its leaves from `leaf` on. */
  #drawRun(source: NoiseSource, key: Uint32Array, run: number, leaf: number, from: number, to: number): void {
    const columns = this.#columns;
    const first = run * DAY_RUN;
    const last = Math.min(first + DAY_RUN, this.periods.leaves);
    const noise = new Float64Array(last - first);
    for (let column = from; column < to; column++) {
      drawLeaves(source, key, this.periods, column, run, noise);
      this.#noisy.reserve(noise, this.#room * columns);
      for (let i = leaf; i < last; i++) this.#noisy.set(this.#placeOf(i) + column, noise[i - first]!);
    }
  }

  /** Publishes what `estimate` gave for a leaf. Leaves that were left out before it have no number. Cannot fail. */
  put(leaf: number, noisy: Float64Array): void {
    const columns = this.#columns;
    for (let missed = Math.max(this.#end, this.#first); missed < leaf; missed++)
      for (let i = 0; i < columns; i++) this.#noisy.clear(this.#placeOf(missed) + i);
    const place = this.#placeOf(leaf);
    for (let i = 0; i < columns; i++) this.#noisy.set(place + i, noisy[i]!);
    this.#end = leaf + 1;
  }

  /** Writes the estimates of a leaf, every column; NaN if it has none. */
  read(leaf: number, out: Float64Array, at = 0): void {
    const columns = this.#columns;
    this.#number(leaf, out, at);
    const family = familyOf(this.periods.shape, leaf) * columns;
    for (let i = 0; i < columns; i++) out[at + i]! += this.#corrections[family + i] ?? 0;
  }

  /** Writes all estimates into a day that is kept. Cannot fail. */
  copyTo({ values }: KeptDay): void {
    for (let leaf = 0; leaf < this.periods.leaves; leaf++) this.read(leaf, values, leaf * this.#columns);
  }

  /** Writes what is published: periods that are still to come, and their noise, are left out. */
  save(writer: Encoder): void {
    const { day, start } = this.periods;
    for (const time of [day.start, day.end, start]) writer.double(time);
    const corrections = this.isEmpty ? NOT_DRAWN : this.#corrections;
    writer.count(corrections.length);
    for (let i = 0; i < corrections.length; i++) writer.double(corrections[i]!);
    writer.count(this.#end);
    const row = new Float64Array(this.#columns);
    for (let leaf = 0; leaf < this.#end; leaf++) {
      this.#number(leaf, row, 0);
      for (const number of row) writer.double(number);
    }
  }

  static load(reader: Decoder, levels: readonly number[], columns: number): RunningDay {
    const day = { start: reader.double(), end: reader.double() };
    const running = new RunningDay(new DayPeriods(day, levels, reader.double()), columns);
    running.#corrections = narrowed(Array.from({ length: reader.count() }, () => reader.double()));
    const end = reader.count();
    for (let leaf = 0; leaf < end; leaf++) {
      const noisy = Float64Array.from({ length: columns }, () => reader.double());
      if (noisy.some(Number.isNaN)) continue; // nobody listened to it
      running.#code(leaf);
      running.#noisy.reserve(noisy, running.#room * columns);
      running.put(leaf, noisy);
    }
    return running;
  }
}

/**
 * Numbers in half the memory, if it holds them exactly: corrections are multiples of 2⁻¹⁶ at least, so a single holds
 * those below 2⁸. A list of few stays as it is, since a typed array takes 84 bytes more than its numbers.
 */
function narrowed(corrections: readonly number[]): ArrayLike<number> {
  if (corrections.length < 16) return corrections;
  const singles = small.zeros(Float32Array, corrections.length);
  singles.set(corrections);
  return singles.every((single, i) => single === corrections[i]) ? singles : corrections;
}
