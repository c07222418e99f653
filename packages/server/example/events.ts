/** A made-up day of a shop's web server: requests as often as the built-in stream says, durations, and baskets. */
import type { Config } from "../src/index.js";

export const KEYS = ["home", "search", "checkout"];

/** Limits of a person that let nearly all events count: a test counts what they drop. */
export const METRICS: Config["metrics"] = {
  requests: {
    ...{ type: "count", epsilon: 1, keys: KEYS, every: "1m", levels: ["1m", "1h", "1d"], lateness: "1m" },
    perPerson: { events: 6, perHour: 3 },
  },
  latency: {
    ...{ type: "histogram", epsilon: 2, keys: KEYS, every: "1h", lateness: "1m", perPerson: 6 },
    ...{ unit: "ms", min: 5, max: 5000, buckets: 48 },
  },
  // Known without the data: no basket of this shop is above 100 EUR. Without it, the first day would choose a bound.
  basket: {
    ...{ type: "mean", epsilon: 1, every: "1h", lateness: "1m", perPerson: 3 },
    ...{ max: 100, threshold: 100, unit: "EUR" },
  },
};

/** About two requests a person and day. */
const PEOPLE = 200_000;
/** Requests a minute for each query a second of the stream: a few hundred requests a minute. */
const SHARE = 2;

/** A linear congruential generator: equal numbers in every run. */
function lcg(seed: number): () => number {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

export interface ExampleEvent {
  readonly metric: string;
  readonly key?: string;
  readonly value?: number;
  readonly at: number;
  readonly person: string;
}

/** When the built-in stream begins, in minutes of the day. */
const SIX = 360;
/** The trouble: from 14:00 to 15:00 answers take three times as long, and half of the visitors give up. */
const TROUBLE = { from: 840, to: 900, slower: 3, stay: 0.5 };

/**
 * The events of one minute.
 * @param rates a day of the built-in stream, one value per second
 * @param start of the minute, in milliseconds since 1970
 * @param minute of the day, in the zone of the service
 */
export function eventsOfMinute(rates: Float64Array, start: number, minute: number): ExampleEvent[] {
  const random = lcg(minute + 1);
  for (let i = 0; i < 8; i++) random();
  const first = 60 * ((minute - SIX + 1440) % 1440);
  let rate = 0;
  for (let second = 0; second < 60; second++) rate += rates[first + second]!;
  const isTrouble = minute >= TROUBLE.from && minute < TROUBLE.to;
  const requests = ((rate / 60) * SHARE + 20) * (isTrouble ? TROUBLE.stay : 1);
  return Array.from({ length: Math.round(requests) }, () => {
    const at = start + Math.floor(60_000 * random());
    const person = `visitor-${Math.floor(PEOPLE * random())}`;
    const place = random();
    const route = place < 0.5 ? 0 : place < 0.85 ? 1 : 2;
    const key = KEYS[route]!;
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const events: ExampleEvent[] = [
      { metric: "requests", key, at, person },
      {
        metric: "latency",
        key,
        at,
        person,
        value: Math.round([40, 120, 250][route]! * (isTrouble ? TROUBLE.slower : 1) * Math.exp(0.5 * normal)),
      },
    ];
    if (route === 2) events.push({ metric: "basket", at, person, value: Math.round(20 + 60 * random()) });
    return events;
  }).flat();
}
