/**
 * What one key of a metric publishes: columns of sums over days. An event goes into its open period; when the period has
 * ended, its true sums meet the day's noise and become estimates, and the true sums are wiped.
 */
import type { Decoder, Encoder } from "../stream/codec.js";
import type { Scale } from "../core/tables/scale.js";
import type { DayPeriods } from "./calendar.js";
import { DayNoise, type NoiseSource, noisyDayCount } from "./dayNoise.js";
import { History, type Keep, type KeptDay, type Measured } from "./history.js";
import { OpenPeriods } from "./openPeriods.js";

/** What all keys of a metric have in common. */
export interface ReleaseShape {
  readonly levels: readonly number[];
  readonly keep: Keep;
  /** Sums of a period saturate here. */
  readonly cap: number;
  /** Scale of the noisy count of events above θ; undefined if they are not counted. */
  readonly clippedScale: Scale | undefined;
}

/** A noisy number of a day. */
export interface DayCount {
  readonly day: number;
  readonly end: number;
  readonly count: number;
}

/** What a key has published: all that answers are made from. */
export type Published = Pick<Release, "measure" | "clipped">;

const meets =
  (from: number, to: number) =>
  ({ day, end }: DayCount): boolean =>
    end > from && day < to;

const CLIPPED = 0;

export class Release {
  readonly #source: NoiseSource;
  readonly #shape: ReleaseShape;
  readonly #open: OpenPeriods;
  readonly #history: History;
  /** Events above θ by the start of their day, before noise. */
  readonly #above = new Map<number, number>();
  #clipped: DayCount[] = [];
  #noise: DayNoise | undefined;

  constructor(source: NoiseSource, shape: ReleaseShape) {
    this.#source = source;
    this.#shape = shape;
    this.#open = new OpenPeriods(source.columns, shape.cap);
    this.#history = new History(shape.levels, source.columns, shape.keep);
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

  /** Counts an event above θ. */
  addClipped(day: number): void {
    this.#above.set(day, (this.#above.get(day) ?? 0) + 1);
  }

  /** Whether the noise of a day is drawn. */
  hasNoise(periods: DayPeriods): boolean {
    return this.#noise?.periods.day.start === periods.day.start;
  }

  /** Draws the noise of a day if it is not drawn yet. */
  draw(periods: DayPeriods): void {
    if (!this.hasNoise(periods)) this.#noise = new DayNoise(this.#source, periods);
  }

  /** Begins a day: its noise is drawn when its first period ends, or by `draw`. */
  beginDay(periods: DayPeriods, prepared = this.prepareDay(periods)): void {
    this.#history.begin(prepared);
  }

  /** All that a day needs, allocated: `beginDay` with it cannot fail. */
  prepareDay(periods: DayPeriods): KeptDay {
    return this.#history.prepare(periods);
  }

  /** The estimates of a leaf of the running day. Changes nothing that is published. */
  estimate(periods: DayPeriods, leaf: number): Float64Array {
    this.draw(periods);
    return this.#noise!.estimate(leaf, this.#open.sums(periods.startOf(leaf)));
  }

  /** Publishes what `estimate` gave, or nothing for a period that was missed, and wipes the true sums. Cannot fail. */
  close(periods: DayPeriods, leaf: number, estimates: Float64Array | undefined): void {
    if (estimates !== undefined) this.#history.put(leaf, estimates);
    this.#open.close(periods.startOf(leaf));
  }

  /** The noisy number of events above θ of a day that has ended; undefined if they are not counted. */
  clippedOf(periods: DayPeriods): number | undefined {
    const { core, key } = this.#source;
    const { clippedScale } = this.#shape;
    if (clippedScale === undefined) return undefined;
    const { start } = periods.day;
    return noisyDayCount(core, key, CLIPPED, start, clippedScale, this.#above.get(start) ?? 0);
  }

  /** Ends a day. Cannot fail. @param clipped what `clippedOf` gave */
  endDay({ day }: DayPeriods, clipped: number | undefined): void {
    this.#noise = undefined;
    this.#above.delete(day.start);
    if (clipped !== undefined) this.#clipped.push({ day: day.start, end: day.end, count: clipped });
    this.#clipped = this.#clipped.filter(({ end }) => end > day.end - this.#shape.keep.days);
    this.#history.compact(day.end);
  }

  /** Wipes what was taken for days before one: nobody listened to them to their end. */
  forgetBefore(day: number): void {
    this.#open.forgetBefore(day);
    for (const start of this.#above.keys()) if (start < day) this.#above.delete(start);
    this.#noise = undefined;
    this.#history.dropEmpty();
  }

  /** Gives the days that ended by a time to a caller who keeps them elsewhere. */
  takeBefore(time: number): { readonly days: readonly KeptDay[]; readonly clipped: readonly DayCount[] } {
    const clipped = this.#clipped.filter(({ end }) => end <= time);
    this.#clipped = this.#clipped.filter(({ end }) => end > time);
    return { days: this.#history.takeBefore(time), clipped };
  }

  /** What is published of days that are kept elsewhere, followed by what is here. */
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
    if (this.#shape.clippedScale !== undefined) {
      for (const day of days) writer.double(this.#above.get(day) ?? 0);
      writer.count(this.#clipped.length);
      for (const { day, end, count } of this.#clipped)
        for (const number of [day, end, count]) writer.double(number);
    }
    this.#history.save(writer);
  }

  load(reader: Decoder, days: readonly number[]): void {
    this.#open.load(reader);
    if (this.#shape.clippedScale !== undefined) {
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
