/**
 * The exact law of what a counter publishes, on days of two to four leaves. The code runs with every noise of a box, and the
 * probabilities of equal outputs are summed. For neighbours D and D′ every noise N of D has a noise of D′ with the same noisy
 * counts, at most 1 further in each node. So with boxes [−R, R] for D and [−R − 1, R + 1] for D′, P(output | D) is at most
 * e^ε·P(output | D′) for every output, without any remainder.
 */
import { afterEach, describe, expect, test, vi } from "vitest";
import type { NoiseCore } from "../../src/core/core.js";
import { makeDayConsistent } from "../../src/core/js/day.js";
import { jsNoise } from "../../src/core/js/index.js";
import { DayPeriods } from "../../src/events/days/dayPeriods.js";
import { CountedEvents } from "../../src/events/metricStream.js";
import { EventMetric } from "../../src/events/eventMetric.js";
import { resolveEventStream } from "../../src/events/options.js";
import { Release } from "../../src/events/release.js";
import { RunningDay } from "../../src/events/days/runningDay.js";

const EPSILON = 1.5;
const MIDNIGHT = Date.UTC(2026, 2, 2);
const QUARTER = 900_000;
const key = new Uint32Array(8);

/** A counter on the last quarters of a day. */
function counterOf(leaves: number, levels: readonly string[]) {
  const start = MIDNIGHT - leaves * QUARTER;
  const options = { epsilon: EPSILON, every: "15m", levels, clock: () => start, skew: "1h" };
  const settings = resolveEventStream({ ...options, of: "count" });
  const day = { start: MIDNIGHT - 96 * QUARTER, end: MIDNIGHT };
  const { sizes } = new DayPeriods(day, settings.schedule.levels, start).shape;
  const secrets = { people: key, own: key, release: () => key };
  const scale = new EventMetric(settings, jsNoise, secrets, start, [""]).scale;
  const nodes = sizes.reduce((sum, n) => sum + n, 0);
  return { settings, start, leaves, nodes, scale };
}
type Counter = ReturnType<typeof counterOf>;

/** A core whose day has the noise that it is told, made consistent by the real kernel. */
const coreWith = (noise: readonly number[]): NoiseCore => ({
  ...jsNoise,
  growDay: (_leaves, _nodes, _scale, shape) => makeDayConsistent(Float64Array.from(noise), shape),
  laplace: (_random, _scale, out) => void out.set(noise.slice(0, out.length)),
});

/** The numbers that are published of events in these leaves. */
function publish({ settings, start }: Counter, events: readonly number[], core: NoiseCore): string {
  const stream = new CountedEvents(settings, core, key, start);
  for (const leaf of events) stream.add({ at: start + leaf * QUARTER + 5 });
  return stream
    .advance(MIDNIGHT)
    .map(({ value, low, high }) => [value, low, high].join(" "))
    .join();
}

/** All noise of a box. */
function* box(nodes: number, radius: number): Generator<number[]> {
  const width = 2 * radius + 1;
  for (let i = 0; i < width ** nodes; i++)
    yield Array.from({ length: nodes }, (_, node) => (Math.floor(i / width ** node) % width) - radius);
}

/** Probabilities of outputs, up to one factor. @param t scale of the noise */
function lawOf(
  counter: Counter,
  events: readonly number[],
  radius: number,
  t: number,
  coreOf = coreWith,
): Map<string, number> {
  const law = new Map<string, number>();
  for (const noise of box(counter.nodes, radius)) {
    const output = publish(counter, events, coreOf(noise));
    const weight = Math.exp(-noise.reduce((sum, n) => sum + Math.abs(n), 0) / t);
    law.set(output, (law.get(output) ?? 0) + weight);
  }
  return law;
}

/** The largest P(output | D)/P(output | D′) over all outputs and all neighbours of up to so many events. */
function worst(counter: Counter, most: number, t = counter.scale, coreOf = coreWith): number {
  const radius = counter.nodes === 3 ? 2 : 1;
  const leaves = Array.from({ length: counter.leaves }, (_, i) => i);
  let sets: number[][] = [[]];
  const pairs: [number[], number[]][] = [];
  for (let events = 0; events < most; events++) {
    const larger = sets.flatMap((set) => leaves.map((leaf) => [set, [...set, leaf]] as [number[], number[]]));
    pairs.push(...larger);
    sets = larger.map(([, set]) => set);
  }
  const laws = new Map<string, Map<string, number>>();
  const law = (events: readonly number[], wide: number): Map<string, number> => {
    const name = `${events.join()} ${wide}`;
    if (!laws.has(name)) laws.set(name, lawOf(counter, events, radius + wide, t, coreOf));
    return laws.get(name)!;
  };
  let ratio = 0;
  for (const [a, b] of pairs)
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const)
      for (const [output, probability] of law(one, 0))
        ratio = Math.max(ratio, probability / (law(other, 1).get(output) ?? 0));
  return ratio;
}

const counters: [string, Counter, number][] = [
  ["two leaves and the day", counterOf(2, ["15m", "1d"]), 2],
  ["two leaves, their half hour and the day", counterOf(2, ["15m", "30m", "1d"]), 1],
  ["three leaves and the day", counterOf(3, ["15m", "1d"]), 1],
  ["four leaves alone", counterOf(4, ["15m"]), 1],
];

afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(counters)("%s", (_name, counter, most) => {
  test("no output is more than e^ε times likelier with one event more or less", () => {
    expect(worst(counter, most)).toBeLessThanOrEqual(Math.exp(EPSILON) * (1 + 1e-9));
  });
});

describe("planted faults are seen", () => {
  const [, counter] = counters[0]!;
  const bound = Math.exp(EPSILON) * (1 + 1e-9);

  test("noise for half a level less", () => {
    expect(worst(counter, 1, 0.75 * counter.scale)).toBeGreaterThan(bound);
  });

  test("a period without events gets no noise", () => {
    const real = Object.getOwnPropertyDescriptor(RunningDay.prototype, "estimate")!
      .value as RunningDay["estimate"];
    vi.spyOn(RunningDay.prototype, "estimate").mockImplementation(function (
      this: RunningDay,
      source,
      secret,
      leaf,
      sums,
    ) {
      const noisy = real.call(this, source, secret, leaf, sums);
      return sums[0] === 0 ? Float64Array.of(0) : noisy;
    });
    expect(worst(counter, 1)).toBeGreaterThan(bound);
  });

  test("an event counts twice", () => {
    const real = Object.getOwnPropertyDescriptor(Release.prototype, "add")!.value as Release["add"];
    vi.spyOn(Release.prototype, "add").mockImplementation(function (this: Release, start, column, amount) {
      real.call(this, start, column, 2 * amount);
    });
    expect(worst(counter, 1)).toBeGreaterThan(bound);
  });

  test("one noise for both leaves", () => {
    const same = (noise: readonly number[]) => coreWith([noise[0]!, noise[0]!, noise[2]!]);
    expect(worst(counter, 1, counter.scale, same)).toBeGreaterThan(bound);
  });
});
