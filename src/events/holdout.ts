/**
 * Events that choose θ and are never published: those up to a midnight at least the hold-out's length after the start, and
 * then of a day more at a time while a noisy count says that there are too few. Of a finished file all events choose.
 */
import type { NoiseCore } from "../core/core.js";
import type { Decoder, Encoder } from "../snapshot/codec.js";
import { DAY } from "./days/calendar.js";
import { DayPeriods } from "./days/dayPeriods.js";
import { spreadOf } from "./days/history.js";
import { type EventSettings, eventsPerPerson } from "./eventSettings.js";
import { SHARES } from "./shares.js";
import { ThresholdTally } from "./thresholdTally.js";

export class Holdout {
  // Parameters
  readonly #min: number;
  // State
  readonly #tally: ThresholdTally;
  /** Events from here on take part. */
  readonly from = -Infinity;
  /** The midnight at which θ is chosen. */
  until: number;

  /** @param began when the metric began */
  constructor(settings: EventSettings, began: number) {
    const { epsilon, grid, finished, schedule } = settings;
    this.#tally = new ThresholdTally(
      epsilon,
      divisorOfChoice(settings),
      grid!.max - grid!.min,
      grid!.resolution,
      errorOfChoice(settings),
    );
    this.#min = grid!.min;
    this.until = finished ? Infinity : schedule.calendar.dayAt(began + grid!.holdout - 1).end;
  }

  add(value: number): void {
    this.#tally.add(value - this.#min);
  }

  /**
   * Chooses Θ: θ − min, in grid units. If there are too few events, returns what goes on for a day instead. Changes nothing: the next
   * call draws the same.
   */
  choose(core: NoiseCore, key: Uint32Array): number | ((until: number) => void) {
    const { noisy, enough } = this.#tally.countDay(core, key);
    if (enough) return this.#tally.choose(core, key, noisy);
    return (until) => {
      this.#tally.endDay(noisy);
      this.until = until;
    };
  }

  /** Overwrites the true counts. */
  wipe(): void {
    this.#tally.wipe();
  }

  save(writer: Encoder): void {
    this.#tally.save(writer);
  }

  load(reader: Decoder): void {
    this.#tally.load(reader);
  }
}

/** ε over this is what one event has for the choice of θ: all of it in a hold-out, a share in a finished file. */
export const divisorOfChoice = (settings: EventSettings): number =>
  (settings.finished ? SHARES / settings.shares.threshold : 1) * eventsPerPerson(settings);

/** The standard error of a whole day in units of θ/ε, with the ε of the choice. */
const errorOfChoice = (settings: EventSettings): number =>
  dayError(settings) * (settings.finished ? settings.shares.threshold / settings.shares.release : 1);

/** The standard error of a whole day of 24 hours, in units of θ/ε. */
export function dayError({ schedule }: EventSettings): number {
  const { shape } = new DayPeriods({ start: 0, end: DAY }, schedule.levels);
  const { variance } = spreadOf(shape).of(0, shape.sizes[0]!);
  return schedule.levels.length * Math.sqrt(2 * variance);
}
