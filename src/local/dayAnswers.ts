/** Questions about days: which of them a range holds, and what their tallies say. */
import { checkConfidence, checkNumber, ownOptions } from "../core/checks.js";
import type { DataCore } from "../core/core.js";
import type { Mechanism } from "../core/tables/sectors.js";
import type { BetweenOptions, Period, Series, Window } from "../events/answer/answers.js";
import { type Day, DAY } from "../events/days/calendar.js";
import { type Duration, durationText, parseDuration, parseTime, type Time } from "../events/days/duration.js";
import type { LocalSettings } from "./aggregatorOptions.js";
import { type DayTally, pooled, type ReportCounts } from "./dayTally.js";
import { estimateCounts } from "./dayThreshold.js";
import { pauses, type RunOptions } from "./em.js";
import { type LocalAnswer, localAnswer } from "./localAnswer.js";
import {
  dayHistogram,
  dayQuantile,
  type DayQuantile,
  dayShare,
  type DayShare,
  type Distributed,
  type EstimatedGroup,
  type LocalHistogram,
} from "./localDistribution.js";

/** Which days a percentile or a histogram is about, and how it is computed. */
export interface DistributionQuery extends RunOptions {
  /** Default: all days that are kept. */
  readonly from?: Time;
  readonly to?: Time;
  /** Probability of the interval. Default 0.95. */
  readonly confidence?: number;
}

/** Counts and choices at the moment of a question. */
export interface Counted {
  /** In order of time. */
  readonly tallies: readonly DayTally[];
  /** The newest day whose θ was decided. */
  readonly decided: Day | undefined;
}

/** Periods of one series. */
const MOST_ANSWERS = 10_000;

export class DayAnswers {
  // Parameters
  readonly #settings: LocalSettings;
  readonly #core: DataCore;
  readonly #mechanism: Mechanism;
  readonly #counted: () => Counted;
  // State
  /** The last distribution that was estimated, and from what. */
  #estimated: { readonly of: string; readonly groups: Promise<readonly EstimatedGroup[]> } | undefined;

  /** @param mechanism of the reports: θ scales its estimates */
  constructor(settings: LocalSettings, core: DataCore, mechanism: Mechanism, counted: () => Counted) {
    this.#settings = settings;
    this.#core = core;
    this.#mechanism = mechanism;
    this.#counted = counted;
  }

  between(from: Time, to: Time, options: BetweenOptions): LocalAnswer {
    const confidence = confidenceOf("between", options);
    return this.#answer([parseTime("from", from), parseTime("to", to)], confidence);
  }

  last(duration: Duration, options: BetweenOptions): LocalAnswer {
    const confidence = confidenceOf("last", options);
    return this.#answer(this.#lastRange(duration), confidence);
  }

  #lastRange(duration: Duration): [number, number] {
    const length = parseDuration("last", duration);
    if (length % DAY !== 0)
      throw new RangeError(
        `last: expected a multiple of 1d, got ${durationText(length)}; ask for ${durationText(Math.ceil(length / DAY) * DAY)}`,
      );
    const { calendar, clock } = this.#settings;
    const running = calendar.dayAt(clock());
    if (this.#first() >= running.start) return [running.start, running.end];
    let from = running.start;
    for (let left = length / DAY; left > 0; left--) from = calendar.dayAt(from - 1).start;
    return [from, running.start];
  }

  series(period: Period, from: Time, to: Time, options: BetweenOptions): Series<LocalAnswer> {
    const confidence = confidenceOf("series", options);
    const [start, end] = [parseTime("from", from), parseTime("to", to)];
    const { calendar } = this.#settings;
    const answers: LocalAnswer[] = [];
    for (let at = start; at < end;) {
      const day = calendar.dayAt(at);
      const span = period === "1w" || period === "1mo" ? calendar.spanOf(UNITS[period], day) : day;
      if (span === day && parseDuration("period", period) !== DAY)
        throw new RangeError(
          `period: expected "1d", "1w" or "1mo", got ${durationText(parseDuration("period", period))}`,
        );
      if (answers.length >= MOST_ANSWERS)
        throw new RangeError(
          `series: expected at most ${MOST_ANSWERS} periods, got more; ask for longer ones`,
        );
      answers.push(this.#answer([span.start, span.end], confidence));
      at = span.end;
    }
    return { period: typeof period === "number" ? durationText(period) : period, answers };
  }

  async quantile(p: number, query: DistributionQuery): Promise<DayQuantile> {
    checkNumber("p", p, Number.MIN_VALUE, 1 - Number.EPSILON);
    const { confidence, given } = await this.#distributed("quantile", query);
    return dayQuantile(given, p, confidence);
  }

  async cdf(x: number, query: DistributionQuery): Promise<DayShare> {
    checkNumber("x", x, -Number.MAX_VALUE, Number.MAX_VALUE);
    const { confidence, given } = await this.#distributed("cdf", query);
    return dayShare(given, x, confidence);
  }

  async histogram(query: DistributionQuery): Promise<LocalHistogram> {
    const { confidence, given } = await this.#distributed("histogram", query);
    return dayHistogram(given, confidence);
  }

  async #distributed(
    call: string,
    query: DistributionQuery,
  ): Promise<{ readonly confidence: number; readonly given: Distributed }> {
    const own = ownOptions(call, query, ["from", "to", "confidence", "onProgress", "signal"]);
    const { onProgress, signal } = own;
    const confidence = checkConfidence(own.confidence ?? 0.95);
    const { max, calendar, clock } = this.#settings;
    const from = own.from === undefined ? this.#first() : parseTime("from", own.from);
    const to = own.to === undefined ? calendar.dayAt(clock()).end : parseTime("to", own.to);
    const [window, tallies] = this.#within([Math.min(from, to), to]);
    const run = { onProgress, signal };
    pauses(run);
    const groups = await this.#groups(tallies, run);
    const newest = tallies.at(-1)?.theta ?? max;
    return { confidence, given: { window, groups, mechanism: this.#mechanism, max, newest } };
  }

  /** Memoises the last estimate. A caller who stops it, or whose `onProgress` throws, stops it for nobody else. */
  async #groups(tallies: readonly DayTally[], run: RunOptions): Promise<readonly EstimatedGroup[]> {
    const of = tallies.map(({ day, theta, reports }) => `${day.start}/${theta}=${reports}`).join();
    const counts = pooled(tallies);
    while (this.#estimated?.of === of) {
      const known = this.#estimated;
      try {
        return await known.groups;
      } catch {
        if (this.#estimated === known) this.#estimated = undefined;
      }
    }
    const groups = this.#estimate(counts, run);
    this.#estimated = { of, groups };
    return groups;
  }

  async #estimate(groups: readonly ReportCounts[], run: RunOptions): Promise<EstimatedGroup[]> {
    const estimated: EstimatedGroup[] = [];
    for (const group of groups) {
      const served = { served: group.reports };
      const { choice, histogram } = await estimateCounts(this.#core, group, this.#mechanism, served, run);
      estimated.push({ ...group, shares: choice.shares, predicted: histogram.predicted });
    }
    return estimated;
  }

  #answer(range: readonly [number, number], confidence: number): LocalAnswer {
    const [window, tallies] = this.#within(range);
    return localAnswer(window, pooled(tallies), this.#mechanism, this.#settings.max, confidence);
  }

  /** The first day that is known, or the running one. */
  #first(): number {
    const { tallies, decided } = this.#counted();
    const { calendar, clock } = this.#settings;
    const starts = tallies.map(({ day }) => day.start);
    return Math.min(calendar.dayAt(clock()).start, decided?.start ?? Infinity, ...starts);
  }

  /** The days of a range: whole ones, and the running one if the range reaches now. */
  #within([from, to]: readonly [number, number]): [Window, DayTally[]] {
    if (to < from) throw new RangeError(`to: expected a time from ${from} on, got ${to}`);
    const { calendar, clock } = this.#settings;
    const now = clock();
    const running = calendar.dayAt(now);
    const next = to > running.start ? running.end : null;
    const isIn = (day: Day): boolean =>
      day.start >= from &&
      day.start <= running.start && // reports of a later day wait for it, if the clock was set back
      (day.end <= to || (day.start === running.start && to >= now));
    let start = Math.max(from, this.#first());
    const day = calendar.dayAt(start);
    if (day.start < start) start = day.end;
    const last = isIn(running) ? running : calendar.dayAt(Math.min(to, running.start) - 1);
    const end = last.end <= to || last.start === running.start ? last.end : last.start;
    const tallies = this.#counted().tallies.filter((tally) => isIn(tally.day));
    if (end <= start) return [{ from, to: from, complete: from === to, next }, tallies];
    const complete = start === from && end === to && end <= now;
    return [{ from: start, to: end, complete, next }, tallies];
  }
}

const UNITS = { "1w": "week", "1mo": "month" } as const;

const confidenceOf = (call: string, options: BetweenOptions): number =>
  checkConfidence(ownOptions(call, options, ["confidence"]).confidence ?? 0.95);
