/**
 * Which period is closed next, of which day, and since when periods are published. It follows from the calendar and the
 * caller's clock alone, never from an event.
 */
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import { type Day, FARTHEST_DAY } from "./calendar.js";
import { DayPeriods, periodLength } from "./dayPeriods.js";
import type { Schedule } from "../eventSettings.js";

/** More periods than this at a time: a clock that jumps by years is a mistake. */
const MOST_AT_ONCE = 2 ** 20;

/** A period of a day: [start, end). */
export interface DayPeriod {
  readonly day: Day;
  readonly start: number;
  readonly end: number;
}

/** Why an event is not counted. */
export type Dropped = "late" | "early";

const NO_PERIOD: DayPeriod = { day: { start: 0, end: 0 }, start: 0, end: 0 };

export class PeriodClock {
  // Parameters
  readonly #schedule: Schedule;
  readonly #every: number;
  // State
  /** The day of the next period, as it was fixed when it began. */
  #day: Day;
  #next: number;
  #first: number;
  /** Periods that begin by then are open to events without another look at the clock. The caller moves it, never an event. */
  #horizon: number;
  /** The open period that was found last. */
  #found = NO_PERIOD;
  #made: { readonly day: Day; readonly from: number; readonly periods: DayPeriods } | undefined;

  /** @param began periods that began before are not published */
  constructor(schedule: Schedule, began: number) {
    this.#schedule = schedule;
    this.#every = schedule.levels[0]!;
    this.#next = this.periodFrom(began);
    this.#day = schedule.calendar.dayAt(this.#next);
    this.#first = this.#next;
    this.#horizon = began + schedule.skew;
  }

  /** The running day: that of the next period to be closed. */
  get day(): Day {
    return this.#day;
  }

  /** Start of the next period to be closed: everything before it is closed. */
  get next(): number {
    return this.#next;
  }

  /** Start of the first period that is published; Infinity until it is known. */
  get first(): number {
    return this.#first;
  }

  /** The periods of the running day; undefined if none of them is published. */
  get periods(): DayPeriods | undefined {
    if (!(this.#first < this.#day.end)) return undefined;
    const { day, from } = this.#made ?? {};
    if (day !== this.#day || from !== this.#first) {
      const periods = new DayPeriods(this.#day, this.#schedule.levels, this.#first);
      this.#made = { day: this.#day, from: this.#first, periods };
    }
    return this.#made!.periods;
  }

  /** The periods of the day after the running one. A new time-zone database must not make days overlap. */
  get followingDay(): DayPeriods {
    const { end } = this.#schedule.calendar.dayAt(this.#day.end);
    return new DayPeriods({ start: this.#day.end, end }, this.#schedule.levels, this.#first);
  }

  /** Goes on to a period of a day. */
  turnTo(next: number, day: Day = this.#day): void {
    this.#next = next;
    this.#day = day;
    this.#found = NO_PERIOD; // the days after this one may have had other boundaries
  }

  /** Says that the caller's clock has reached a time. */
  hear(now: number): void {
    this.#horizon = Math.max(this.#horizon, now + this.#schedule.skew);
  }

  /** Periods are published from the next one on, or none of them until this is called again. */
  publish(known: boolean): void {
    this.#first = known ? this.#next : Infinity;
  }

  /** Returns what takes back all that happens to this clock meanwhile. */
  remember(): () => void {
    const [day, next, first] = [this.#day, this.#next, this.#first];
    return () => {
      this.turnTo(next, day);
      this.#first = first;
    };
  }

  /** The running day as it was fixed when it began; later days by the calendar. */
  dayOf(time: number): Day {
    return time < this.#day.end ? this.#day : this.#schedule.calendar.dayAt(time);
  }

  /** The open period that was found last, if a time lies in it: most events come in the order of time. */
  found(time: number): DayPeriod | undefined {
    const found = this.#found;
    return time >= found.start && time < found.end ? found : undefined;
  }

  /**
   * The open period that a time lies in, or why an event of that time is dropped. Remembers periods up to the horizon alone:
   * whether an event is early must not depend on the events before it.
   * @param now what the clock says; NaN if it was not asked
   */
  find(time: number, now: number): DayPeriod | Dropped {
    if (time < this.#next) return "late";
    if (time >= FARTHEST_DAY) return "early"; // no clock gets there: a sender wrote microseconds
    const day = this.dayOf(time);
    const start = this.#startOf(time, day);
    const isOpen = start <= this.#horizon;
    const { clock, skew } = this.#schedule;
    const isEarly = !isOpen && start > (Number.isNaN(now) ? clock() : now) + skew;
    if (isEarly) return "early";
    const period = { day, start, end: Math.min(day.end, start + periodLength(day, this.#every)) };
    if (isOpen) this.#found = period;
    return period;
  }

  /** The start of the period that a time of a day lies in. */
  #startOf(time: number, day: Day): number {
    const length = periodLength(day, this.#every);
    return day.start + Math.floor((time - day.start) / length) * length;
  }

  /** The start of the first period that begins at or after a time. */
  periodFrom(time: number): number {
    const day = this.#schedule.calendar.dayAt(time);
    const length = periodLength(day, this.#every);
    return Math.min(day.end, day.start + Math.ceil((time - day.start) / length) * length);
  }

  /** Start of the period after the one that starts at `start`. */
  after(start: number): number {
    const day = this.dayOf(start);
    return Math.min(day.end, start + periodLength(day, this.#every));
  }

  /** The end of the last period that is due at `now`: an event of it can no longer come. */
  due(now: number): number {
    const until = now - this.#schedule.lateness;
    if (until <= this.#next) return this.#next;
    if ((until - this.#next) / this.#every > MOST_AT_ONCE)
      throw new RangeError(
        `advance: expected at most 2^20 periods at a time, got ${Math.floor((until - this.#next) / this.#every)}; check the clock, or advance in steps`,
      );
    return Math.max(this.#next, this.#startOf(until, this.dayOf(until)));
  }

  save(writer: Encoder): void {
    for (const time of [this.#day.start, this.#day.end, this.#next, this.#first]) writer.double(time);
  }

  load(reader: Decoder): void {
    const day = { start: reader.double(), end: reader.double() };
    this.turnTo(reader.double(), day);
    this.#first = reader.double();
  }
}
