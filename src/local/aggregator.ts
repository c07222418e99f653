/**
 * The server's half of ToPL: answers from the first report on.
 *
 *     reports ─▶ one tally per day and θ (dayTallies.ts) ─▶ means, percentiles, histograms (dayAnswers.ts)
 *                        └─▶ at midnight: θ of the next day (thetas.ts) ─▶ devices
 *
 * Everything that comes in is ε-LDP already: nothing here can spend privacy, and everything here may be published. What is
 * counted is whole numbers (dayTally.ts), so aggregators of many workers add up to one.
 */
import { ownOptions } from "../core/checks.js";
import { chooseData } from "../core/choose.js";
import type { DataCore } from "../core/core.js";
import type { BetweenOptions, Period, Series } from "../events/answer/answers.js";
import type { Day } from "../events/days/calendar.js";
import { type Duration, parseTime, type Time } from "../events/days/duration.js";
import {
  AGGREGATOR_OPTIONS,
  type AggregatorOptions,
  type LocalSettings,
  localSettings,
  refuseFormer,
} from "./aggregatorOptions.js";
import { type Channel, makeChannel } from "./channel.js";
import { DayAnswers, type DistributionQuery } from "./dayAnswers.js";
import { decodeDays, encodeDays } from "./dayState.js";
import { DayTallies } from "./dayTallies.js";
import { type DayTally, pooled, type ReportCounts } from "./dayTally.js";
import { nextThreshold } from "./dayThreshold.js";
import { pauses, type RunOptions } from "./em.js";
import { addRejections, noRejections, readReports, type RejectedCounts, type ReportBatch } from "./intake.js";
import type { LocalAnswer } from "./localAnswer.js";
import type { DayQuantile, DayShare, LocalHistogram } from "./localDistribution.js";
import { explainLocal, type LocalStatement, localStatement } from "./localStatement.js";
import { PaperAggregator } from "./paper/paperAggregator.js";
import { isPaper, type PaperVariant } from "./paper/settings.js";
import { type LocalTerms, Thetas } from "./thetas.js";

export class Aggregator {
  // Parameters
  readonly #settings: LocalSettings;
  readonly #core: DataCore;
  readonly #channels = new Map<number, Channel>();
  readonly #answers: DayAnswers;
  // State
  readonly #tallies = new DayTallies();
  readonly #thetas: Thetas;
  #rejected: Readonly<RejectedCounts> = noRejections();
  #deciding: Promise<void> | undefined;
  /** While the caller's iterator or getters run. */
  #reading = false;

  constructor(options: AggregatorOptions) {
    refuseFormer("aggregator", options);
    const own = ownOptions("aggregator", options, AGGREGATOR_OPTIONS);
    this.#settings = localSettings(own);
    this.#core = chooseData(own.core);
    this.#thetas = new Thetas(this.#settings);
    const { mechanism } = this.#channel(this.#settings.max);
    this.#answers = new DayAnswers(this.#settings, this.#core, mechanism, () => ({
      tallies: this.#tallies.all,
      decided: this.#thetas.known.decided,
    }));
  }

  /** Reports counted so far, of all days that are kept. */
  get reports(): number {
    return this.#tallies.reports;
  }

  /** Reports rejected so far, by reason. */
  get rejected(): Readonly<RejectedCounts> {
    return { ...this.#rejected };
  }

  /**
   * Takes reports that arrived at a time (default: now), in any order and any batches. Those made for the θ of that day or of the
   * day before count, or for that of the day after if it is decided and the clock was set back; others are rejected. Returns how
   * many were taken.
   */
  add(batch: ReportBatch, at?: Time): number {
    this.#checkIdle("add");
    const { calendar, clock } = this.#settings;
    const day = calendar.dayAt(at === undefined ? clock() : parseTime("at", at));
    this.#tallies.checkKept(day);
    const near = [day.start, day.start - 1, day.end];
    const thetas = [...new Set(near.map((time) => this.#thetas.at(time)))];
    const { cells, rejected } = this.#read(batch, thetas);
    const { mechanism } = this.#channel(thetas[0]!);
    this.#tallies.add(
      day,
      thetas.map((theta, i) => ({ theta, cells: cells[i]! })),
      mechanism,
    );
    calendar.fix(day);
    this.#rejected = addRejections(this.#rejected, rejected);
    return cells.reduce((sum, { length }) => sum + length, 0);
  }

  /** The terms that devices report under today. The first call of a day chooses its θ, from the reports of the days before. */
  async terms(run: RunOptions = {}): Promise<LocalTerms> {
    pauses(run); // checks its options, whether or not there is work to do
    const { calendar, clock } = this.#settings;
    const day = calendar.dayAt(clock());
    while (!this.#thetas.isDecided(day)) {
      if (this.#deciding !== undefined) {
        await this.#deciding.catch(() => undefined); // of another caller, who may have stopped it
        continue;
      }
      this.#deciding = this.#decide(day, run).finally(() => (this.#deciding = undefined));
      await this.#deciding;
    }
    return { threshold: this.#thetas.at(day.start), until: day.end, chosen: this.#thetas.chosen };
  }

  /** Takes the terms of another aggregator that decides, for the day that ends with them. */
  follow(terms: LocalTerms): void {
    this.#checkIdle("follow");
    this.#thetas.follow(terms);
  }

  async #decide(day: Day, run: RunOptions): Promise<void> {
    const { follow, max } = this.#settings;
    const { theta, from } = this.#thetas.newest;
    const own = this.#tallies.all.filter(
      (tally) => tally.theta === theta && tally.day.start >= from && tally.day.start < day.start,
    );
    let found: number | undefined;
    if (follow && own.length > 0) {
      const newest = Math.max(...own.map((tally) => tally.day.start));
      const pool = (tallies: readonly DayTally[]): ReportCounts => pooled(tallies)[0]!;
      const followed = {
        theta,
        chosen: this.#thetas.chosen,
        all: pool(own),
        days: new Set(own.map((tally) => tally.day.start)).size,
        newest: pool(own.filter((tally) => tally.day.start === newest)),
      };
      found = await nextThreshold(this.#core, followed, this.#channel(theta).mechanism, max, run);
    }
    if (!this.#thetas.isDecided(day)) this.#thetas.decide(day, found);
  }

  /** Mean and sum over the days in [from, to), the running one included if the range reaches now. */
  between(from: Time, to: Time, options: BetweenOptions = {}): LocalAnswer {
    return this.#answers.between(from, to, options);
  }

  /** Mean and sum over the last days that have ended; on the first day, over what came so far. A multiple of "1d". */
  last(duration: Duration, options: BetweenOptions = {}): LocalAnswer {
    return this.#answers.last(duration, options);
  }

  /** One answer per "1d", "1w" (from Monday) or "1mo" that meets [from, to). */
  series(period: Period, from: Time, to: Time, options: BetweenOptions = {}): Series<LocalAnswer> {
    return this.#answers.series(period, from, to, options);
  }

  /** The p-quantile of the values, with an interval that covers. 0 < p < 1. */
  quantile(p: number, query: DistributionQuery = {}): Promise<DayQuantile> {
    return this.#answers.quantile(p, query);
  }

  /** The share of values below x, with an interval that covers. */
  cdf(x: number, query: DistributionQuery = {}): Promise<DayShare> {
    return this.#answers.cdf(x, query);
  }

  /** How the values are spread, with a band that holds as a whole. */
  histogram(query: DistributionQuery = {}): Promise<LocalHistogram> {
    return this.#answers.histogram(query);
  }

  /** All that was counted and decided, as public bytes for `merge`. */
  tally(): Uint8Array<ArrayBuffer> {
    const { epsilon, max, start, calendar } = this.#settings;
    return encodeDays({
      ...{ epsilon, max, start, zone: calendar.zone, rejected: this.#rejected },
      ...{ ...this.#thetas.known, tallies: this.#tallies.all },
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
    const known = this.#thetas.merged(given);
    const tallies = this.#tallies.merged(given.tallies);
    const rejected = addRejections(this.#rejected, given.rejected);
    for (const { day } of given.tallies) calendar.fix(day);
    if (given.decided !== undefined) calendar.fix(given.decided);
    this.#thetas.replace(known);
    this.#tallies.replace(tallies);
    this.#rejected = rejected;
  }

  /** The privacy statement for machines. */
  statement(): LocalStatement {
    const { clock, max } = this.#settings;
    const threshold = this.#thetas.at(clock());
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

  /**
   * Reads a batch before anything changes.
   * @param thetas that reports may have been made for
   */
  #read(batch: ReportBatch, thetas: readonly number[]) {
    const channels = thetas.map((theta) => this.#channel(theta));
    const wanted = channels.map(({ grid, mechanism }) => ({ grid, cells: mechanism.cells }));
    const stale = new Set(this.#thetas.all.map((theta) => this.#channel(theta).grid));
    this.#reading = true;
    try {
      return readReports(batch, wanted, stale);
    } finally {
      this.#reading = false;
    }
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
