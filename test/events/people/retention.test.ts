/** Hashed ids of a day's people: kept while events of the day still count, and nowhere in the metric's state once it has ended. */
import { expect, test } from "vitest";
import { chooseCore } from "../../../src/core/choose.js";
import { EventMetric } from "../../../src/events/eventMetric.js";
import { type AnyEventOptions, resolveEvents } from "../../../src/events/options.js";
import { People } from "../../../src/events/people/people.js";
import { Encoder } from "../../../src/snapshot/codec.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 5, 1); // a Monday
const WORDS = Uint32Array.of(1, 2, 3, 4);
const KEYS = ["a", "b"];
const PEOPLE = ["ann", "bob"];

function metricOf(options: AnyEventOptions): EventMetric {
  const secrets = { people: WORDS, own: new Uint32Array(8), release: () => new Uint32Array(8) };
  return new EventMetric(resolveEvents(options), chooseCore(), secrets, START, KEYS);
}

/** Everything that a snapshot would write. */
function saved(metric: EventMetric): Buffer {
  const writer = new Encoder();
  metric.save(writer);
  return Buffer.from(writer.bytes);
}

/** Tables of people that have an entry, and counters of dropped events, as a snapshot writes them. */
function keptOfPeople(metric: EventMetric): Buffer {
  const writer = new Encoder();
  metric.intake.save(writer, [], []);
  return Buffer.from(writer.bytes);
}

/** The hash of an id as it lies in a snapshot. */
function hashOf(person: string): Buffer {
  const writer = new Encoder();
  writer.words(
    new People(WORDS, { events: 1, perHour: undefined, sum: undefined, people: 1 }, 1).hash(person),
  );
  return Buffer.from(writer.bytes.slice(-16));
}

let now = START;
const shared = { epsilon: 1, lateness: 0, clock: () => now } as const;
const hourly = { ...shared, every: "1h" } as const;
const CASES: readonly [string, number, AnyEventOptions][] = [
  ["at most k events", DAY, { ...hourly, of: "count", perPerson: 3 }],
  ["at most one event an hour", DAY, { ...hourly, of: "count", perPerson: { events: 3, perHour: 1 } }],
  ["values up to a sum", DAY, { ...hourly, of: "sum", max: 9, perPerson: { sum: 9 } }],
  ["a limit that is chosen", DAY, { ...hourly, of: "count", perPerson: { events: "choose", most: 9 } }],
  ["people counted once in a day", DAY, { ...shared, of: "people", over: "1d" }],
  ["people under several keys in a week", 7 * DAY, { ...shared, of: "people", over: "1w", keysPerPerson: 2 }],
];

test.each(CASES)("%s: no hash of an id is kept after the end", (_, length, options) => {
  now = START;
  const metric = metricOf(options);
  const nobody = keptOfPeople(metric);
  for (const key of KEYS) for (const person of PEOPLE) metric.add(key, 1, { at: START + 1, person });
  now = START + length - 1;
  while (metric.closeNext(metric.due(now), now) !== undefined);
  for (const person of PEOPLE) expect(saved(metric).includes(hashOf(person))).toBe(true);
  now = START + length;
  while (metric.closeNext(metric.due(now), now) !== undefined);
  for (const person of PEOPLE) expect(saved(metric).includes(hashOf(person))).toBe(false);
  expect(keptOfPeople(metric).subarray(24)).toEqual(nobody.subarray(24)); // after three counters
});
