/**
 * Privacy on tiny days, without sampling. A stream that begins late in a day has a tree of two to four leaves. In two steps:
 *
 * 1. The code: what is published is a function of the noisy counts H = T + N alone, in every bit. Run with all events of
 *    every placement and all noise of a box, against a run with no events and the noise H.
 * 2. The mathematics: the exact probability of H, from the pmf of the noise at the scale that the code uses, for every pair
 *    of neighbours. No H becomes more than e^ε times likelier, and some becomes exactly e^ε times likelier.
 */
import { describe, expect, test } from "vitest";
import type { NoiseCore } from "../../src/core/core.js";
import { makeDayConsistent } from "../../src/core/js/day.js";
import { jsNoise } from "../../src/core/js/index.js";
import { Purpose } from "../../src/core/random.js";
import { DayPeriods } from "../../src/events/days/dayPeriods.js";
import { CountedEvents, ValueEvents } from "../../src/events/metricStream.js";
import { BucketedEvents } from "../../src/events/bucketedEvents.js";
import { EventMetric } from "../../src/events/eventMetric.js";
import type { EventSettings } from "../../src/events/eventSettings.js";
import { type EventStreamOptions, resolveEventStream, resolveHistogram } from "../../src/events/options.js";
import { leavesOf } from "../support/dayShapes.js";
import { integers } from "../support/numbers.js";

const EPSILON = 1.5;
const MIDNIGHT = Date.UTC(2026, 2, 2);
/** The last hour of a day: four quarters, two halves, one day. */
const START = MIDNIGHT - 3_600_000;
const QUARTER = 900_000;
const hour = { epsilon: EPSILON, every: "15m", clock: () => START, skew: "1h" } as const;
const key = new Uint32Array(8);

/** Noise of every node of a day, by column; nodes in the order of the shape. */
type Noise = readonly (readonly number[])[];

/** A core whose days have the noise that it is told, made consistent by the real kernel; other counts get none. */
function coreWith(noise: Noise): NoiseCore {
  const purpose = (nonce: Uint32Array): Purpose => nonce[2]! & 255;
  return {
    ...jsNoise,
    growDay: (leafRandom, _nodes, _scale, shape) =>
      makeDayConsistent(Float64Array.from(noise[leafRandom.nonce[0]! >>> 16]!), shape),
    laplace(random, _scale, out) {
      out.fill(0);
      if (purpose(random.nonce) === Purpose.dayLeaves)
        out.set(noise[random.nonce[0]! >>> 16]!.slice(0, out.length));
    },
  };
}

interface Placed {
  readonly leaf: number;
  readonly value: number;
  readonly person?: string;
}

const eventAt = ({ leaf, person }: Placed) => ({
  at: START + leaf * QUARTER + 5,
  ...(person === undefined ? {} : { person }),
});

/** Everything that a stream publishes about its last hour. */
function publish(settings: EventSettings, events: readonly Placed[], noise: Noise): unknown {
  const Kind =
    settings.of === "histogram" ? BucketedEvents : settings.of === "count" ? CountedEvents : ValueEvents;
  const stream = new Kind(settings, coreWith(noise), key, START);
  for (const event of events)
    if (stream instanceof CountedEvents) stream.add(eventAt(event));
    else stream.add(event.value, eventAt(event));
  return [stream.advance(MIDNIGHT), stream.between(START, MIDNIGHT), stream.series("30m", START, MIDNIGHT)];
}

/** The true counts of every node and column: what the released noise is added to. */
function truth(settings: EventSettings, events: readonly Placed[]): number[][] {
  const periods = new DayPeriods(
    { start: MIDNIGHT - 86_400_000, end: MIDNIGHT },
    settings.schedule.levels,
    START,
  );
  const columns = Array.from({ length: settings.columns }, () => new Array<number>(periods.leaves).fill(0));
  for (const { leaf, value } of events) {
    if (settings.of === "count") columns[0]![leaf]!++;
    else if (settings.buckets !== undefined)
      columns[settings.buckets.edges.filter((e) => e <= value).length]![leaf]!++;
    else {
      const { min, threshold, resolution } = settings.grid!;
      const clamped = Math.min(Math.max(value, min), threshold!);
      columns[0]![leaf]! += (settings.of === "mean" ? clamped - min : clamped) / resolution;
      if (settings.of === "mean") columns[1]![leaf]! += (threshold! - clamped) / resolution;
    }
  }
  return columns.map((leaves) =>
    leavesOf(periods.shape).map(([from, to]) => leaves.slice(from, to).reduce((sum, n) => sum + n, 0)),
  );
}

const random = (seed: number, size: number, columns: number): number[][] =>
  Array.from({ length: columns }, (_, c) => [...integers(seed * 31 + c, size, 5)]);
const plus = (a: Noise, b: Noise): number[][] => a.map((row, c) => row.map((x, i) => x + b[c]![i]!));

const stream = (options: Partial<EventStreamOptions>) => resolveEventStream({ ...hour, ...options });
const kinds: [string, EventSettings, number[]][] = [
  ["counts on one level", stream({ of: "count", levels: ["15m"] }), [1]],
  ["counts on two levels", stream({ of: "count", levels: ["15m", "1d"] }), [1]],
  ["counts on three levels", stream({ of: "count", levels: ["15m", "30m", "1d"] }), [1]],
  [
    "sums up to θ = 2",
    stream({ max: 2, threshold: 2, resolution: 1, levels: ["15m", "30m", "1d"] }),
    [1, 2, 7],
  ],
  [
    "means up to θ = 2",
    stream({ of: "mean", max: 2, threshold: 2, resolution: 1, levels: ["15m", "1d"] }),
    [0, 1, 2],
  ],
  [
    "sums from −3 to θ = 2",
    stream({ min: -3, max: 2, threshold: 2, resolution: 1, levels: ["15m", "1d"] }),
    [-9, -3, -1, 0, 2, 7],
  ],
  [
    "means from −1 to θ = 2",
    stream({ of: "mean", min: -1, max: 2, threshold: 2, resolution: 1, levels: ["15m", "1d"] }),
    [-5, -1, 0, 2],
  ],
  ["a histogram", resolveHistogram({ ...hour, levels: ["15m", "1d"], edges: [1, 2] }), [0, 1.5, 3]],
];

/** All placements of up to two events. */
function placements(values: readonly number[]): Placed[][] {
  const one = values.flatMap((value) => [0, 1, 2, 3].map((leaf) => ({ leaf, value })));
  return [[], ...one.map((event) => [event]), ...one.flatMap((a) => one.map((b) => [a, b]))];
}

describe.each(kinds)("%s", (_name, settings, values) => {
  const sizes = truth(settings, [])[0]!.length;
  const t = new EventMetric(
    settings,
    jsNoise,
    { people: key.slice(4), own: key, release: () => key },
    START,
    [""],
  ).scale;

  test("what is published is a function of the noisy counts alone, in every bit", () => {
    placements(values).forEach((events, i) => {
      for (let round = 0; round < 3; round++) {
        const noise = random(3 * i + round, sizes, settings.columns);
        expect(publish(settings, events, noise)).toEqual(
          publish(settings, [], plus(noise, truth(settings, events))),
        );
      }
    });
  });

  test("one event more or less: no noisy count is more than e^ε times likelier, and some is e^ε times", () => {
    let worst = 0;
    for (const value of values)
      for (const leaf of [0, 1, 2, 3]) {
        // P(H | T)/P(H | T′) = exp(Σ (|H − T′| − |H − T|)/t), largest where H lies beyond both: Σ |T − T′|/t.
        const moved = truth(settings, [{ leaf, value }])
          .flat()
          .reduce((sum, n) => sum + Math.abs(n), 0);
        worst = Math.max(worst, Math.exp(moved / t));
      }
    expect(worst).toBeLessThanOrEqual(Math.exp(EPSILON) * (1 + 1e-12));
    expect(worst).toBeGreaterThanOrEqual(Math.exp(EPSILON) * (1 - 1e-12));
  });

  test("a level that is not counted would be seen", () => {
    const { levels } = settings.schedule;
    const moved = Math.max(
      ...values.map((value) =>
        truth(settings, [{ leaf: 0, value }])
          .flat()
          .reduce((sum, n) => sum + Math.abs(n), 0),
      ),
    );
    const short = (t * (levels.length - 0.5)) / levels.length;
    expect(Math.exp(moved / short)).toBeGreaterThan(Math.exp(EPSILON) * 1.1);
  });
});

describe("means", () => {
  test("two columns that each had all of ε would be seen: one event moves both by Θ together, not by Θ each", () => {
    const settings = kinds[4]![1];
    const moved = (value: number) =>
      truth(settings, [{ leaf: 0, value }])
        .flat()
        .reduce((sum, n) => sum + n, 0);
    expect([0, 1, 2].map(moved)).toEqual([4, 4, 4]); // Θ = 2 on two levels, whatever the value
  });
});

describe("values below zero", () => {
  test("noise for θ alone would be seen: the lowest value moves a sum further", () => {
    const moved = truth(kinds[5]![1], [{ leaf: 0, value: -3 }])
      .flat()
      .reduce((sum, n) => sum + Math.abs(n), 0);
    const t = (2 * 2) / EPSILON; // two levels, θ = 2
    expect(Math.exp(moved / t)).toBeGreaterThan(Math.exp(EPSILON) * 1.1);
  });
});

describe("people", () => {
  const limited = (change: Partial<EventStreamOptions>) =>
    stream({ of: "count", levels: ["15m", "1d"], perPerson: 2, ...change });

  test.each([
    ["two events a day", limited({}), 3],
    ["two events a day, one an hour", limited({ perPerson: { events: 2, perHour: 1 } }), 3],
    ["a sum of 3 a day", stream({ max: 10, resolution: 1, levels: ["15m", "1d"], perPerson: { sum: 3 } }), 5],
  ])("%s: all events of a person's day change no probability by more than e^ε", (_name, settings, many) => {
    const { shares } = settings;
    const metric = new EventMetric(
      settings,
      jsNoise,
      { people: key.slice(4), own: key, release: () => key },
      START,
      [""],
    );
    let worst = 0;
    // The sums that count, by the real limit: without noise, so that they can be read.
    const zero = truth(settings, []).map((row) => row.map(() => 0));
    for (let seed = 0; seed < 60; seed++) {
      const own = Array.from({ length: many }, (_, i) => ({
        leaf: Math.abs(integers(seed, many, 1000)[i]!) % 4,
        value: 1 + (Math.abs(integers(seed + 99, many, 1000)[i]!) % 9),
        person: "ann",
      }));
      const others = [0, 1, 2, 3].map((leaf) => ({ leaf, value: 2, person: `p${leaf}` }));
      const sums = (events: readonly Placed[]) =>
        (publish(settings, events, zero) as [{ value: number }[]])[0].map(({ value }) => value);
      const [without, added] = [sums(others), sums([...others, ...own])];
      const leaves = added.map((value, i) => Math.round(value - without[i]!));
      const total = leaves.reduce((sum, n) => sum + n, 0);
      expect(leaves.every((n) => n >= 0)).toBe(true);
      worst = Math.max(worst, (2 * total) / metric.scale); // two levels: the leaves and the day
    }
    const share = shares.release / 32;
    expect(worst).toBeLessThanOrEqual(EPSILON * share * (1 + 1e-12));
    expect(worst).toBeGreaterThan(EPSILON * share * 0.49);
    // The count of limited people takes the rest: a person is in one of its two counts.
    expect(share + shares.limited / 32).toBe(1);
  });
});

describe("no event decides what happens to another", () => {
  const settings = resolveEventStream({
    ...hour,
    ...{
      levels: ["15m"],
      max: 1024,
      threshold: 1024,
      resolution: 1,
      lateness: "15m",
      perPerson: { events: 2 },
    },
  });
  const events = [
    { leaf: 0, person: "a", value: 1 },
    { leaf: 0, person: "b", value: 2 },
    { leaf: 1, person: "b", value: 4 },
    { leaf: 0, person: "c", value: 8 }, // late where it comes after the first period is closed
    { leaf: 2, person: "b", value: 16 }, // more than b has left, or not
    { leaf: 3, person: "d", value: 32 },
    { leaf: 2, person: "e", value: 64 },
    { leaf: 1, person: "f", value: 128 },
  ];

  /** True sums: no noise. Half of the events come before the first period is closed, half after. */
  function sums(all: readonly Placed[]): number[] {
    const own = new ValueEvents(settings, coreWith([[0, 0, 0, 0]]), key, START);
    all.filter((_, i) => i % 2 === 0).forEach((event) => own.add(event.value, eventAt(event)));
    const first = own.advance(START + 2 * QUARTER);
    all.filter((_, i) => i % 2 === 1).forEach((event) => own.add(event.value, eventAt(event)));
    return [...first, ...own.advance(MIDNIGHT + QUARTER)].map(({ value }) => value!);
  }
  /** The bits of a sum are the values that are in it. */
  const others = (all: readonly Placed[], person: string) =>
    sums(all).map((sum) =>
      events
        .filter((event) => event.person !== person && (sum & event.value) !== 0)
        .map(({ value }) => value),
    );

  test("removing, adding and moving any single event changes nothing of anyone else", () => {
    for (const [i, event] of events.entries()) {
      const { person } = event;
      const kept = others(events, person);
      expect(others(events.with(i, { ...event, leaf: -3 }), person)).toEqual(kept);
      for (let leaf = -1; leaf < 6; leaf++)
        expect(others(events.with(i, { ...event, leaf }), person)).toEqual(kept);
      for (const value of [256, 512])
        expect(others([...events, { leaf: 2, person, value }], person)).toEqual(kept);
    }
  });

  test("and it does change something of its own", () => {
    expect(sums(events)).not.toEqual(sums(events.with(0, { ...events[0]!, leaf: -3 })));
  });
});
