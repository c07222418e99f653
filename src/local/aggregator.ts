/**
 * The server's half of ToPL: answers from the first report on.
 *
 *     reports ─▶ one tally per day and θ ─▶ means, percentiles, histograms
 *                        └─▶ at midnight: θ of the next day ─▶ devices
 *
 * Everything that comes in is ε-LDP already: nothing here can spend privacy, and everything here may be published. What is
 * counted is whole numbers (dayTally.ts), so aggregators of many workers add up to one.
 */
import { checkConfidence, checkNumber, ownOptions } from "../core/checks.js";
import { chooseCore } from "../core/choose.js";
import type { Core } from "../core/core.js";
import type { BetweenOptions, Period, Series, Window } from "../events/answers.js";
import { type Day, DAY } from "../events/calendar.js";
import { type Duration, durationText, parseDuration, parseTime, type Time } from "../events/duration.js";
import {
  AGGREGATOR_OPTIONS,
  type AggregatorOptions,
  type LocalSettings,
  localSettings,
  refuseFormer,
} from "./aggregatorOptions.js";
import { type Channel, checkThreshold, makeChannel } from "./channel.js";
import { type Choice, decodeDays, encodeDays } from "./dayState.js";
import {
  addCells,
  addCounts,
  checkRoom,
  type DayTally,
  emptyTally,
  pooled,
  type ReportCounts,
} from "./dayTally.js";
import { estimateCounts, nextThreshold } from "./dayThreshold.js";
import { pauses, type RunOptions } from "./em.js";
import { addRejections, noRejections, readReports, type RejectedCounts, type ReportBatch } from "./intake.js";
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
import { PaperAggregator } from "./paper/paperAggregator.js";
import { isPaper, type PaperVariant } from "./paper/settings.js";
import { explainLocal, type LocalStatement, localStatement } from "./localStatement.js";

/** What devices are asked for. */
export interface LocalTerms {
  /** θ: values above it count as θ. */
  readonly threshold: number;
  /** When it may change: the end of the day, in milliseconds since 1970. */
  readonly until: number;
  /** Whether θ was chosen from reports; false: it is the bound that the first days have. */
  readonly chosen: boolean;
}

/** Which days a percentile or a histogram is about, and how it is computed. */
export interface DistributionQuery extends RunOptions {
  /** Default: all days that are kept. */
  readonly from?: Time;
  readonly to?: Time;
  /** Probability of the interval. Default 0.95. */
  readonly confidence?: number;
}

/** Days that are kept. */
const HISTORY = 400;
/** Periods of one series. */
const MOST_ANSWERS = 10_000;

export class Aggregator {
  // Parameters
  readonly #settings: LocalSettings;
  readonly #core: Core;
  readonly #channels = new Map<number, Channel>();
  // State
  /** By day and θ, in order of time. */
  #tallies = new Map<string, DayTally>();
  #rejected: Readonly<RejectedCounts> = noRejections();
  /** Changes of θ, oldest first. */
  #choices: readonly Choice[] = [];
  /** The newest day whose θ was decided. */
  #decided: Day | undefined;
  #deciding: Promise<void> | undefined;
  /** The last distribution that was estimated, and from what. */
  #estimated: { readonly of: string; readonly groups: Promise<readonly EstimatedGroup[]> } | undefined;
  #grids: { readonly of: readonly Choice[]; readonly grids: ReadonlySet<number> } | undefined;
  /** While the caller's iterator or getters run. */
  #reading = false;

  constructor(options: AggregatorOptions) {
    refuseFormer("aggregator", options);
    const own = ownOptions("aggregator", options, AGGREGATOR_OPTIONS);
    this.#settings = localSettings(own);
    this.#core = chooseCore(own.core);
  }

  /** Reports counted so far, of all days that are kept. */
  get reports(): number {
    return [...this.#tallies.values()].reduce((sum, { reports }) => sum + reports, 0);
  }

  /** Reports rejected so far, by reason. */
  get rejected(): Readonly<RejectedCounts> {
    return { ...this.#rejected };
  }

  /**
   * Takes reports that arrived at a time (default: now), in any order and any batches. Those made for the θ of that day or of the
   * day before count; others are rejected. Returns how many were taken.
   */
  add(batch: ReportBatch, at?: Time): number {
    this.#checkIdle("add");
    const { calendar, clock } = this.#settings;
    const day = calendar.dayAt(at === undefined ? clock() : parseTime("at", at));
    const thetas = [...new Set([this.#thresholdOf(day), this.#thresholdOf(calendar.dayAt(day.start - 1))])];
    const channels = thetas.map((theta) => this.#channel(theta));
    const wanted = channels.map(({ grid, mechanism }) => ({ grid, cells: mechanism.cells }));
    const { cells, rejected } = this.#read(batch, wanted);
    const tallies = thetas.map((theta) => this.#tallies.get(keyOf(day, theta)) ?? emptyTally(day, theta));
    tallies.forEach((tally, i) => checkRoom(tally, cells[i]!.length));
    calendar.fix(day);
    tallies.forEach((tally, i) => {
      if (cells[i]!.length === 0) return;
      this.#tallies.set(keyOf(day, tally.theta), addCells(tally, cells[i]!, channels[i]!.mechanism));
      if (tally.reports === 0) this.#tallies = recent(this.#tallies);
    });
    this.#rejected = addRejections(this.#rejected, rejected);
    return cells.reduce((sum, { length }) => sum + length, 0);
  }

  /** What devices are asked for now. The first call of a day chooses its θ, from the reports of the days before. */
  async terms(run: RunOptions = {}): Promise<LocalTerms> {
    pauses(run); // checks its options, whether or not there is work to do
    const { calendar, clock } = this.#settings;
    const day = calendar.dayAt(clock());
    while (this.#decided === undefined || this.#decided.start < day.start)
      await (this.#deciding ??= this.#decide(day, run).finally(() => (this.#deciding = undefined)));
    return { threshold: this.#thresholdOf(day), until: day.end, chosen: this.#choices.length > 0 };
  }

  /** Takes the terms of another aggregator that decides, for the day that ends with them. */
  follow(terms: LocalTerms): void {
    this.#checkIdle("follow");
    const { threshold, until, chosen } = ownOptions("terms", terms, ["threshold", "until", "chosen"]);
    const theta = checkThreshold(threshold, this.#settings.max);
    const day = this.#settings.calendar.dayAt(parseTime("until", until) - 1);
    if (day.end !== until)
      throw new RangeError("until: expected the end of a day of the zone, as terms() has it");
    if (this.#decided !== undefined && day.start < this.#decided.start) return; // of a day that is over
    if (this.#decided?.start === day.start && this.#thresholdOf(day) !== theta)
      throw new RangeError(`follow: expected θ = ${this.#thresholdOf(day)} for this day, got ${theta}`);
    const isNew = theta !== this.#thresholdOf(day) || (chosen && this.#choices.length === 0);
    this.#choose(day, isNew ? theta : undefined);
  }

  async #decide(day: Day, run: RunOptions): Promise<void> {
    const { follow, max, start } = this.#settings;
    const before = this.#daysBefore(day);
    const theta = this.#choices.at(-1)?.theta ?? start;
    const since = this.#choices.at(-1)?.from ?? -Infinity;
    const own = before.filter((tally) => tally.theta === theta && tally.day.start >= since);
    let found: number | undefined;
    if (follow && own.length > 0) {
      const newest = Math.max(...own.map((tally) => tally.day.start));
      const pool = (tallies: readonly DayTally[]): ReportCounts => pooled(tallies)[0]!;
      const followed = {
        theta,
        chosen: this.#choices.length > 0,
        all: pool(own),
        days: new Set(own.map((tally) => tally.day.start)).size,
        newest: pool(own.filter((tally) => tally.day.start === newest)),
      };
      found = await nextThreshold(this.#core, followed, this.#channel(theta).mechanism, max, run);
    }
    if (this.#decided === undefined || this.#decided.start < day.start) this.#choose(day, found);
  }

  #choose(day: Day, theta: number | undefined): void {
    this.#settings.calendar.fix(day);
    this.#decided = day;
    if (theta !== undefined) this.#choices = [...this.#choices, { from: day.start, theta }].slice(-HISTORY);
  }

  #daysBefore(day: Day): DayTally[] {
    return [...this.#tallies.values()].filter((tally) => tally.day.start < day.start);
  }

  /** θ of a day: of the last choice before it ended. */
  #thresholdOf(day: Day): number {
    return this.#choices.findLast(({ from }) => from <= day.start)?.theta ?? this.#settings.start;
  }

  /** Mean and sum over the days in [from, to), the running one included if the range reaches now. */
  between(from: Time, to: Time, options: BetweenOptions = {}): LocalAnswer {
    const confidence = confidenceOf("between", options);
    return this.#answer([parseTime("from", from), parseTime("to", to)], confidence);
  }

  /** Mean and sum over the last days that have ended; on the first day, over what came so far. A multiple of "1d". */
  last(duration: Duration, options: BetweenOptions = {}): LocalAnswer {
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

  /** One answer per "1d", "1w" (from Monday) or "1mo" that meets [from, to). */
  series(period: Period, from: Time, to: Time, options: BetweenOptions = {}): Series<LocalAnswer> {
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

  /** The p-quantile of the values, with an interval that covers. 0 < p < 1. */
  async quantile(p: number, query: DistributionQuery = {}): Promise<DayQuantile> {
    checkNumber("p", p, Number.MIN_VALUE, 1 - Number.EPSILON);
    const { confidence, given } = await this.#distributed("quantile", query);
    return dayQuantile(given, p, confidence);
  }

  /** The share of values below x, with an interval that covers. */
  async cdf(x: number, query: DistributionQuery = {}): Promise<DayShare> {
    checkNumber("x", x, -Number.MAX_VALUE, Number.MAX_VALUE);
    const { confidence, given } = await this.#distributed("cdf", query);
    return dayShare(given, x, confidence);
  }

  /** How the values are spread, with a band that holds as a whole. */
  async histogram(query: DistributionQuery = {}): Promise<LocalHistogram> {
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
    const { mechanism } = this.#channel(max);
    const run = { onProgress, signal };
    pauses(run);
    const of = tallies.map((tally) => `${keyOf(tally.day, tally.theta)}=${tally.reports}`).join();
    if (this.#estimated?.of !== of) {
      const groups = this.#estimate(pooled(tallies), run);
      this.#estimated = { of, groups };
      groups.catch(() => (this.#estimated = undefined));
    }
    const { groups } = this.#estimated;
    const newest = tallies.at(-1)?.theta ?? max;
    return { confidence, given: { window, groups: await groups, mechanism, max, newest } };
  }

  async #estimate(groups: readonly ReportCounts[], run: RunOptions): Promise<EstimatedGroup[]> {
    const estimated: EstimatedGroup[] = [];
    const { mechanism } = this.#channel(this.#settings.max);
    for (const group of groups) {
      const served = { served: group.reports };
      const { choice, histogram } = await estimateCounts(this.#core, group, mechanism, served, run);
      estimated.push({ ...group, shares: choice.shares, predicted: histogram.predicted });
    }
    return estimated;
  }

  #answer(range: readonly [number, number], confidence: number): LocalAnswer {
    const [window, tallies] = this.#within(range);
    const { max } = this.#settings;
    return localAnswer(window, pooled(tallies), this.#channel(max).mechanism, max, confidence);
  }

  /** The first day that is known, or the running one. */
  #first(): number {
    const starts = [...this.#tallies.values()].map(({ day }) => day.start);
    const { calendar, clock } = this.#settings;
    return Math.min(calendar.dayAt(clock()).start, this.#decided?.start ?? Infinity, ...starts);
  }

  /** The days of a range: whole ones, and the running one if the range reaches now. */
  #within([from, to]: readonly [number, number]): [Window, DayTally[]] {
    if (to < from) throw new RangeError(`to: expected a time from ${from} on, got ${to}`);
    const { calendar, clock } = this.#settings;
    const now = clock();
    const running = calendar.dayAt(now);
    const next = to > running.start ? running.end : null;
    const isIn = (day: Day): boolean =>
      day.start >= from && (day.end <= to || (day.start === running.start && to >= now));
    let start = Math.max(from, this.#first());
    const day = calendar.dayAt(start);
    if (day.start < start) start = day.end;
    const last = isIn(running) ? running : calendar.dayAt(Math.min(to, running.start) - 1);
    const end = last.end <= to || last.start === running.start ? last.end : last.start;
    const tallies = [...this.#tallies.values()].filter((tally) => isIn(tally.day));
    if (end <= start) return [{ from, to: from, complete: from === to, next }, tallies];
    const complete = start === from && end === to && end <= now;
    return [{ from: start, to: end, complete, next }, tallies];
  }

  /** All that was counted and decided, as public bytes for `merge`. */
  tally(): Uint8Array<ArrayBuffer> {
    const { epsilon, max, start, calendar } = this.#settings;
    return encodeDays({
      ...{ epsilon, max, start, zone: calendar.zone, rejected: this.#rejected },
      ...{ decided: this.#decided, choices: this.#choices, tallies: [...this.#tallies.values()] },
    });
  }

  /** Adds what another aggregator has counted, and its θ. Merge every tally once; a failed merge changes nothing. */
  merge(other: Aggregator | Uint8Array): void {
    this.#checkIdle("merge");
    if (other === this) throw new RangeError("merge: expected another aggregator, got the same one");
    const { epsilon, max, start, calendar } = this.#settings;
    const given = decodeDays(other instanceof Aggregator ? other.tally() : other);
    if (
      given.epsilon !== epsilon ||
      given.max !== max ||
      given.start !== start ||
      given.zone !== calendar.zone
    )
      throw new RangeError(
        "merge: expected a tally of the same ε, max, threshold and zone, got one of others",
      );
    const choices = mergedChoices(this.#choices, given.choices);
    const tallies = new Map(this.#tallies);
    for (const tally of given.tallies) {
      const key = keyOf(tally.day, tally.theta);
      const own = tallies.get(key);
      tallies.set(key, own === undefined ? tally : addCounts(own, tally));
    }
    const rejected = addRejections(this.#rejected, given.rejected);
    for (const { day } of given.tallies) calendar.fix(day);
    this.#tallies = recent(tallies);
    this.#rejected = rejected;
    this.#choices = choices;
    if (given.decided !== undefined && !(this.#decided && this.#decided.start >= given.decided.start))
      this.#decided = given.decided;
  }

  /** What this aggregation is, for machines. */
  statement(): LocalStatement {
    const { calendar, clock, max } = this.#settings;
    const threshold = this.#thresholdOf(calendar.dayAt(clock()));
    const { reports, rejected } = this;
    return localStatement(this.#settings, this.#channel(max).mechanism, {
      ...{ threshold, reports, rejected, core: this.#core.name },
    });
  }

  /** A text for people. */
  explain(): string {
    return explainLocal(this.statement());
  }

  #channel(theta: number): Channel {
    let channel = this.#channels.get(theta);
    if (channel === undefined)
      this.#channels.set(theta, (channel = makeChannel(this.#settings.epsilon, theta)));
    return channel;
  }

  /** Reads a batch before anything changes. */
  #read(batch: ReportBatch, wanted: readonly { readonly grid: number; readonly cells: number }[]) {
    this.#reading = true;
    try {
      return readReports(batch, wanted, this.#earlierGrids());
    } finally {
      this.#reading = false;
    }
  }

  /** Grids of all θ so far. */
  #earlierGrids(): ReadonlySet<number> {
    if (this.#grids?.of !== this.#choices) {
      const earlier = [this.#settings.start, ...this.#choices.map(({ theta }) => theta)];
      this.#grids = { of: this.#choices, grids: new Set(earlier.map((theta) => this.#channel(theta).grid)) };
    }
    return this.#grids.grids;
  }

  #checkIdle(call: string): void {
    if (this.#reading)
      throw new Error(
        `${call}: expected no call while a batch is being read; take one batch after the other`,
      );
  }
}

/** A server's aggregator: `aggregator({ epsilon: 1, max: 500 })`, or the paper's with `variant: "paper"`. */
export function aggregator(options: PaperVariant): PaperAggregator;
export function aggregator(options: AggregatorOptions): Aggregator;
export function aggregator(options: AggregatorOptions | PaperVariant): Aggregator | PaperAggregator {
  return isPaper(options) ? new PaperAggregator(options) : new Aggregator(options);
}

const UNITS = { "1w": "week", "1mo": "month" } as const;

const keyOf = (day: Day, theta: number): string => `${day.start}/${theta}`;

const confidenceOf = (call: string, options: BetweenOptions): number =>
  checkConfidence(ownOptions(call, options, ["confidence"]).confidence ?? 0.95);

/** In order of time, without days that are too old. */
function recent(tallies: ReadonlyMap<string, DayTally>): Map<string, DayTally> {
  const days = [...new Set([...tallies.values()].map(({ day }) => day.start))].sort((a, b) => b - a);
  const oldest = days[HISTORY - 1] ?? -Infinity;
  const kept = [...tallies].filter(([, { day }]) => day.start >= oldest);
  return new Map(kept.sort(([, a], [, b]) => a.day.start - b.day.start || a.theta - b.theta));
}

/** Choices of two aggregators, of which one may know more days. */
function mergedChoices(a: readonly Choice[], b: readonly Choice[]): readonly Choice[] {
  const merged = new Map(a.map(({ from, theta }) => [from, theta]));
  for (const { from, theta } of b) {
    const own = merged.get(from);
    if (own !== undefined && own !== theta)
      throw new RangeError(`merge: expected θ = ${own} from one day on, got a tally with θ = ${theta}`);
    merged.set(from, theta);
  }
  return [...merged].map(([from, theta]) => ({ from, theta })).sort((x, y) => x.from - y.from);
}
