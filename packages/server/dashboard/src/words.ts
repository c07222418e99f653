/** Numbers, times and margins as people read them. */
import { amount } from "../../../../site/src/look/format.js";
import type { Estimate, MetricInfo } from "./api.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const RANGES = [
  ["15 min", 15 * MINUTE],
  ["1 h", HOUR],
  ["6 h", 6 * HOUR],
  ["24 h", DAY],
  ["7 d", 7 * DAY],
] as const;

export const QUANTILES = [0.5, 0.9, 0.95, 0.99] as const;

export const percentile = (p: number): string => `p${Number((100 * p).toFixed(3))}`;

/** What a value counts: "requests", "ms", "EUR per event". */
export const unitOf = ({ type, unit, name }: MetricInfo): string =>
  type === "count" ? (unit === "" ? name : unit) : unit;

export const withUnit = (value: number, metric: MetricInfo): string =>
  `${amount(value)}${unitOf(metric) === "" ? "" : `\u00a0${unitOf(metric)}`}`;

/** "between 120 and 310 ms"; an end that noise hides is told. */
export function between({ low, high }: Estimate, metric: MetricInfo): string {
  if (low === null && high === null) return "too few events to tell";
  if (low === null) return `below ${withUnit(high!, metric)}`;
  if (high === null) return `above ${withUnit(low, metric)}`;
  return `between ${amount(low)} and ${withUnit(high, metric)}`;
}

const two = (n: number): string => String(n).padStart(2, "0");

/** "14:05", or "17 Nov" at midnight: in the visitor's time zone. */
export function tick(time: number): string {
  const date = new Date(time);
  if (date.getHours() === 0 && date.getMinutes() === 0)
    return date.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

export const place = (time: number): string =>
  new Date(time).toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });

/** Distances between ticks that read well. */
export const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880].map(
  (minutes) => minutes * MINUTE,
);

/**
 * What the chart shows. The margin does not hold how events are spread within an estimate.
 * @param gaps whether some steps have no number
 */
export const legendOf = ({ estimateEvery }: MetricInfo, gaps: boolean): string =>
  `The line is what the service published: an estimate every ${estimateEvery}, spread evenly over that time. The band is the margin of the noise, 95 %.` +
  (gaps ? " Where there is no line, there were too few events to tell: take a longer range." : "");

/** Length of a step: about 90 of them, whole ticks of the metric. A percentile needs more events, so longer steps. */
export const stepOf = (range: number, { every, type }: MetricInfo): number =>
  Math.max(1, Math.round(range / (type === "histogram" ? 24 : 90) / every)) * every;
