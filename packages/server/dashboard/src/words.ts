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
  ["1 year", 365 * DAY],
] as const;

export const QUANTILES = [0.5, 0.9, 0.95, 0.99] as const;

/** Milliseconds of "1m"; of a month 30 days. */
export function lengthOf(duration: string): number {
  if (duration === "1w") return 7 * DAY;
  if (duration === "1mo") return 30 * DAY;
  const [, digits, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(duration)!;
  return Number(digits) * UNITS[unit!]!;
}

/**
 * Whether numbers of a metric fill a range. Devices have a number a day, and one day is no chart. Of different people a
 * chart shows several numbers, and no number is about more than one period: the same people may come again.
 */
export function fits(range: number, { every, people }: MetricInfo): boolean {
  if (people !== undefined) return range >= 4 * lengthOf(every!);
  if (range > 30 * DAY) return false;
  return every === null ? range >= 7 * DAY : range % lengthOf(every) === 0;
}

export const percentile = (p: number): string => `p${Number((100 * p).toFixed(3))}`;

/** Unit of a metric's values: "requests", "ms", "EUR". */
export const unitOf = ({ type, unit, name }: MetricInfo): string =>
  type === "count" ? (unit === "" ? name : unit) : type === "people" && unit === "" ? "people" : unit;

/** Whether numbers of a metric may be below 0: sums and means of values that may. */
export const isSigned = ({ min }: MetricInfo): boolean => (min ?? 0) < 0;

/** A number as it is shown: where only noise can have put it below 0, it is 0. */
export const plausible = (value: number, metric: MetricInfo): number =>
  isSigned(metric) ? value : Math.max(0, value);

export const withUnit = (value: number, metric: MetricInfo): string =>
  `${amount(plausible(value, metric))}${unitOf(metric) === "" ? "" : `\u00a0${unitOf(metric)}`}`;

/** "between 120 and 310 ms"; an end that noise hides is told. */
export function between({ low, high }: Estimate, metric: MetricInfo): string {
  if (low === null && high === null) return "too few events to tell";
  if (low === null) return `below ${withUnit(high!, metric)}`;
  if (high === null) return `above ${withUnit(low, metric)}`;
  return `between ${amount(plausible(low, metric))} and ${withUnit(high, metric)}`;
}

/** "120 to 310": an interval in a table, beside its number, which has the unit. */
export function interval({ low, high }: Estimate, metric: MetricInfo): string {
  return low === null || high === null
    ? between({ value: null, low, high }, metric)
    : `${amount(plausible(low, metric))} to ${amount(plausible(high, metric))}`;
}

/** A number in a table without its interval: one that noise may have made is told by its upper end alone. */
export function known({ value, low, high }: Estimate, metric: MetricInfo): string {
  if (value === null) return "–";
  return !isSigned(metric) && low !== null && low <= 0 && high !== null
    ? `at most ${withUnit(high, metric)}`
    : withUnit(value, metric);
}

/** How a number changed since an earlier one, from intervals that hold both with 95 % probability. */
export function change(name: string, now: Estimate, then: Estimate, metric: MetricInfo): string {
  if (now.value === null || then.value === null) return `${name}: too few events to tell.`;
  const open = (end: number | null, otherwise: number): number => end ?? otherwise;
  const low = open(now.low, -Infinity) - open(then.high, Infinity);
  const high = open(now.high, Infinity) - open(then.low, -Infinity);
  const number = `${name}: ${withUnit(then.value, metric)}.`;
  const span = Number.isFinite(low) && Number.isFinite(high);
  const by = span ? ` (${signed(low)} to ${withSign(high, metric)}, with 95 % probability)` : "";
  if (low <= 0 && high >= 0) return `${number} Noise can explain the difference${by}.`;
  return `${number} It ${low > 0 ? "rose" : "fell"} by more than noise explains${by}.`;
}

const signed = (value: number): string => `${value > 0 ? "+" : ""}${amount(value)}`;
const withSign = (value: number, metric: MetricInfo): string =>
  `${signed(value)}${unitOf(metric) === "" ? "" : `\u00a0${unitOf(metric)}`}`;

/** Times in the zone of the service. */
export class ZoneTimes {
  readonly zone: string;
  readonly #parts: Intl.DateTimeFormat;
  readonly #clock: Intl.DateTimeFormat;
  readonly #date: Intl.DateTimeFormat;
  readonly #both: Intl.DateTimeFormat;

  constructor(zone: string) {
    this.zone = zone;
    const time = { timeZone: zone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
    const date = { timeZone: zone, day: "numeric", month: "short" } as const;
    this.#parts = new Intl.DateTimeFormat("en-CA", {
      ...{ timeZone: zone, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit" },
      ...{ hour: "2-digit", minute: "2-digit", second: "2-digit" },
    });
    this.#clock = new Intl.DateTimeFormat("en-GB", time);
    this.#date = new Intl.DateTimeFormat("en-GB", date);
    this.#both = new Intl.DateTimeFormat("en-GB", { ...date, ...time });
  }

  /** Milliseconds that clocks of the zone are ahead of UTC, in whole seconds. */
  #ahead(time: number): number {
    const [year, month, day, hour, minute, second] = this.#parts.format(time).match(/\d+/g)!.map(Number);
    return Date.UTC(year!, month! - 1, day, hour, minute, second) - Math.floor(time / 1000) * 1000;
  }

  /** The time at which clocks of the zone showed the same, so many days before. */
  daysBefore(time: number, days: number): number {
    const before = time - days * DAY;
    return before + this.#ahead(time) - this.#ahead(before);
  }

  /** "2026-03-02": the date that clocks of the zone show. */
  dateOf(time: number): string {
    return new Date(time + this.#ahead(time)).toISOString().slice(0, 10);
  }

  /** When a date of the zone ends; NaN for no date. */
  endOf(date: string): number {
    const end = Date.parse(date) + DAY;
    return Number.isNaN(end) ? NaN : end - this.#ahead(end - this.#ahead(end));
  }

  dayOfMonth(time: number): number {
    return Number(this.#parts.format(time).match(/\d+/g)![2]);
  }

  /** "14:05", or "17 Nov" at midnight. */
  readonly tick = (time: number): string => {
    const text = this.#clock.format(time);
    return text === "00:00" ? this.#date.format(time) : text;
  };

  /** "17 Nov, 14:05". */
  readonly place = (time: number): string => this.#both.format(time);

  /** "17 Nov, 14:00 to 15:00". */
  span(from: number, to: number): string {
    return `${this.place(from)} to ${this.when(to, from)}`;
  }

  /** "15:00", or with its day if that is another one. */
  when(time: number, now: number): string {
    return this.#date.format(time) === this.#date.format(now) ? this.#clock.format(time) : this.place(time);
  }
}

/** When there will be another number, in words. */
export const nextWords = (next: number | null, now: number, times: ZoneTimes): string =>
  next === null ? "" : `Next number at ${times.when(next, now)} (${times.zone}).`;

const percent = (share: number): string => `${Math.round(100 * Math.min(1, Math.max(0, share)))}\u00a0%`;

/** Text about uncounted events: the limit of a person, how many people it met, and values above the bound. */
export function missingWords(answer: Answer, metric: MetricInfo): string {
  const { clipped } = answer;
  const values =
    clipped === undefined || clipped.events < 1
      ? ""
      : `About ${amount(clipped.events)} values (${amount(Math.max(0, clipped.low))} to ${amount(clipped.high)}) were above the bound and are clamped to it. `;
  return limitWords(answer, metric) + values;
}

/** Cells of a table: the share of people above the limit, and the values above the bound. */
export function boundWords(
  { limited, clipped }: Answer,
  { perPerson, people, type, countsClipped }: MetricInfo,
): { readonly limited: string; readonly bounded: string } {
  const isLimited = perPerson !== null || people !== undefined;
  return {
    limited: !isLimited
      ? "no limit"
      : limited === undefined
        ? "not known yet"
        : `${percent(limited.share)} (${percent(limited.low)} to ${percent(limited.high)})`,
    bounded: !["sum", "mean"].includes(type)
      ? "–"
      : countsClipped === false
        ? "not counted: the bound is public"
        : clipped === undefined
          ? "not known yet"
          : `about ${amount(Math.max(0, clipped.events))} (${amount(Math.max(0, clipped.low))} to ${amount(clipped.high)})`,
  };
}

function limitWords({ limited }: Answer, metric: MetricInfo): string {
  const { perPerson, people, keys, type, every } = metric;
  if (people !== undefined) {
    const { over, keysPerPerson } = people;
    const under =
      keys.length === 0 ? "" : `, under at most ${keysPerPerson} ${keysPerPerson === 1 ? "key" : "keys"}`;
    const more = limited === undefined ? "" : ` About ${percent(limited.share)} of people had more keys.`;
    return `A person counts once in a ${periodName(over)}${under}.${more} `;
  }
  if (perPerson === null) return "";
  const { events, perHour, sum } = perPerson;
  if (events === undefined && sum === undefined)
    return "How many events of a person and day count is chosen privately from the people of the first whole day, whose events are not published. ";
  const hourly = perHour === undefined ? "" : `, ${perHour} in an hour`;
  const rule =
    sum === undefined
      ? `At most ${events} ${events === 1 ? "event" : "events"} of a person and day count${hourly}.`
      : `A person's values of a day count until they sum to ${amount(sum)}.`;
  if (limited === undefined) return `${rule} How many people had more is not known yet. `;
  const { share, low, high } = limited;
  if (high < 0.01) return `${rule} Fewer than 1 % of people had more. `;
  const late = perHour === undefined && every !== "1d";
  const effect =
    ["count", "sum"].includes(type) && !isSigned(metric)
      ? `true numbers are higher${late ? ", and late hours are counted less than early ones" : ""}`
      : "what they had more is not in this number";
  return `${rule} About ${percent(share)} of people (${percent(low)} to ${percent(high)}) had more; ${effect}. `;
}

/** Distances between ticks that read well. */
export const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080].map(
  (minutes) => minutes * MINUTE,
);

const PERIODS: Readonly<Record<string, string>> = {
  ...{ "1s": "second", "1m": "minute", "1h": "hour", "1d": "day", "1w": "week", "1mo": "month" },
};

/** "hour" for "1h", "15m" for itself. */
export const periodName = (period: string): string => PERIODS[period] ?? period;

/** Legend of the chart: which periods and why, what the band says, what dashes and gaps mean. */
export function legendOf(
  { period, why }: Series,
  { running, gaps }: { readonly running: boolean; readonly gaps: boolean },
): string {
  const name = periodName(period);
  const chosen =
    why ?? `one number per ${name}, since the range is short: look at the bands more than at single numbers`;
  return [
    `${chosen[0]!.toUpperCase()}${chosen.slice(1)}.`,
    `Each band holds the true number of its ${name}, of what counts, with 95 % probability.`,
    ...(running ? [`Dashed: the running ${name} so far.`] : []),
    ...(gaps ? ["Where there is no line nothing was measured, or too few events came to tell."] : []),
  ].join(" ");
}
