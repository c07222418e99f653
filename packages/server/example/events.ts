/** A made-up day of a shop's web server: requests as often as the built-in stream says, durations, and baskets. */

/** About two requests a person and day: the limits of the example let nearly all of them count. */
const PEOPLE = 200_000;
/** Requests a minute for each query a second of the stream: a few hundred requests a minute. */
const SHARE = 2;

/** The same numbers in every run. */
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

/**
 * The events of one minute.
 * @param rates the built-in stream, one value per second
 */
export function dayOfEvents(
  rates: Float64Array,
  minute: number,
  begin: number,
  keys: readonly string[],
): ExampleEvent[] {
  const random = lcg(minute + 1);
  for (let i = 0; i < 8; i++) random();
  let rate = 0;
  for (let second = 0; second < 60; second++) rate += rates[(minute * 60 + second) % rates.length]!;
  const slow = minute % 1440 > 600 && minute % 1440 < 660 ? 3 : 1; // an hour of trouble, to be seen in the percentiles
  return Array.from({ length: Math.round((rate / 60) * SHARE) + 20 }, () => {
    const at = begin + minute * 60_000 + Math.floor(60_000 * random());
    const person = `visitor-${Math.floor(PEOPLE * random())}`;
    const place = random();
    const route = place < 0.5 ? 0 : place < 0.85 ? 1 : 2;
    const key = keys[route]!;
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const events: ExampleEvent[] = [
      { metric: "requests", key, at, person },
      {
        metric: "latency",
        key,
        at,
        person,
        value: Math.round([40, 120, 250][route]! * slow * Math.exp(0.5 * normal)),
      },
    ];
    if (route === 2) events.push({ metric: "basket", at, person, value: Math.round(20 + 60 * random()) });
    return events;
  }).flat();
}
