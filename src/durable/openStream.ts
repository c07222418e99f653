/** The public function that opens a stream of a store: of values (durableStream.ts) or of events (durableEvents.ts). */
import { ownOptions } from "../core/checks.js";
import { given } from "../core/given.js";
import type { Counter, EventStream } from "../events/answer/answers.js";
import type { Histogram } from "../events/answer/histogramAnswers.js";
import { type AnyEvents, beginEvents, isEvents, restoreEvents } from "../events/kinds.js";
import type { PeopleOptions } from "../events/people/distinct.js";
import {
  type CounterOptions,
  type AnyEventOptions,
  type EventStreamOptions,
  type HistogramOptions,
  optionsOf,
} from "../events/options.js";
import { resolveSettings, STREAM_OPTIONS, type StreamOptions } from "../stream/options.js";
import { WithSnapshots } from "./withSnapshots.js";
import { DurableEvents } from "./durableEvents.js";
import { durableKindOf, DurableStream, type OpenStreamOptions } from "./durableStream.js";
import { openAlone, type Stored } from "./openDurable.js";

const STORED = ["store", "key", "atLeast", "budget"];

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
  return isEvents(asked) ? openEvents(asked) : openValues(asked);
}

async function openValues(asked: OpenStreamOptions): Promise<DurableStream> {
  const own = ownOptions("openStream", asked, [...STREAM_OPTIONS, ...STORED]);
  const settings = resolveSettings(given(own, STREAM_OPTIONS) as StreamOptions);
  return new DurableStream(await openAlone(own, durableKindOf(settings, own.name)));
}

async function openEvents(asked: AnyEventOptions & Stored): Promise<unknown> {
  const names = optionsOf(asked);
  const own = ownOptions("openStream", asked, [...names, ...STORED]);
  const options = given(own, names as (keyof typeof own)[]) as AnyEventOptions;
  const storable = (events: AnyEvents) => new WithSnapshots(events, events.snapshots);
  return new DurableEvents(
    await openAlone(own, {
      begin: () => storable(beginEvents(options)),
      restore: async (snapshot, key) => storable(await restoreEvents(snapshot, key, options)),
    }),
  );
}
