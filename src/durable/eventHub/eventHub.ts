/**
 * Counts, sums, means and histograms of events, for many metrics and keys, in one durable hub.
 *
 *     add ─▶ batch ─▶ record of the log is stored ─▶ events are in their ticks ─▶ add resolves
 *     advance ─▶ record says which ticks are closed ─▶ they are published: between
 *
 * One store call for all events of a commit, whatever their metrics and keys (docs/events.md).
 */
import { checkText } from "../../core/checks.js";
import type { BetweenOptions, EventAnswer } from "../../events/answers.js";
import { parseTime, type Time } from "../../events/duration.js";
import type { HistogramAnswer, HistogramQuery } from "../../events/histogramAnswers.js";
import type { DroppedEvents, EventInfo } from "../../events/intake.js";
import type { AnyEvents } from "../../events/open.js";
import { explainEvents, type EventStatement } from "../../events/statement.js";
import { charge } from "../budget.js";
import { Batches } from "./batches.js";
import { HubState } from "./hubState.js";
import { type MetricState, templateOf } from "./metricState.js";
import type { EventHubSettings, HistogramMetric, Metric } from "./options.js";

/** Ticks of a metric that are published from now on. Public. */
export interface ClosedSpan {
  readonly metric: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

/** An event of `addMany`. */
export interface KeyedEvent extends EventInfo {
  readonly key: string;
  /** Left out where events are only counted. */
  readonly value?: number;
}

/** Counters that no event has a part in. */
export interface EventHubStats {
  /** Per metric: ticks closed so far, and ticks that are held out to choose θ. */
  readonly metrics: Readonly<Record<string, { readonly closed: number; readonly holdout: number }>>;
  /** Commits that another process was faster with; they were made again. */
  readonly conflicts: number;
}

type Answer<M> = M extends HistogramMetric ? HistogramAnswer : EventAnswer;
type Query<M> = M extends HistogramMetric ? HistogramQuery : BetweenOptions;

export class EventHub<M extends Record<string, Metric> = Record<string, Metric>> {
  readonly #settings: EventHubSettings;
  readonly #batches: Batches;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed: Promise<void> | undefined;

  constructor(settings: EventHubSettings) {
    this.#settings = settings;
    for (const metric of settings.metrics.values()) templateOf(metric); // wrong options fail here
    this.#batches = new Batches(() => this.#open(), settings.commitEvery, settings.store !== undefined);
  }

  /**
   * Takes an event; resolves when it is stored. It says nothing about what happens to the event. Await many of them
   * together: they share a commit. If it rejects with `retryable: true`, nothing was stored: add the event again. If it
   * rejects with `code: "in-doubt"`, the store failed, and adding the event again may count it twice.
   * @param value has no effect where events are only counted
   */
  add(metric: keyof M & string, key: string, value?: number, event?: EventInfo): Promise<void> {
    return this.#add(metric, (of) => [of.entryOf(checkText("key", key), value, event)]);
  }

  /** Takes all these events, or none if one of them makes no sense. */
  addMany(metric: keyof M & string, events: readonly KeyedEvent[]): Promise<void> {
    if (!Array.isArray(events))
      return Promise.reject(new TypeError(`events: expected an array, got a value of type ${typeof events}`));
    return this.#add(metric, (of) =>
      Array.from(events, (event: KeyedEvent) => {
        if (typeof event !== "object" || (event as unknown) === null)
          throw new TypeError("event: expected an object with a key");
        const value = Object.hasOwn(event, "value") ? event.value : undefined;
        return of.entryOf(checkText("key", Object.hasOwn(event, "key") && event.key), value, event);
      }),
    );
  }

  /** Closes the ticks of all metrics that are due at `now` (default: the clock) and says which ones these are. */
  async advance(now?: Time): Promise<ClosedSpan[]> {
    this.#checkOpen();
    const time = now === undefined ? this.#settings.clock() : parseTime("now", now);
    const state = await this.#batches.state();
    for (const metric of state.metrics.values()) metric.due(time); // a clock that makes no sense fails here
    return this.#batches.close(time);
  }

  /**
   * Closes ticks whenever they are due, by the clock, until the hub is closed.
   * @param onClosed is told which ticks are published
   * @param onError is told what went wrong; the next try comes with the next tick
   */
  start(
    onClosed: (closed: readonly ClosedSpan[]) => void = () => undefined,
    onError: (error: unknown) => void = rethrow,
  ): void {
    this.#checkOpen();
    clearTimeout(this.#timer);
    const settings = [...this.#settings.metrics.values()].map(
      (metric) => templateOf(metric).settings.schedule,
    );
    const next = (): void => {
      const now = this.#settings.clock();
      // The next moment at which some tick is due; a millisecond later it surely is.
      const wait =
        Math.min(
          ...settings.map(({ every, lateness }) => every - ((((now - lateness) % every) + every) % every)),
        ) + 1;
      this.#timer = setTimeout(
        () =>
          void this.advance()
            .then(onClosed)
            .catch(onError)
            .finally(() => this.#closed ?? next()),
        Math.min(wait, 2 ** 30),
      );
      (this.#timer as { unref?: () => void }).unref?.();
    };
    next();
  }

  /** The answer over [from, to) for one key. Parts that are not published, or no longer kept, are left out: `complete`. */
  async between<N extends keyof M & string>(
    metric: N,
    key: string,
    from: Time,
    to: Time,
    query?: Query<M[N]>,
  ): Promise<Answer<M[N]>> {
    const stream = await this.#stream(metric, key);
    if (stream === undefined) throw this.#holdingOut(await this.#metric(metric));
    return stream.between(from, to, query) as Answer<M[N]>;
  }

  /** The privacy statement of one key. An event counts for one key, so ε holds for all keys of the metric together. */
  async statement(metric: keyof M & string, key: string): Promise<EventStatement> {
    const stream = await this.#stream(metric, key);
    const of = await this.#metric(metric);
    const template = templateOf(this.#settings.metrics.get(metric)!);
    const own = (stream ?? template.make(of.ownOf(key), new Uint32Array(8))).statement();
    const composition = `${of.holdout === undefined ? own.composition : SHARED} ${KEYS}`;
    return { ...own, holdoutTicks: own.holdoutTicks + (stream === undefined ? 0 : of.held), composition };
  }

  async explain(metric: keyof M & string, key: string): Promise<string> {
    return explainEvents(await this.statement(metric, key));
  }

  /** The keys of a metric, if they were given as a list. */
  keys(metric: keyof M & string): readonly string[] {
    const list = this.#settings.metrics.get(metric)?.keys.list;
    if (list === undefined)
      throw new RangeError(
        `keys: expected a metric whose keys were given as a list, got ${JSON.stringify(String(metric).slice(0, 40))}`,
      );
    return list;
  }

  /** Public counters. */
  async stats(): Promise<EventHubStats> {
    const state = await this.#batches.state();
    const metrics = [...state.metrics.values()].map(
      ({ name, closed, held }) => [name, { closed, holdout: held }] as const,
    );
    return { metrics: Object.fromEntries(metrics), conflicts: this.#batches.conflicts };
  }

  /** Private: events that were dropped since the process began, and why. For the operator's eyes. */
  async dropped(metric: keyof M & string): Promise<DroppedEvents> {
    return (await this.#metric(metric)).dropped;
  }

  /** The number of the newest record: what `atLeast` takes when the hub is opened again. */
  async sequence(): Promise<number> {
    return (await this.#batches.state()).position;
  }

  /** Stores everything and ends this hub; another one on the same store resumes. */
  close(): Promise<void> {
    clearTimeout(this.#timer);
    return (this.#closed ??= this.#batches.end());
  }

  async #open(): Promise<HubState> {
    const { budget, name, metrics } = this.#settings;
    const state = await HubState.open(this.#settings);
    for (const [metric, settings] of metrics) {
      const release = templateOf(settings).make({ name: metric, origin: 0 }, new Uint32Array(8)).statement();
      await charge(budget, `${name}/${metric}`, release);
    }
    return state;
  }

  async #add(metric: string, read: (of: MetricState) => ReturnType<MetricState["entryOf"]>[]): Promise<void> {
    this.#checkOpen();
    const state = this.#batches.ready ?? (await this.#batches.state());
    const of = state.metric(metric);
    return this.#batches.add(of.taken(read(of)));
  }

  async #metric(name: string): Promise<MetricState> {
    this.#checkOpen();
    return (await this.#batches.state()).metric(name);
  }

  /** The stream of a key; undefined while θ is being chosen for all of them. */
  async #stream(metric: string, key: string): Promise<AnyEvents | undefined> {
    this.#checkOpen();
    const state = await this.#batches.state();
    const of = state.metric(metric);
    if (!of.keys.has(checkText("key", key)))
      throw new RangeError(
        `key: expected one of the keys of metric ${metric}, got ${JSON.stringify(key.slice(0, 100))}`,
      );
    await state.ensure(of, key);
    return of.stream(key);
  }

  #holdingOut({ name, closed, held }: MetricState): RangeError {
    return new RangeError(
      `between: nothing of metric ${name} is published yet; holding out: ${closed} of ${held} ticks`,
    );
  }

  #checkOpen(): void {
    this.#settings.store?.checkOutside();
    if (this.#closed !== undefined)
      throw new Error("hub: expected an open hub, got a closed one; make another one on the same store");
  }
}

const KEYS = "An event counts for one key, and keys are known in advance: ε holds for all keys together.";
const SHARED =
  "The first ticks, over all keys, choose θ and are not published; ticks of the keys come after them, and forests are disjoint: ε in all.";

function rethrow(error: unknown): never {
  throw error;
}
