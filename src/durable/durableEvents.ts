/**
 * Streams of events that survive a restart. An event is acknowledged after it is stored, and a number is published after the
 * periods behind it are: `add` and `advance` resolve then. Await many of them together; they share a commit.
 */
import type { Counter, EventStream } from "../events/answer/answers.js";
import type { Time } from "../events/days/duration.js";
import type { DroppedEvents } from "../events/eventInfo.js";
import type { Histogram } from "../events/answer/histogramAnswers.js";
import type { AnyEvents } from "../events/kinds.js";
import type { EventStatement } from "../events/statement.js";
import { Durable } from "./durable.js";
import type { WithSnapshots } from "./withSnapshots.js";

type Kind = EventStream | Counter | Histogram;

/** A stream of events, a counter or a histogram whose answers come after its state is stored. */
export class DurableEvents<T extends Kind> extends Durable<WithSnapshots<AnyEvents>> {
  /** Takes an event; resolves when it is stored. */
  add(...event: Parameters<T["add"]>): Promise<void> {
    return this.#ask((events) => (events as { add(...event: unknown[]): void }).add(...event), true);
  }

  /** Closes the periods that are due, stores that they are closed, and gives their answers. */
  advance(now?: Time): Promise<ReturnType<T["advance"]>> {
    return this.#ask((events) => events.advance(now) as ReturnType<T["advance"]>, true);
  }

  between(...range: Parameters<T["between"]>): Promise<ReturnType<T["between"]>> {
    const [from, to, options] = range as Parameters<Histogram["between"]>;
    return this.#ask(
      (events) => (events as Kind as Histogram).between(from, to, options) as ReturnType<T["between"]>,
    );
  }

  last(...asked: Parameters<T["last"]>): Promise<ReturnType<T["last"]>> {
    const [duration, options] = asked as Parameters<Histogram["last"]>;
    return this.#ask(
      (events) => (events as Kind as Histogram).last(duration, options) as ReturnType<T["last"]>,
    );
  }

  series(...asked: Parameters<T["series"]>): Promise<ReturnType<T["series"]>> {
    const [period, from, to, options] = asked as Parameters<Histogram["series"]>;
    return this.#ask(
      (events) => (events as Kind as Histogram).series(period, from, to, options) as ReturnType<T["series"]>,
    );
  }

  /** Private: how many events were dropped, and why. For the operator's eyes. */
  get dropped(): DroppedEvents {
    return this.stream.inner.dropped;
  }

  statement(): Promise<EventStatement> {
    return this.#ask((events) => events.statement());
  }

  explain(): Promise<string> {
    return this.#ask((events) => events.explain());
  }

  #ask<A>(ask: (events: AnyEvents) => A, changes = false): Promise<A> {
    return this.answer(({ inner }) => ask(inner), changes);
  }
}
