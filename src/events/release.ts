/**
 * The release of one key of a metric: columns of sums over days. An event goes into its open period; when the period has
 * ended, its true sums meet the day's noise and become estimates, and the true sums are wiped.
 */
import type { Decoder, Encoder } from "../snapshot/codec.js";
import type { Scale } from "../core/tables/scale.js";
import type { DayPeriods } from "./days/dayPeriods.js";
import { type NoiseSource, noisyDayCount } from "./days/dayNoise.js";
import { History, type HistoryShape, type KeptDay, type Measured } from "./days/history.js";
import { OpenPeriods, type OpenShape } from "./days/openPeriods.js";
import { RunningDay } from "./days/runningDay.js";

/** Shape that the releases of all keys of a metric have in common. */
export interface ReleaseShape extends HistoryShape, NoiseSource, OpenShape {
  /** Scale of the noisy count of events above θ; undefined if they are not counted. */
  readonly clippedScale: Scale | undefined;
}

/** A noisy number of a day. */
export interface DayCount {
  readonly day: number;
  readonly end: number;
  readonly count: number;
}

/** Published numbers of a key: all that answers are made from. */
export type Published = Pick<Release, "measure" | "clipped">;

const meets =
  (from: number, to: number) =>
  ({ day, end }: DayCount): boolean =>
    end > from && day < to;

const CLIPPED = 0;
const NO_COUNTS: readonly DayCount[] = [];

export class Release {
  // Parameters
  readonly #shape: ReleaseShape;
  /** 8 secret words for all noise. */
  readonly #key: Uint32Array;
  // State
  readonly #open: OpenPeriods;
  readonly #history: History;
  /** Events above θ by the start of their day, before noise; undefined if they are not counted. */
  readonly #above: Map<number, number> | undefined;
  #clipped: readonly DayCount[] = NO_COUNTS;

  constructor(shape: ReleaseShape, key: Uint32Array) {
    this.#shape = shape;
    this.#key = key;
    this.#open = new OpenPeriods(shape);
    this.#history = new History(shape);
    this.#above = shape.clippedScale === undefined ? undefined : new Map<number, number>();
  }

  get oldest(): number | undefined {
    return this.#history.oldest;
  }

  /** Start of the last period that has events; −Infinity if none has. */
  get latest(): number {
    return this.#open.latest;
  }

  /** Makes room for events of a period: `add` then cannot fail. */
  prepare(start: number): void {
    this.#open.prepare(start);
  }

  add(start: number, column: number, amount: number): void {
    this.#open.add(start, column, amount);
  }

  /** Counts an event above θ, if such events are counted. */
  addClipped(day: number): void {
    this.#above?.set(day, (this.#above.get(day) ?? 0) + 1);
  }

  /** Whether the noise of the running day is drawn. */
  get hasNoise(): boolean {
    return this.#history.running?.isDrawn ?? true;
  }

  /** Draws the noise of the running day if it is not drawn yet. */
  draw(): void {
    this.#history.running?.draw(this.#shape, this.#key);
  }

  /** Begins a day: its noise is drawn when its first period ends, or by `draw`. */
  beginDay(periods: DayPeriods, prepared = this.prepareDay(periods)): void {
    this.#history.begin(prepared);
  }

  /** All that a day needs, allocated: `beginDay` with it cannot fail. */
  prepareDay(periods: DayPeriods): RunningDay {
    return new RunningDay(periods, this.#shape.columns);
  }

  /** The noisy integers of a leaf of the running day. Changes nothing that is published. */
  estimate(periods: DayPeriods, leaf: number): Float64Array {
    this.draw();
    const sums = this.#open.sums(periods.startOf(leaf));
    return this.#history.running!.estimate(this.#shape, this.#key, leaf, sums);
  }

  /** Publishes what `estimate` gave, or nothing for a period that was missed, and wipes the true sums. Cannot fail. */
  close(periods: DayPeriods, leaf: number, noisy: Float64Array | undefined): void {
    if (noisy !== undefined) this.#history.running!.put(leaf, noisy);
    this.#open.close(periods.startOf(leaf));
  }

  /** The noisy number of events above θ of a day that has ended; undefined if they are not counted. */
  clippedOf(periods: DayPeriods): number | undefined {
    const { core, clippedScale } = this.#shape;
    if (clippedScale === undefined) return undefined;
    const { start } = periods.day;
    return noisyDayCount(core, this.#key, CLIPPED, start, clippedScale, this.#above!.get(start) ?? 0);
  }

  /** Room for the numbers of a day that ends: `endDay` with it cannot fail. */
  prepareEnd(): KeptDay {
    return this.#history.prepareEnd();
  }

  /** Ends a day. Cannot fail. @param clipped what `clippedOf` gave */
  endDay({ day }: DayPeriods, clipped: number | undefined, prepared = this.prepareEnd()): void {
    this.#above?.delete(day.start);
    if (clipped !== undefined) {
      const all = [...this.#clipped, { day: day.start, end: day.end, count: clipped }];
      this.#clipped = all.filter(({ end }) => end > day.end - this.#shape.keep.days);
    }
    this.#history.end(prepared);
    this.#history.compact(day.end);
  }

  /** Wipes what was taken for days before one: nobody listened to them to their end. */
  forgetBefore(day: number): void {
    this.#open.forgetBefore(day);
    for (const start of this.#above?.keys() ?? []) if (start < day) this.#above!.delete(start);
    this.#history.dropEmpty();
  }

  /** Gives the days that ended by a time to a caller who keeps them elsewhere. */
  takeBefore(time: number): { readonly days: readonly KeptDay[]; readonly clipped: readonly DayCount[] } {
    const clipped = this.#clipped.filter(({ end }) => end <= time);
    this.#clipped = this.#clipped.filter(({ end }) => end > time);
    return { days: this.#history.takeBefore(time), clipped };
  }

  /** Published numbers of days that are kept elsewhere, followed by those that are here. */
  after(days: readonly KeptDay[], clipped: readonly DayCount[]): Published {
    const history = this.#history.after(days);
    return {
      measure: (from, to) => history.measure(from, to),
      clipped: (from, to) => [...clipped.filter(meets(from, to)), ...this.clipped(from, to)],
    };
  }

  measure(from: number, to: number): Measured {
    return this.#history.measure(from, to);
  }

  /** Noisy numbers of events above θ of the days in a range. */
  clipped(from: number, to: number): readonly DayCount[] {
    return this.#clipped.filter(meets(from, to));
  }

  /** @param starts of the periods that the clock lets in; `days` the days that they lie in */
  save(writer: Encoder, starts: readonly number[], days: readonly number[]): void {
    this.#open.save(writer, starts);
    if (this.#above !== undefined) {
      for (const day of days) writer.double(this.#above.get(day) ?? 0);
      writer.count(this.#clipped.length);
      for (const { day, end, count } of this.#clipped)
        for (const number of [day, end, count]) writer.double(number);
    }
    this.#history.save(writer);
  }

  load(reader: Decoder, days: readonly number[]): void {
    this.#open.load(reader);
    if (this.#above !== undefined) {
      for (const day of days) {
        const count = reader.double();
        if (count > 0) this.#above.set(day, count);
      }
      this.#clipped = Array.from({ length: reader.count() }, () => ({
        day: reader.double(),
        end: reader.double(),
        count: reader.double(),
      }));
    }
    this.#history.load(reader);
  }
}
