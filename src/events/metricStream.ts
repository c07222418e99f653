/**
 * Publishes sums, counts or means of events, period by period of a calendar, under differential privacy for one event, added
 * or removed, or for one person's day.
 */
import { refuseReentry } from "../core/checks.js";
import type { NoiseCore } from "../core/core.js";
import { Purpose } from "../core/random.js";
import type { Decoder } from "../snapshot/codec.js";
import type { SnapshotKey } from "../snapshot/streamCipher.js";
import {
  type BetweenOptions,
  blankAnswer,
  confidenceOf,
  type Counter,
  type EventAnswer,
  eventAnswer,
  eventsIn,
  type EventStream,
  type Period,
  type PeriodStream,
  type Series,
} from "./answer/answers.js";
import { derivedKey } from "./derivedKey.js";
import { type Duration, parseTime, type Time } from "./days/duration.js";
import type { DroppedEvents, EventInfo } from "./eventInfo.js";
import { EventMetric } from "./eventMetric.js";
import { eventParameters, type EventSettings } from "./eventSettings.js";
import { lastRange, parseRange, type Range, seriesOf } from "./answer/queries.js";
import type { Release } from "./release.js";
import { Snapshots, type Snapshotted } from "./snapshots.js";
import { type EventStatement, eventStatement, explainEvents } from "./statement.js";

/** The one key of a stream. */
const OWN = "";

/** A metric with one key. */
export abstract class MetricStream<
  A extends EventAnswer | { complete: boolean; from: number; to: number },
  Q extends object,
>
  implements PeriodStream<A, Q>, Snapshotted
{
  readonly snapshots: Snapshots;
  protected readonly metric: EventMetric;
  readonly #key: Uint32Array;
  /** A caller's code runs: the clock, or a getter of an event. */
  #busy = false;
  /** Periods that were closed by a call of `advance` that failed later: the next call gives their answers. */
  #closed: Range[] = [];

  constructor(settings: EventSettings, core: NoiseCore, key: Uint32Array, began: number) {
    this.#key = key;
    const keys = { people: derivedKey(core, key, Purpose.people, 4), own: key, release: () => key };
    this.metric = new EventMetric(settings, core, keys, began, [OWN]);
    this.snapshots = new Snapshots(
      () => eventParameters(settings),
      (writer) => {
        writer.words(this.#key);
        this.metric.save(writer);
      },
    );
  }

  /** The answer over a range of time. */
  protected abstract answer(range: Range, query: Q): A;
  /** An answer without numbers, for a period that has none. */
  protected abstract blank(answer: A, range: Range): A;
  /** How many events an answer is about, as published. */
  protected abstract events(answer: A): number;
  protected abstract check(query: Q): Q;

  protected get release(): Release | undefined {
    return this.metric.release(OWN);
  }

  get dropped(): DroppedEvents {
    return this.metric.intake.dropped;
  }

  get sequence(): number {
    return this.snapshots.sequence;
  }

  /** Takes an event; only counted if the stream has no values. */
  protected take(value: number, event: EventInfo | undefined): void {
    if (this.#busy) refuseReentry();
    // Not `#alone`: a closure per event would cost as much as the rest.
    this.#busy = true;
    try {
      this.metric.add(OWN, value, event);
    } finally {
      this.#busy = false;
    }
  }

  advance(now?: Time): A[] {
    const time =
      now === undefined ? this.#alone(() => this.metric.settings.schedule.clock()) : parseTime("now", now);
    if (this.#busy) refuseReentry();
    const until = this.metric.due(time);
    const query = this.check({} as Q);
    for (let period; (period = this.metric.closeNext(until, time)) !== undefined;)
      if (period !== "held") this.#closed.push([period.from, period.to]);
    const answers = this.#closed.map((range) => this.answer(range, query));
    this.#closed = [];
    return answers;
  }

  between(from: Time, to: Time, options: Q = {} as Q): A {
    return this.answer(parseRange(from, to), this.check(options));
  }

  last(duration: Duration, options: Q = {} as Q): A {
    const answer = this.answer(lastRange(this.metric, duration), this.check(options));
    return { ...answer, next: this.metric.nextNumber(this.metric.next, Infinity) };
  }

  series(period: Period, from: Time, to: Time, options: Q = {} as Q): Series<A> {
    const query = this.check(options);
    return seriesOf(this.metric, period, parseRange(from, to), {
      answer: (range) => this.answer(range, query),
      blank: (answer, range) => this.blank(answer, range),
      events: (answer) => this.events(answer),
    });
  }

  statement(): EventStatement {
    return eventStatement(this.metric);
  }

  explain(): string {
    return explainEvents(this.statement());
  }

  snapshot(key: SnapshotKey): Promise<Uint8Array> {
    return this.snapshots.take(key);
  }

  load(state: Decoder): void {
    this.metric.load(state);
  }

  /** Passes over the periods that ended while no process had the stream. */
  resume(): void {
    const { clock, lateness } = this.metric.settings.schedule;
    const now = clock();
    this.metric.miss(now - lateness, now);
  }

  /** Runs code of the caller: a call from inside it on this stream is refused. */
  #alone<T>(run: () => T): T {
    if (this.#busy) refuseReentry();
    this.#busy = true;
    try {
      return run();
    } finally {
      this.#busy = false;
    }
  }
}

abstract class NumberStream extends MetricStream<EventAnswer, BetweenOptions> {
  protected answer(range: Range, query: BetweenOptions): EventAnswer {
    return eventAnswer(this.metric, this.release, range, query.confidence!);
  }

  protected blank(answer: EventAnswer, range: Range): EventAnswer {
    return blankAnswer(answer, range);
  }

  protected events(answer: EventAnswer): number {
    return eventsIn(this.metric, answer);
  }

  protected check(query: BetweenOptions): BetweenOptions {
    return { confidence: confidenceOf(query) };
  }
}

/** A stream of events with values. */
export class ValueEvents extends NumberStream implements EventStream {
  add(value: number, event?: EventInfo): void {
    this.take(value, event);
  }
}

/** A stream of events that are only counted. */
export class CountedEvents extends NumberStream implements Counter {
  add(event?: EventInfo): void {
    this.take(1, event);
  }
}
