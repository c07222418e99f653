/**
 * Days of a time zone, by `Intl` alone, and how their periods nest. A day begins with the first instant of its local date; it
 * has 23, 24 or 25 hours, or a half more or less. Periods count from local midnight in elapsed time, so the last one of a day
 * may be short. All of it is public and follows from the clock and the options, never from an event.
 */
import { shown } from "../../core/checks.js";
import { MAX_DAY_LEAVES } from "../../core/layout.js";
import { durationText, parseDuration, parseTime, type Time } from "./duration.js";

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** A day of a zone, in milliseconds since 1970: [start, end). */
export interface Day {
  readonly start: number;
  readonly end: number;
}

/** Dates beyond this many milliseconds from 1970 have no day: the years −2490 to 6430. */
export const FARTHEST_DAY = 2 ** 47;
/** Offsets of zones from UTC are below this. */
const FARTHEST_OFFSET = 16 * HOUR;
/** More days than any journal spans. */
const MOST_FIXED = 64;
/** Boundaries are searched in steps of this length: the shortest time between two changes of a zone's date. */
const STEP = 15 * MINUTE;

const MOST_STARTS = 1024;
const MOST_ZONES = 64;

/** A zone of the platform. */
interface Zone {
  readonly format: Intl.DateTimeFormat;
  /** Starts of dates that were asked for. */
  readonly starts: Map<number, number>;
}

/** Zones that calendars have asked for: making a format takes longer than all other work on options. */
const zones = new Map<string, Zone>();

function zoneOf(name: string): Zone {
  let zone = zones.get(name);
  if (zone !== undefined) return zone;
  try {
    const format = new Intl.DateTimeFormat("en-US", { timeZone: name, hourCycle: "h23", ...FIELDS });
    zone = { format, starts: new Map<number, number>() };
  } catch {
    throw new RangeError(
      `zone: expected the name of a time zone such as "Europe/Berlin" or "UTC", got ${JSON.stringify(name.slice(0, 60))}; this platform does not know it`,
    );
  }
  if (zones.size >= MOST_ZONES) zones.clear();
  zones.set(name, zone);
  return zone;
}

export class Calendar {
  readonly zone: string;
  readonly #zone: Zone | undefined;
  readonly #days: ((time: number) => Day) | undefined;
  /** The day that was asked for last: most calls are about one day. */
  #last: Day = { start: 0, end: 0 };
  /** Days whose boundaries are fixed, newest last: a new time-zone database does not move them. */
  readonly #fixed: Day[] = [];

  /**
   * @param zone an IANA name such as "Europe/Berlin", or "UTC"
   * @param days the day that a time lies in, if it is not to be found by the platform's time-zone database
   */
  constructor(zone: unknown, days?: (time: number) => Day) {
    if (typeof zone !== "string")
      throw new TypeError(
        `zone: expected the name of a time zone such as "Europe/Berlin", got ${shown(zone)}`,
      );
    this.zone = zone;
    this.#days = days;
    if (zone === "UTC") return;
    this.#zone = zoneOf(zone);
  }

  /** The day that a time lies in. */
  dayAt(time: number): Day {
    if (this.#days !== undefined) return this.#days(time);
    if (time >= this.#last.start && time < this.#last.end) return this.#last;
    for (let i = this.#fixed.length - 1; i >= 0; i--) {
      const day = this.#fixed[i]!;
      if (time >= day.start && time < day.end) return (this.#last = day);
    }
    if (!(Math.abs(time) < FARTHEST_DAY))
      throw new RangeError("time: expected one between the years −2490 and 6430; check the clock");
    // The local date just before a boundary may be later than just after it, if clocks go back across midnight: the day
    // is that of the latest date so far.
    let date = this.#localDate(time);
    if (time >= this.startOf(date + 1)) date++;
    while (time < this.startOf(date)) date--;
    let next = date + 1;
    while (this.startOf(next) === this.startOf(date)) next++; // a zone may skip a date
    return (this.#last = { start: this.startOf(date), end: this.startOf(next) });
  }

  /** Fixes the boundaries of a day that has begun. */
  fix(day: Day): void {
    if (this.#fixed.some(({ start }) => start === day.start)) return;
    this.#fixed.push(day);
    if (this.#fixed.length > MOST_FIXED) this.#fixed.shift();
    this.#last = { start: 0, end: 0 };
  }

  /** The first instant of a local date or a later one. @param date days since 1970-01-01 */
  startOf(date: number): number {
    if (this.#zone === undefined) return date * DAY;
    const { starts } = this.#zone;
    let start = starts.get(date);
    if (start === undefined) {
      start = this.#findStart(date);
      if (starts.size >= MOST_STARTS) starts.clear();
      starts.set(date, start);
    }
    return start;
  }

  #findStart(date: number): number {
    const midnight = date * DAY;
    const offset = this.#offsetAt(midnight - this.#offsetAt(midnight));
    const guess = midnight - offset;
    // No change of the clocks within hours: midnight is where it should be.
    if ([guess - 4 * HOUR, guess - 1, guess].every((time) => this.#offsetAt(time) === offset)) return guess;
    let before = midnight - FARTHEST_OFFSET; // by every offset an earlier date
    let after = before + STEP;
    for (; this.#localDate(after) < date; after += STEP) before = after;
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (this.#localDate(middle) < date) before = middle;
      else after = middle;
    }
    return after;
  }

  /** The local date of a day: days since 1970-01-01. */
  dateOf(day: Day): number {
    let date = this.#localDate(day.start);
    while (this.startOf(date + 1) === day.start) date++;
    return date;
  }

  /** The start of the week (from Monday) or month that a day lies in, and of the next one. */
  spanOf(unit: "week" | "month", day: Day): Day {
    const date = this.dateOf(day);
    if (unit === "week") {
      const monday = date - ((((date + 3) % 7) + 7) % 7); // 1970-01-01 was a Thursday
      return { start: this.startOf(monday), end: this.startOf(monday + 7) };
    }
    const at = new Date(date * DAY);
    const first = (months: number): number =>
      Math.round(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months, 1) / DAY);
    return { start: this.startOf(first(0)), end: this.startOf(first(1)) };
  }

  #localDate(time: number): number {
    return Math.floor((time + this.#offsetAt(time)) / DAY);
  }

  /** Local time less UTC. */
  #offsetAt(time: number): number {
    if (this.#zone === undefined) return 0;
    const fields: Record<string, number> = {};
    let era = 1;
    for (const { type, value } of this.#zone.format.formatToParts(time)) {
      if (type === "era") era = value.startsWith("B") ? -1 : 1;
      else fields[type] = Number(value);
    }
    const year = era === 1 ? fields["year"]! : 1 - fields["year"]!;
    const local = new Date(0);
    local.setUTCFullYear(year, fields["month"]! - 1, fields["day"]);
    local.setUTCHours(fields["hour"]!, fields["minute"], fields["second"]);
    return local.getTime() - Math.floor(time / SECOND) * SECOND;
  }
}

/** The day of a zone that a time lies in, by the platform's time-zone database. */
export const dayAt = (time: Time, zone = "UTC"): Day => new Calendar(zone).dayAt(parseTime("time", time));

const FIELDS = {
  era: "short",
  year: "numeric",
  month: "numeric",
  day: "numeric",
  hour: "numeric",
  minute: "numeric",
  second: "numeric",
} as const;

/**
 * Checks the periods that a release has numbers for, and fills in the default.
 * @returns milliseconds, finest first; the last one may be a day, whatever its length
 */
export function resolveLevels(every: unknown, levels: unknown): readonly number[] {
  const finest = parseDuration("every", every);
  if (!dividesOne(finest))
    throw new RangeError(
      `every: expected a length that divides a second, a minute or an hour, or "1h" or "1d", got ${durationText(finest)}`,
    );
  const asked = levels === undefined ? defaultLevels(finest) : readLevels(levels, finest);
  if (Math.ceil((25 * HOUR) / finest) > MAX_DAY_LEAVES)
    throw new RangeError(`every: expected at least 100 ms, got ${durationText(finest)}`);
  return asked;
}

const dividesOne = (length: number): boolean =>
  length === DAY || [SECOND, MINUTE, HOUR].some((unit) => unit % length === 0);

const defaultLevels = (finest: number): number[] => [
  finest,
  ...[SECOND, MINUTE, HOUR, DAY].filter((length) => length > finest),
];

function readLevels(levels: unknown, finest: number): number[] {
  if (!Array.isArray(levels) || levels.length === 0)
    throw new TypeError(
      `levels: expected a list of periods such as ["1h", "1d"], got ${Array.isArray(levels) ? "none" : shown(levels)}`,
    );
  const lengths = Array.from(levels as unknown[], (level) => parseDuration("levels", level));
  if (lengths[0] !== finest)
    throw new RangeError(
      `levels: expected the first to be every = ${durationText(finest)}, got ${durationText(lengths[0]!)}`,
    );
  lengths.forEach((length, i) => {
    const before = lengths[i - 1];
    if (before !== undefined && (length <= before || length % before !== 0))
      throw new RangeError(
        `levels: expected periods of which each divides the next, got ${durationText(before)} before ${durationText(length)}`,
      );
    if (length > DAY || DAY % length !== 0)
      throw new RangeError(`levels: expected periods that divide a day, got ${durationText(length)}`);
  });
  return lengths;
}
