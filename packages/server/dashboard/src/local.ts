/** A metric of devices: a number a day with its interval, which leads where it is wide. */
import { byId } from "../../../../site/src/look/dom.js";
import { amount } from "../../../../site/src/look/format.js";
import * as api from "./api.js";
import { percentileRows } from "./cards.js";
import { mark, plot, type Span } from "./plot.js";
import { between, percentile, QUANTILES, withUnit, type ZoneTimes } from "./words.js";

/** Statistic of a day: a percentile, or the mean. */
export type Daily = number | "mean";

/** Percentiles of days that have ended, which stay: each is asked for once. */
const asked = new Map<string, api.Estimate>();

/** Half of the interval exceeds the number: then the interval is what is known. */
const isWide = ({ value, low, high }: api.Estimate): boolean =>
  value === null || low === null || high === null || (high - low) / 2 > Math.abs(value);

/** @param range in milliseconds, whole days */
export async function showLocal(
  current: api.MetricInfo,
  range: number,
  daily: Daily,
  times: ZoneTimes,
): Promise<void> {
  const { now } = await api.metrics();
  const { answers } = await api.askDays(current.name, now - range, now);
  const first = answers[0]!.from;
  const whole = await api.askSince(current.name, first, QUANTILES);
  headline(whole, current, daily, answers.length);
  const spans: Span[] = [];
  for (const day of answers) spans.push(spanOf(day, await dayEstimate(current, day, daily)));
  const ends = [first, Math.max(now, ...spans.map(({ to }) => to))] as const;
  plot(spans, "1d", ends, current, times);
  mark(0, 0);
  for (const id of ["marked", "comparison"]) byId(id).replaceChildren();
  byId("chart").hidden = false;
  byId("legend").textContent = legendOf(spans, daily);
  byId("percentiles").replaceChildren(...percentileRows(whole, current));
}

async function dayEstimate(
  { name }: api.MetricInfo,
  day: api.LocalAnswer,
  daily: Daily,
): Promise<api.Estimate> {
  if (daily === "mean" || day.reports === 0) return day;
  const key = [name, day.from, day.reports, daily].join();
  let found = asked.get(key);
  if (found === undefined) {
    [found] = (await api.askSince(name, day.from, [daily], day.to)).quantiles!;
    if (day.complete) asked.set(key, found!);
  }
  return found!;
}

/** A day without a report, or of which nothing is known, is a gap; a wide one has its band alone. */
function spanOf({ from, to, complete, reports }: api.LocalAnswer, estimate: api.Estimate): Span {
  const { value, low, high } = estimate;
  const isKnown = reports > 0 && value !== null;
  return {
    ...{ from, to, running: !complete },
    value: isKnown && !isWide(estimate) ? value : null,
    low: isKnown ? low : null,
    high: isKnown ? high : null,
  };
}

function legendOf(spans: readonly Span[], daily: Daily): string {
  const what =
    daily === "mean"
      ? "the mean of that day's values, clamped to its bound,"
      : `the ${percentile(daily)} of that day`;
  const has = (test: (span: Span) => boolean): boolean => spans.some(test);
  return [
    `One number per day: each band holds ${what} with 95 % probability.`,
    ...(has(({ value, high }) => value === null && high !== null)
      ? ["Where half of the band exceeds the number there is a band and no line."]
      : []),
    ...(has(({ running, high }) => running && high !== null) ? ["The last band is today so far."] : []),
    ...(has(({ high }) => high === null) ? ["Days without a number are gaps."] : []),
  ].join(" ");
}

function headline(answer: api.LocalAnswer, current: api.MetricInfo, daily: Daily, days: number): void {
  const { reports, clipped } = answer;
  const estimate = daily === "mean" ? answer : answer.quantiles!.find(({ p }) => p === daily)!;
  const what = daily === "mean" ? "mean" : percentile(daily);
  const span = days === 1 ? "today" : `last ${days} days`;
  byId("about").textContent = `${current.name}, ${what}, ${span}, noise added on the devices`;
  const wide = isWide(estimate);
  const interval = between(estimate, current);
  byId("headline").textContent =
    reports === 0
      ? "No report yet"
      : wide
        ? `${interval.charAt(0).toUpperCase()}${interval.slice(1)}`
        : withUnit(estimate.value!, current);
  byId("margin").textContent =
    reports === 0
      ? "The first report will count."
      : `${wide ? "With 95 % probability, from" : `With 95 % probability ${interval}. From`} ${amount(reports)} reports. ${clippedWords(clipped, current)}`;
}

function clippedWords(clipped: api.LocalAnswer["clipped"], current: api.MetricInfo): string {
  if (clipped === null)
    return "Every value up to the metric's max counts; after the first day the bound follows your data.";
  const bound = withUnit(clipped.threshold, current);
  return `Values above ${bound} are clamped to it: at most ${Number((100 * clipped.high).toPrecision(2))} % of them. The interval does not cover what lies above the bound.`;
}
