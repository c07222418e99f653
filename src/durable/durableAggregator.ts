/**
 * An aggregator of a store: a restart keeps its reports and its θ. A report is acknowledged, an answer given and θ told after the
 * state behind them is stored, as for streams (durableStream.ts).
 */
import type { BetweenOptions, Period, Series } from "../events/answer/answers.js";
import type { Duration, Time } from "../events/days/duration.js";
import type { Aggregator } from "../local/aggregator.js";
import { type AggregatorOptions, localSettings } from "../local/aggregatorOptions.js";
import type { DistributionQuery } from "../local/dayAnswers.js";
import type { RunOptions } from "../local/em.js";
import type { RejectedCounts, ReportBatch } from "../local/intake.js";
import type { LocalAnswer } from "../local/localAnswer.js";
import type { DayQuantile, DayShare, LocalHistogram } from "../local/localDistribution.js";
import type { LocalStatement } from "../local/localStatement.js";
import type { LocalTerms } from "../local/thetas.js";
import type { Parameters } from "../snapshot/snapshot.js";
import { Durable } from "./durable.js";
import type { WithSnapshots } from "./withSnapshots.js";

/** Parameters that a snapshot of an aggregator is bound to. */
export function aggregatorParameters(name: string, options: AggregatorOptions): Parameters {
  const { epsilon, max, start, calendar } = localSettings(options);
  const bound = { epsilon: String(epsilon), max: String(max), start: String(start), zone: calendar.zone };
  return { kind: "aggregator of days", name, ...bound };
}

/** A durable aggregator, made by `openAggregator`: each call resolves after its state is stored. */
export class DurableAggregator extends Durable<WithSnapshots<Aggregator>> {
  /** End of the newest day whose θ is stored. */
  #told: number | undefined;

  /** Reports counted so far, of all days that are kept. */
  get reports(): number {
    return this.stream.inner.reports;
  }

  /** Reports rejected so far, by reason. */
  get rejected(): Readonly<RejectedCounts> {
    return this.stream.inner.rejected;
  }

  /** Takes reports that arrived at a time; resolves to how many were taken when they are stored. */
  add(batch: ReportBatch, at?: Time): Promise<number> {
    return this.#ask((aggregator) => aggregator.add(batch, at), true);
  }

  /** The terms that devices report under today. θ is stored before it is told: every restart has the same one. */
  async terms(run?: RunOptions): Promise<LocalTerms> {
    const terms = await this.stream.inner.terms(run);
    const told = await this.#ask(() => terms, terms.until !== this.#told);
    this.#told = terms.until;
    return told;
  }

  /** Takes the terms of another aggregator that decides; resolves when they are stored. */
  follow(terms: LocalTerms): Promise<void> {
    return this.#ask((aggregator) => aggregator.follow(terms), true);
  }

  /** Mean and sum over the whole days in [from, to), with an interval. */
  between(from: Time, to: Time, options?: BetweenOptions): Promise<LocalAnswer> {
    return this.#ask((aggregator) => aggregator.between(from, to, options));
  }

  /** Mean and sum over the last days, today included. */
  last(duration: Duration, options?: BetweenOptions): Promise<LocalAnswer> {
    return this.#ask((aggregator) => aggregator.last(duration, options));
  }

  /** One answer per day, week or month of [from, to), for charts. */
  series(period: Period, from: Time, to: Time, options?: BetweenOptions): Promise<Series<LocalAnswer>> {
    return this.#ask((aggregator) => aggregator.series(period, from, to, options));
  }

  /** A percentile of the values, with an interval. */
  async quantile(p: number, query?: DistributionQuery): Promise<DayQuantile> {
    return this.#stored(await this.stream.inner.quantile(p, query));
  }

  /** The share of values below x, with an interval. */
  async cdf(x: number, query?: DistributionQuery): Promise<DayShare> {
    return this.#stored(await this.stream.inner.cdf(x, query));
  }

  /** Shares of values per bin, with a band that holds as a whole. */
  async histogram(query?: DistributionQuery): Promise<LocalHistogram> {
    return this.#stored(await this.stream.inner.histogram(query));
  }

  /** Adds the tally of another aggregator; resolves when it is stored. */
  merge(other: Aggregator | DurableAggregator | Uint8Array): Promise<void> {
    const tally = other instanceof DurableAggregator ? other.stream.inner : other;
    return this.#ask((aggregator) => aggregator.merge(tally), true);
  }

  /** All that was counted and stored, for the `merge` of others. */
  tally(): Promise<Uint8Array> {
    return this.#ask((aggregator) => aggregator.tally());
  }

  /** The privacy statement for machines. */
  statement(): Promise<LocalStatement> {
    return this.#ask((aggregator) => aggregator.statement());
  }

  /** The privacy statement for people, as a short text. */
  explain(): Promise<string> {
    return this.#ask((aggregator) => aggregator.explain());
  }

  #ask<A>(ask: (aggregator: Aggregator) => A, changes = false): Promise<A> {
    return this.answer(({ inner }) => ask(inner), changes);
  }

  /** Gives an answer once the reports behind it are stored. */
  #stored<A>(answer: A): Promise<A> {
    return this.#ask(() => answer);
  }
}
