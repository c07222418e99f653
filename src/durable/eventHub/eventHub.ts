/**
 * Counts, sums, means and histograms of events, for many metrics and keys, in one durable hub.
 *
 *     add ─▶ waiting ─▶ row of the journal is stored ─▶ events are in their periods ─▶ add resolves
 *     advance ─▶ row says when periods are closed ─▶ they are published: between, last, series
 *
 * One store call for all events of a commit, whatever their metrics and keys (docs/people-and-keys.md).
 */
import { DAY } from "../../events/days/calendar.js";
import { checkText } from "../../core/checks.js";
import { didYouMean } from "../../core/nearest.js";
import {
  type BetweenOptions,
  blankAnswer,
  confidenceOf,
  type EventAnswer,
  eventAnswer,
  eventsIn,
  type Period,
  type Series,
} from "../../events/answer/answers.js";
import { type Duration, parseTime, type Time } from "../../events/days/duration.js";
import type { DroppedEvents, EventInfo } from "../../events/eventInfo.js";
import {
  blankHistogram,
  checkQuery,
  type HistogramAnswer,
  histogramAnswer,
  type HistogramQuery,
} from "../../events/answer/histogramAnswers.js";
import { lastRange, parseRange, type Range, seriesPieces } from "../../events/answer/queries.js";
import type { Published } from "../../events/release.js";
import { type EventStatement, eventStatement, explainEvents } from "../../events/statement.js";
import { Beat } from "./beat.js";
import { CommitQueue } from "./commitQueue.js";
import type { EventHubSettings, HistogramMetric, Metric } from "./eventHubOptions.js";
import type { ClosedSpan, HubMetric } from "./hubMetric.js";
import type { HubState } from "./hubState.js";
import { openHubState } from "./openHubState.js";
import type { RequestId } from "./requestIds.js";
import {
  entriesOf,
  type SubmittedEvent,
  entryOf,
  type KeyedEvent,
  type MetricEvent,
  reportsOf,
  requestOf,
  type SectionReports,
} from "./submissions.js";
import { Turns } from "../turns.js";

/** Counters. What is not marked as private has no event in it. */
export interface EventHubStats {
  /** Per metric: the time up to which it is closed, and whether θ is still being chosen. */
  readonly metrics: Readonly<Record<string, { readonly closedTo: number; readonly holdingOut: boolean }>>;
  /** The newest time at which the hub was opened, or told to close periods. */
  readonly told: number;
  /** Private: parts of closed days that wait for their place in the store. Each commit stores some, so it tells of commits. */
  readonly unstored: number;
  /** Private: commits that another process was faster with, and that were made again. */
  readonly conflicts: number;
}

/** The keys of a metric, if its options list them as literals; any string otherwise. */
type KeyOf<M> = M extends { readonly keys: readonly (infer K extends string)[] } ? K : string;
/** A key as it is given: any string, but of literals those alone that are listed, so that a misspelt one does not compile. */
type Key<S extends string, M> = S &
  (string extends S ? unknown : S extends KeyOf<M> ? unknown : { readonly expectedOneOf: KeyOf<M> });

type Answer<M> = M extends HistogramMetric ? HistogramAnswer : EventAnswer;
type Query<M> = M extends HistogramMetric ? HistogramQuery : BetweenOptions;

/** Milliseconds of a series before other work gets its turn. */
const SLICE = 4;

export class EventHub<M extends Record<string, Metric> = Record<string, Metric>> {
  readonly #settings: EventHubSettings;
  readonly #queue: CommitQueue;
  readonly #turns = new Turns();
  readonly #beat: Beat;
  #closed: Promise<void> | undefined;

  constructor(settings: EventHubSettings) {
    this.#settings = settings;
    const charged = new Set<string>();
    this.#queue = new CommitQueue({
      open: (began, fence) => openHubState(settings, charged, began, fence),
      every: settings.commitEvery,
      stored: settings.store !== undefined,
      exclusive: settings.exclusive,
      most: settings.waiting,
      clock: settings.clock,
      onPublished: settings.onPublished,
    });
    this.#beat = new Beat(settings, this.#queue, () => this.advance());
    // At once: if the first event opened the hub, it would decide which periods were missed. The next call has the error.
    void this.#queue.state();
  }

  /**
   * Takes an event; resolves when it is stored. It says nothing about what happens to the event. Await many of them
   * together: they share a commit. If it rejects with `retryable: true`, nothing was stored: add the event again. If it
   * rejects with `code: "in-doubt"`, the store failed, and adding the event again may count it twice.
   * @param value has no effect where events are only counted
   */
  add<N extends keyof M & string, const S extends string>(
    metric: N,
    key: Key<S, M[N]>,
    value?: number,
    event?: EventInfo,
  ): Promise<void> {
    return this.#submit((state) => [entryOf(state, metric, key, value, event)]);
  }

  /**
   * Takes all these events, or none if any of them is invalid.
   * @param request an id under which they count once, however often they are sent
   */
  addMany(metric: keyof M & string, events: readonly KeyedEvent[], request?: RequestId): Promise<void> {
    return this.#submitAll(events, request, () => metric);
  }

  /**
   * Takes all these events, of any metrics, or none if any of them is invalid.
   * @param reports for a section of the hub, stored in the same commit
   */
  addAll(events: readonly MetricEvent[], request?: RequestId, reports?: SectionReports): Promise<void> {
    return this.#submitAll(
      events,
      request,
      (event) => checkText("metric", Object.hasOwn(event, "metric") && event.metric),
      reports,
    );
  }

  #submitAll<E extends KeyedEvent>(
    events: readonly E[],
    request: RequestId | undefined,
    metricOf: (event: E) => string,
    reports?: SectionReports,
  ): Promise<void> {
    if (!Array.isArray(events))
      return Promise.reject(new TypeError(`events: expected an array, got a value of type ${typeof events}`));
    return this.#submit((state) => entriesOf(state, events, metricOf), request, reports);
  }

  /** Takes reports of devices, 8 bytes each, for a section of the hub; resolves when they are stored. */
  report(section: string, reports: readonly Uint8Array[], request?: RequestId): Promise<void> {
    return this.#submit(() => [], request, { section, reports });
  }

  /**
   * Ends a past that was filled from a log: all periods that end by `to` are closed, whatever their lateness, and those that
   * began before `now` have no number. From then on the hub goes by the present.
   * @param reports for a section, stored with the second of the two commits
   */
  async endPast(to: Time, now: Time, reports?: SectionReports): Promise<void> {
    this.#checkOpen();
    const [until, present] = [parseTime("to", to), parseTime("now", now)];
    const none = { entries: [], request: undefined };
    const state = await this.#queue.state();
    const own = reports === undefined ? [] : reportsOf(state, reports);
    // Times that make no sense fail here: a row that is stored is acted on at every opening.
    for (const { events: metric, settings } of state.metrics.values()) {
      metric.due(until + settings.schedule.lateness);
      metric.periodFrom(present);
    }
    // In two commits: a lane of a replay that takes up the clock of the moment at which θ was chosen covers all of its row.
    await this.#queue.add({ ...none, reports: [], past: { to: until, now: NaN } });
    await this.#queue.add({ ...none, reports: own, past: { to: NaN, now: present } });
  }

  /**
   * Closes the periods of all metrics that are due at `now` (default: the clock) and says which ones these are. Where votes
   * make keys public, give no time before the clock: the first day of a found key would miss events that have come already.
   */
  async advance(now?: Time): Promise<readonly ClosedSpan[]> {
    this.#checkOpen();
    const time = now === undefined ? this.#settings.clock() : parseTime("now", now);
    const state = await this.#queue.state();
    for (const { events: metric } of state.metrics.values()) metric.due(time); // a clock that makes no sense fails here
    return this.#queue.close(time);
  }

  /**
   * Closes periods whenever they are due, by the clock, until the hub is closed. Numbers come 250 ms after their time, in a
   * commit of their own that no event delays.
   * @param onClosed is told which periods are published
   * @param onError is told what went wrong; the next try comes with the next period
   */
  start(onClosed?: (closed: readonly ClosedSpan[]) => void, onError?: (error: unknown) => void): void {
    this.#checkOpen();
    this.#beat.start(onClosed, onError);
  }

  /** The answer for one key from the whole periods in [from, to) that have ended: its own `from` and `to` say which. */
  async between<N extends keyof M & string, const S extends string>(
    metric: N,
    key: Key<S, M[N]>,
    from: Time,
    to: Time,
    query?: Query<M[N]>,
  ): Promise<Answer<M[N]>> {
    const range = parseRange(from, to);
    return this.#ask(
      metric,
      key,
      query,
      () => range,
      (answer) => answer(range),
    ) as Promise<Answer<M[N]>>;
  }

  /** The newest range of exactly this length that ends with a published period, for one key. */
  async last<N extends keyof M & string, const S extends string>(
    metric: N,
    key: Key<S, M[N]>,
    duration: Duration,
    query?: Query<M[N]>,
  ): Promise<Answer<M[N]>> {
    const rangeOf = ({ events: own }: HubMetric): Range => lastRange(own, duration);
    return this.#ask(metric, key, query, rangeOf, (answer, of) => ({
      ...answer(rangeOf(of)),
      next: of.events.nextNumber(of.events.next, Infinity),
    })) as Promise<Answer<M[N]>>;
  }

  /** One answer per calendar period of [from, to) for one key, for charts. */
  async series<N extends keyof M & string, const S extends string>(
    metric: N,
    key: Key<S, M[N]>,
    period: Period,
    from: Time,
    to: Time,
    query?: Query<M[N]>,
  ): Promise<Series<Answer<M[N]>>> {
    const range = parseRange(from, to);
    // Periods at the ends may reach out of the range, by up to a month.
    const wide = ({ settings }: HubMetric): Range => {
      const over = settings.distinct?.over ?? "1d";
      const longest = over === "1d" ? period : over;
      const reach = longest === "1mo" ? 32 * DAY : longest === "1w" ? 8 * DAY : 2 * DAY;
      return [range[0] - reach, range[1] + reach];
    };
    return this.#ask(
      metric,
      key,
      query,
      wide,
      (answer, of) => {
        const pieces = seriesPieces(of.events, period, range, {
          answer,
          blank: (found, own) => ("counts" in found ? blankHistogram(found, own) : blankAnswer(found, own)),
          events: (found) => ("counts" in found ? (found.total?.value ?? 0) : eventsIn(of.events, found)),
        });
        return this.#turns.finish(pieces, SLICE);
      },
      !["1d", "1w", "1mo"].includes(String(period)),
    ) as unknown as Promise<Series<Answer<M[N]>>>;
  }

  async #ask<T>(
    name: string,
    key: string,
    query: HistogramQuery | undefined,
    rangeOf: (of: HubMetric) => Range,
    make: (answer: (range: Range) => EventAnswer | HistogramAnswer, of: HubMetric) => T | Promise<T>,
    parts = false,
  ): Promise<T> {
    const { state, metric } = await this.#metricOf(name, key);
    const checked =
      metric.settings.of === "histogram"
        ? checkQuery(query ?? {})
        : { confidence: confidenceOf(query ?? {}) };
    for (;;) {
      await this.#turns.next();
      const { start } = metric.events.day;
      const published = await metric.published(state.journal, key, rangeOf(metric), parts);
      const made = await make((range) => answerOf(metric, published, range, checked), metric);
      if (metric.events.day.start === start) return made; // else a day ended meanwhile, and has left what was read
    }
  }

  /** The privacy statement of a metric. An event counts for one key, so ε holds for all keys together. */
  async statement<N extends keyof M & string, const S extends string>(
    metric: N,
    key: Key<S, M[N]>,
  ): Promise<EventStatement> {
    const found = await this.#metricOf(metric, key);
    const own = eventStatement(found.metric.events);
    return { ...own, composition: `${own.composition} ${own.discovery === null ? KEYS : FOUND_KEYS}` };
  }

  /** The privacy statement of a metric for people, as a short text. */
  async explain<N extends keyof M & string, const S extends string>(
    metric: N,
    key: Key<S, M[N]>,
  ): Promise<string> {
    return explainEvents(await this.statement(metric, key));
  }

  /** The keys of a metric that are public: its list, or those that were listed or found, and then "(other)". */
  async keys(metric: keyof M & string): Promise<readonly string[]> {
    const settings = this.#settings.metrics.get(metric);
    if (settings?.events.discovery !== undefined) {
      const { discovered, events: own } = (await this.#queue.state()).metric(metric);
      return discovered!.publicFrom(own.day.start);
    }
    const list = settings?.keys.list;
    if (list === undefined)
      throw new RangeError(
        `keys: expected a metric whose keys were given as a list, got ${JSON.stringify(String(metric).slice(0, 40))}`,
      );
    return list;
  }

  /** Counters: public ones, and private ones that move with commits. */
  async stats(): Promise<EventHubStats> {
    const state = await this.#queue.state();
    const metrics = [...state.metrics.values()].map(
      ({ name, events: metric }) =>
        [name, { closedTo: metric.next, holdingOut: Number.isNaN(metric.units) }] as const,
    );
    const unstored = [...state.metrics.values()].reduce(
      (sum, { closedDays }) => sum + closedDays.unstored,
      0,
    );
    return {
      metrics: Object.fromEntries(metrics),
      told: state.told,
      unstored,
      conflicts: this.#queue.conflicts,
    };
  }

  /** Private: events that were dropped, and why. For the operator's eyes. */
  async dropped(metric: keyof M & string): Promise<DroppedEvents> {
    this.#checkOpen();
    return (await this.#queue.state()).metric(metric).events.intake.dropped;
  }

  /**
   * The number of the newest row: what `atLeast` takes when the hub is opened again. Private: it moves with every commit, so
   * it tells when events came.
   */
  async sequence(): Promise<number> {
    return (await this.#queue.state()).position;
  }

  /** Whether another process has written to the store since this one did: the next call finds the same out. */
  async isOvertaken(): Promise<boolean> {
    return (await this.#queue.state()).journal.isOvertaken();
  }

  /** Stores everything and ends this hub; another one on the same store resumes. */
  close(): Promise<void> {
    this.#beat.stop();
    return (this.#closed ??= this.#queue.end());
  }

  async #submit(
    read: (state: HubState) => SubmittedEvent[],
    request?: RequestId,
    reports?: SectionReports,
  ): Promise<void> {
    this.#checkOpen();
    const state = this.#queue.ready ?? (await this.#queue.state());
    const own = reports === undefined ? [] : reportsOf(state, reports);
    return this.#queue.add({ entries: read(state), reports: own, request: requestOf(request) });
  }

  async #metricOf(
    name: string,
    key: string,
  ): Promise<{ readonly state: HubState; readonly metric: HubMetric }> {
    this.#checkOpen();
    const state = await this.#queue.state();
    const metric = state.metric(name);
    checkText("key", key);
    const { keys } = this.#settings.metrics.get(name)!;
    if (!(metric.discovered?.isKnown(key) ?? keys.has(key))) {
      const asked = key.slice(0, 100);
      const meant = didYouMean(asked, (keys.list ?? []).slice(0, MOST_NAMES));
      throw new RangeError(
        `key: expected one of the keys of metric ${name}, got ${JSON.stringify(asked)}${meant}`,
      );
    }
    await state.ready(metric, key);
    return { state, metric };
  }

  #checkOpen(): void {
    this.#settings.store?.checkOutside();
    if (this.#closed !== undefined)
      throw new Error("hub: expected an open hub, got a closed one; make another one on the same store");
  }
}

/** Keys among which the one that was meant is looked for. */
const MOST_NAMES = 1000;
export const KEYS =
  "An event counts for one key, and keys are known in advance: ε holds for all keys together.";

export const FOUND_KEYS =
  "An event counts for one key, or for all keys that are not public: ε holds for all of them together.";

function answerOf(
  { events: metric }: HubMetric,
  published: Published | undefined,
  range: Range,
  query: HistogramQuery,
): EventAnswer | HistogramAnswer {
  return metric.settings.of === "histogram"
    ? histogramAnswer(metric, published, range, query as Required<HistogramQuery>)
    : eventAnswer(metric, published, range, query.confidence!);
}
