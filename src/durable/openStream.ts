/** The public function that opens a stream of a store: of values (durableStream.ts) or of events (durableEvents.ts). */
import { checkInteger, checkText, ownOptions } from "../core/checks.js";
import { given } from "../core/given.js";
import type { Counter, EventStream } from "../events/answer/answers.js";
import type { Histogram } from "../events/answer/histogramAnswers.js";
import { beginEvents, isEvents, restoreEvents } from "../events/kinds.js";
import type { PeopleOptions } from "../events/people/distinct.js";
import {
  type CounterOptions,
  type AnyEventOptions,
  type EventStreamOptions,
  type HistogramOptions,
  optionsOf,
} from "../events/options.js";
import { snapshotKey } from "../snapshot/streamCipher.js";
import { CheckedStore, checkSequence } from "./checkedStore.js";
import { Committer } from "./journal/committer.js";
import { charge } from "./budget/budget.js";
import { DurableEvents, StorableEvents } from "./durableEvents.js";
import { type DurableStream, openValues, type OpenStreamOptions } from "./durableStream.js";

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
  if (!isEvents(asked)) return openValues(asked);
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
