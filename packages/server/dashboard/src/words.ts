/** Numbers, times and margins as people read them. */
import { amount } from "../../../../site/src/look/format.js";
import type { Answer, Estimate, MetricInfo, Series } from "./api.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: MINUTE, h: HOUR, d: DAY };

export const RANGES = [
  ["15 min", 15 * MINUTE],
  ["1 h", HOUR],
  ["24 h", DAY],
  ["7 d", 7 * DAY],
  ["30 d", 30 * DAY],
] as const;

export const QUANTILES = [0.5, 0.9, 0.95, 0.99] as const;

/** Milliseconds of "1m". */
export function lengthOf(duration: string): number {
  const [, digits, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(duration)!;
  return Number(digits) * UNITS[unit!]!;
}

/** Whether numbers of a metric fill a range. */
export const fits = (range: number, { every }: MetricInfo): boolean =>
  every !== null && range % lengthOf(every) === 0;

export const percentile = (p: number): string => `p${Number((100 * p).toFixed(3))}`;

/** What a value counts: "requests", "ms", "EUR". */
export const unitOf = ({ type, unit, name }: MetricInfo): string =>
  type === "count" ? (unit === "" ? name : unit) : unit;

/** Nothing that is measured is below 0: where noise says so, 0 is shown. */
export const withUnit = (value: number, metric: MetricInfo): string =>
  `${amount(Math.max(0, value))}${unitOf(metric) === "" ? "" : `\u00a0${unitOf(metric)}`}`;

/** "between 120 and 310 ms"; an end that noise hides is told. */
export function between({ low, high }: Estimate, metric: MetricInfo): string {
  if (low === null && high === null) return "too few events to tell";
  if (low === null) return `below ${withUnit(high!, metric)}`;
  if (high === null) return `above ${withUnit(low, metric)}`;
  return `between ${amount(Math.max(0, low))} and ${withUnit(high, metric)}`;
}

/** Times in the zone of the service. */
export class ZoneTimes {
  readonly zone: string;
  readonly #clock: Intl.DateTimeFormat;
  readonly #date: Intl.DateTimeFormat;
  readonly #both: Intl.DateTimeFormat;

  constructor(zone: string) {
    this.zone = zone;
    const time = { timeZone: zone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
    const date = { timeZone: zone, day: "numeric", month: "short" } as const;
    this.#clock = new Intl.DateTimeFormat("en-GB", time);
    this.#date = new Intl.DateTimeFormat("en-GB", date);
    this.#both = new Intl.DateTimeFormat("en-GB", { ...date, ...time });
  }

  /** "14:05", or "17 Nov" at midnight. */
  readonly tick = (time: number): string => {
    const text = this.#clock.format(time);
    return text === "00:00" ? this.#date.format(time) : text;
  };

  /** "17 Nov, 14:05". */
  readonly place = (time: number): string => this.#both.format(time);

  /** "15:00", or with its day if that is another one. */
  when(time: number, now: number): string {
    return this.#date.format(time) === this.#date.format(now) ? this.#clock.format(time) : this.place(time);
  }
}

/** When there will be another number, in words. */
export const nextWords = (next: number | null, now: number, times: ZoneTimes): string =>
  next === null ? "" : `Next number at ${times.when(next, now)} (${times.zone}).`;

/** What was not counted, in words; "" if that is not known. */
export function missingWords({ limited, clipped }: Answer, { perPerson }: MetricInfo): string {
  const share = limited === undefined ? 0 : Math.round(100 * Math.max(0, limited.share));
  const limit = perPerson?.events;
  const people =
    share < 1
      ? ""
      : limit === undefined
        ? `About ${share} % of people reached their limit of a day; true numbers are higher. `
        : `About ${share} % of people had more than ${limit} ${limit === 1 ? "event" : "events"} a day; true counts are higher, and late hours are counted less than early ones. `;
  const values =
    clipped === undefined || clipped.events < 1
      ? ""
      : `About ${amount(clipped.events)} values were above the bound and count as it. `;
  return people + values;
}

/** Distances between ticks that read well. */
export const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080].map(
  (minutes) => minutes * MINUTE,
);

/**
 * What the chart shows.
 * @param gaps whether some periods have no number
 */
export const legendOf = ({ period, why }: Series, gaps: boolean): string =>
  `One number per ${period}${why === undefined ? "" : ` (${why})`}. The band holds the true number with 95 % probability.` +
  (gaps ? " Where there is no line nothing was measured, or too few events came to tell." : "");
