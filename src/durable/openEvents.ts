/**
 * Opens streams of a store, those of events too. An event is acknowledged after it is stored, and a number is published
 * after the periods behind it are: `add` and `advance` resolve then. Await many of them together; they share a commit.
 */
import { checkInteger, checkText, ownOptions } from "../core/checks.js";
import { given } from "../core/given.js";
import type { Counter, EventStream } from "../events/answers.js";
import type { Time } from "../events/duration.js";
import type { Histogram } from "../events/histogramAnswers.js";
import type { DroppedEvents } from "../events/eventInfo.js";
import { type AnyEvents, beginEvents, type CounterOptions, isEvents, restoreEvents } from "../events/open.js";
import type { PeopleOptions } from "../events/distinct.js";
import {
  type AnyEventOptions,
  type EventStreamOptions,
  type HistogramOptions,
  optionsOf,
} from "../events/options.js";
import type { EventStatement } from "../events/statement.js";
import { snapshotKey, type StreamCipher } from "../stream/streamCipher.js";
import { CheckedStore, checkSequence } from "./checkedStore.js";
import { Committer } from "./committer.js";
import { Durable, type Storable } from "./durable.js";
import { charge } from "./budget.js";
import { type DurableStream, openStream as openPositions, type OpenStreamOptions } from "./openStream.js";

/** Options of the store, beside those of the stream itself. */
export type Stored = Pick<OpenStreamOptions, "name" | "store" | "key" | "atLeast" | "budget">;

/**
 * Opens a stream of a store: continues its newest snapshot, or begins it. With `every` it takes events, with `edges` it
 * is a histogram, with `of: "count"` a counter.
 */
export function openStream(options: HistogramOptions & Stored): Promise<DurableEvents<Histogram>>;
export function openStream(
  options: ((CounterOptions & { readonly of: "count" }) | PeopleOptions) & Stored,
): Promise<DurableEvents<Counter>>;
export function openStream(options: EventStreamOptions & Stored): Promise<DurableEvents<EventStream>>;
export function openStream(options: OpenStreamOptions): Promise<DurableStream>;
export async function openStream(asked: OpenStreamOptions | (AnyEventOptions & Stored)): Promise<unknown> {
  if (!isEvents(asked)) return openPositions(asked);
  const names = optionsOf(asked);
  const own = ownOptions("openStream", asked, [...names, ...["store", "key", "atLeast", "budget"]]);
  const { name, atLeast = 0, budget } = own;
  const options = given(own, names as (keyof typeof own)[]) as AnyEventOptions;
  checkText("name", name);
  checkInteger("atLeast", atLeast, 0, Number.MAX_SAFE_INTEGER);
  const store = new CheckedStore(own.store);
  const key = await snapshotKey(own.key);
  const found = await store.get(name, atLeast);
  try {
    const events =
      found === undefined ? beginEvents(options) : await restoreEvents(found.bytes, key, options);
    if (found !== undefined) checkSequence(name, found.sequence, events.sequence);
    await charge(budget, name, events.statement(), found === undefined);
    const cipher = await events.snapshots.cipher(key);
    return new DurableEvents(new StorableEvents(events), store, new Committer(store), cipher, name);
  } catch (reason) {
    await store.giveBack(name);
    throw reason;
  }
}

/** A stream of events as the part that stores it sees it. */
class StorableEvents<T extends AnyEvents> implements Storable {
  readonly events: T;

  constructor(events: T) {
    this.events = events;
  }

  get sequence(): number {
    return this.events.sequence;
  }

  encrypt(cipher: StreamCipher): Uint8Array | Promise<Uint8Array> {
    return this.events.snapshots.encrypt(cipher);
  }
}

type Kind = EventStream | Counter | Histogram;

/** A stream of events, a counter or a histogram whose answers come after its state is stored. */
export class DurableEvents<T extends Kind> extends Durable<StorableEvents<AnyEvents>> {
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
    return this.stream.events.dropped;
  }

  statement(): Promise<EventStatement> {
    return this.#ask((events) => events.statement());
  }

  explain(): Promise<string> {
    return this.#ask((events) => events.explain());
  }

  #ask<A>(ask: (events: AnyEvents) => A, changes = false): Promise<A> {
    return this.answer(({ events }) => ask(events), changes);
  }
}
