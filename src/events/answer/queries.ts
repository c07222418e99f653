/** Ranges of time that people ask about: the last hour, the days of a month, the periods of a chart. */
import { shown } from "../../core/checks.js";
import type { EventAnswer, Period, Series } from "./answers.js";
import { type Day, DAY } from "../days/calendar.js";
import { DayPeriods } from "../days/dayPeriods.js";
import {
  type Duration,
  durationText,
  parseDuration,
  parseTime,
  periodText,
  type Time,
} from "../days/duration.js";
import { discreteNoise } from "../days/dayNoise.js";
import { overWord } from "../people/distinct.js";
import type { EventMetric } from "../eventMetric.js";
import { spreadOf } from "../days/history.js";

export type Range = readonly [from: number, to: number];

/** A range of time as a caller gives it. */
export function parseRange(from: Time, to: Time): Range {
  const [start, end] = [parseTime("from", from), parseTime("to", to)];
  if (end < start) throw new RangeError(`to: expected a time from ${start} on, got ${end}`);
  return [start, end];
}

/** The newest range of a length that ends with a published period. If days are published, it counts days of the zone. */
export function lastRange({ next, settings }: EventMetric, duration: Duration): Range {
  const { over } = settings.distinct ?? { over: "1d" };
  if (over !== "1d") {
    if (duration === over) return [settings.schedule.calendar.dayAt(next - 1).start, next];
    throw new RangeError(
      `last: expected "${over}", in which people are counted once, got ${shown(duration)}`,
    );
  }
  const length = parseDuration("last", duration);
  const every = settings.schedule.levels[0]!;
  if (length % every !== 0)
    throw new RangeError(
      `last: expected a multiple of every = ${durationText(every)}, got ${durationText(length)}; ask for ${durationText(Math.ceil(length / every) * every)}`,
    );
  if (every !== DAY) return [next - length, next];
  let from = next; // days of the zone, however long they are
  for (let left = length / DAY; left > 0; left--) from = settings.schedule.calendar.dayAt(from - 1).start;
  return [from, next];
}

/** The answers of a series are at most so many. */
const MOST_ANSWERS = 10_000;

/** The calendar periods that meet [from, to), in order. */
export function periodsOf({ settings }: EventMetric, period: Period, [from, to]: Range): Range[] {
  const { calendar, levels } = settings.schedule;
  const ranges: Range[] = [];
  const add = (start: number, end: number): void => {
    if (end > from && start < to) ranges.push([start, end]);
    if (ranges.length > MOST_ANSWERS)
      throw new RangeError(
        `series: expected at most ${MOST_ANSWERS} periods, got more; ask for longer ones or a shorter range`,
      );
  };
  const { over } = settings.distinct ?? { over: "1d" };
  if (over !== "1d") {
    if (period !== over)
      throw new RangeError(
        `period: expected "${over}", in which people are counted once, or "auto", got ${shown(period)}`,
      );
    for (let span = calendar.dayAt(from); span.start < to; span = calendar.dayAt(span.end))
      add(span.start, span.end);
    return ranges;
  }
  if (period === "1w" || period === "1mo") {
    for (let day = calendar.dayAt(from); day.start < to;) {
      const span: Day = calendar.spanOf(period === "1w" ? "week" : "month", day);
      add(span.start, span.end);
      day = calendar.dayAt(span.end);
    }
    return ranges;
  }
  const length = parseDuration("period", period);
  const every = levels[0]!;
  if (length % every !== 0 || DAY % length !== 0)
    throw new RangeError(
      `period: expected "1w", "1mo", "auto" or a multiple of every = ${durationText(every)} that divides a day, got ${shown(period)}`,
    );
  for (let day = calendar.dayAt(from); day.start < to; day = calendar.dayAt(day.end))
    if (length === DAY) add(day.start, day.end);
    else {
      const skipped = Math.max(0, Math.floor((from - day.start) / length));
      for (let start = day.start + skipped * length; start < Math.min(day.end, to); start += length)
        add(start, Math.min(day.end, start + length));
    }
  return ranges;
}

type Answered = Pick<EventAnswer, "from" | "to" | "complete">;

/** How a series is answered. */
export interface SeriesParts<A> {
  readonly answer: (range: Range) => A;
  /** The answer of a period that has no number. */
  readonly blank: (answer: A, range: Range) => A;
  /** How many events an answer is about. */
  readonly events: (answer: A) => number;
}

/**
 * One answer per period. A period that has ended has a number only if all of it was measured; the running one has the sum
 * so far and is not complete.
 */
export function seriesOf<A extends Answered>(
  metric: EventMetric,
  period: Period,
  range: Range,
  parts: SeriesParts<A>,
): Series<A> {
  const pieces = seriesPieces(metric, period, range, parts);
  for (;;) {
    const step = pieces.next();
    if (step.done === true) return step.value;
  }
}

/** Computes a series, and yields after every answer: others may have their turn. */
export function* seriesPieces<A extends Answered>(
  metric: EventMetric,
  period: Period,
  range: Range,
  { answer, blank, events }: SeriesParts<A>,
): Generator<void, Series<A>> {
  const chosen = period === "auto" ? autoPeriod(metric, range, events(answer(range))) : { period };
  const answers: A[] = [];
  for (const own of periodsOf(metric, chosen.period, range)) {
    const found = answer(own);
    answers.push(isShown(metric, own, found) ? found : blank(found, own));
    yield;
  }
  const name = typeof chosen.period === "number" ? durationText(chosen.period) : chosen.period;
  return { ...chosen, period: name, answers };
}

/** Whether the answer of a period is about all of it, or about all of the running one so far. */
export const isShown = (
  { next }: EventMetric,
  [from, to]: Range,
  found: Pick<EventAnswer, "from" | "to" | "complete">,
): boolean => found.complete || (to > next && found.from === from && found.to === next);

/** A chosen period has at most so many answers: more are no chart. */
const MOST_CHOSEN = 2000;

/** The finest level whose standard error is at most a tenth of what a period of it holds on average; else the longest. */
export function autoPeriod(
  metric: EventMetric,
  [from, to]: Range,
  total: number,
): { period: string; why: string } {
  const { distinct } = metric.settings;
  if (distinct !== undefined && distinct.over !== "1d")
    return { period: distinct.over, why: `${overWord(distinct.over)}s, in which people are counted once` };
  const { levels } = metric.settings.schedule;
  const { shape } = new DayPeriods({ start: 0, end: DAY }, levels);
  const { variance } = discreteNoise(metric.scale);
  const unit = metric.settings.grid === undefined ? 1 : metric.moved;
  const span = Math.max(1, Math.min(to, metric.next) - Math.max(from, metric.first));
  const fits = (length: number): boolean => {
    const deviation = Math.sqrt(spreadOf(shape).of(0, length / levels[0]!).variance * variance) / unit;
    return deviation <= (total * length) / span / 10;
  };
  const few = (length: number): boolean => (to - from) / length <= MOST_CHOSEN;
  const level = levels.find((length) => few(length) && fits(length));
  const words = (length: number): string => `${periodText(length)}s`;
  const before = levels[levels.indexOf(level ?? levels.at(-1)!) - 1];
  if (level === undefined)
    return {
      period: durationText(levels.at(-1)!),
      why: `${words(levels.at(-1)!)}, the longest level: all periods are mostly noise`,
    };
  return {
    period: durationText(level),
    why:
      before === undefined
        ? `${words(level)}, the finest level`
        : `${words(level)}, because ${words(before)} would be ${few(before) ? "mostly noise" : "too many"}`,
  };
}
