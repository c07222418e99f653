/**
 * Privacy on tiny streams, without sampling. Two ticks make a tree of two leaves and a top. In two steps:
 *
 * 1. The code: what is published is a function of the noisy counts H = T + N alone, in every bit. Run with all events of
 *    every placement and all noise of a box, against a run with no events and the noise H.
 * 2. The mathematics: the exact distribution of that function, from the pmf of the noise, for every pair of
 *    neighbours. No output becomes more than e^ε times likelier, and some output becomes 0.99 e^ε times likelier.
 */
import { describe, expect, test } from "vitest";
import type { Core } from "../../src/core/core.js";
import { makeConsistent } from "../../src/core/js/consistency.js";
import { jsCore } from "../../src/core/js/index.js";
import { TickedHistogram } from "../../src/events/histogram.js";
import { resolveHistogram } from "../../src/events/histogramOptions.js";
import { type EventStreamOptions, resolveEventStream } from "../../src/events/options.js";
import { ValueEvents } from "../../src/events/tickedStream.js";

const TEN = Date.UTC(2026, 2, 1, 10);
const EPSILON = 1.5;
const LEVELS = 2;
const ticks = {
  epsilon: EPSILON,
  every: "1s",
  origin: TEN,
  maxRange: "4s",
  tuning: { fanout: 2, skipLevels: 0, resolution: 1 },
  clock: () => TEN,
} as const;

/** Two leaves and their top. */
type Nodes = readonly [first: number, second: number, top: number];

/** A core whose trees have the noise that it is told, made consistent by the real kernel; column by column. */
function coreWith(trees: readonly Nodes[]): Core {
  let next = 0;
  return {
    ...jsCore,
    growTree(_random, _scale, fanout, levels) {
      const nodes = Float64Array.from(trees[next++ % trees.length]!);
      const corrections = makeConsistent(nodes, fanout, levels);
      return { noise: nodes.slice(0, 2), corrections };
    },
  };
}

/** All counts of two ticks that events of these weights, at most three, can make: every placement. */
function placements(weights: readonly number[]): [first: number, second: number][] {
  let all = [[0, 0]];
  const seen = new Map([["0,0", [0, 0]]]);
  for (let events = 0; events < 3; events++) {
    all = all.flatMap(([a, b]) =>
      weights.flatMap((w) => [
        [a! + w, b!],
        [a!, b! + w],
      ]),
    );
    for (const counts of all) seen.set(String(counts), counts);
  }
  return [...seen.values()] as [number, number][];
}

const box = [-2, -1, 0, 1, 2, 3];
const noises: Nodes[] = box.flatMap((a) => box.flatMap((b) => box.map((c): Nodes => [a, b, c])));
const plus = ([a, b, c]: Nodes, [x, y]: readonly number[]): Nodes => [a + x!, b + y!, c + x! + y!];
const key = new Uint32Array(8);

/** P(N = k) ∝ exp(−|k|/t) for |k| ≤ REACH. */
const REACH = 120;
function pmf(t: number): Float64Array {
  const q = Math.exp(-1 / t);
  return Float64Array.from(
    { length: 2 * REACH + 1 },
    (_, i) => ((1 - q) / (1 + q)) * q ** Math.abs(i - REACH),
  );
}

/**
 * Probability of what is published when the noisy counts are h: all H that give the same output. With f the correction,
 * (H1, H2, Htop) and (H1 + k, H2 + k, Htop − k) have the same H + f, since f falls by k.
 */
function outputProbability(h: Nodes, [x, y]: readonly number[], p: Float64Array): number {
  let sum = 0;
  const [a, b, c] = [h[0] - x! + REACH, h[1] - y! + REACH, h[2] - x! - y! + REACH];
  for (let k = -60; k <= 60; k++) sum += p[a + k]! * p[b + k]! * p[c - k]!;
  return sum;
}

const window = [-12, -8, -5, -3, -2, -1, 0, 1, 2, 3, 5, 8, 12];

/** The largest ratio of an output's probabilities over all outputs of a window, in both directions. */
function worstRatio(from: readonly number[], to: readonly number[], t: number): number {
  let worst = 0;
  const p = pmf(t);
  for (const a of window)
    for (const b of window)
      for (const c of window) {
        const h: Nodes = [a, b, c + a + b];
        const ratio = outputProbability(h, from, p) / outputProbability(h, to, p);
        worst = Math.max(worst, ratio, 1 / ratio);
      }
  return worst;
}

const streams: [string, EventStreamOptions, number[], number][] = [
  ["counts", { ...ticks, of: "count" }, [1], LEVELS / EPSILON],
  ["sums of values up to θ = 2", { ...ticks, max: 2, threshold: 2 }, [1, 2], (2 * LEVELS) / EPSILON],
];

describe.each(streams)("%s", (_name, options, weights, t) => {
  const settings = resolveEventStream(options);
  const publish = (counts: readonly number[], noise: Nodes) => {
    const stream = new ValueEvents(settings, coreWith([noise]), key);
    counts.forEach((count, tick) => {
      for (let left = count; left > 0; left -= weights.at(-1)!)
        stream.add(Math.min(left, weights.at(-1)!), { at: TEN + 1000 * tick });
    });
    return [...stream.advance(TEN + 2000).values, stream.between(TEN, TEN + 2000).value];
  };

  test("what is published is a function of the noisy counts alone", () => {
    for (const counts of placements(weights))
      for (const noise of noises)
        expect(publish(counts, noise)).toEqual(publish([0, 0], plus(noise, counts)));
  });

  test("outputs are told apart by no more than the proof says", () => {
    for (const noise of noises) {
      const [a, b, c] = noise;
      expect(publish([0, 0], [a + 1, b + 1, c - 1])).toEqual(publish([0, 0], noise));
    }
  });

  test("one event more or less changes no probability by more than e^ε, and some by nearly that", () => {
    let worst = 0;
    for (const counts of placements(weights))
      for (const weight of weights)
        for (const tick of [0, 1]) {
          const more = counts.map((count, i) => count + (i === tick ? weight : 0));
          worst = Math.max(worst, worstRatio(counts, more, t));
        }
    expect(worst).toBeLessThanOrEqual(Math.exp(EPSILON) * (1 + 1e-9));
    expect(worst).toBeGreaterThanOrEqual(0.99 * Math.exp(EPSILON));
  });

  test("a tenth less noise would be seen", () => {
    expect(worstRatio([0, 0], [weights.at(-1)!, 0], 0.9 * t)).toBeGreaterThan(Math.exp(EPSILON));
  });
});

describe("people", () => {
  test("all events of a person together change no probability by more than e^ε", () => {
    const k = 2;
    const stream = resolveEventStream({ ...ticks, of: "count", perPerson: { events: k, every: "1d" } });
    const { epsilon, levels } = stream.columns[0]!.stream;
    const t = levels / epsilon;
    expect(k * epsilon).toBeLessThanOrEqual(EPSILON);
    let worst = 0;
    for (const counts of placements([1]))
      for (const own of [
        [1, 0],
        [0, 1],
        [2, 0],
        [1, 1],
        [0, 2],
      ])
        worst = Math.max(
          worst,
          worstRatio(
            counts,
            counts.map((count, i) => count + own[i]!),
            t,
          ),
        );
    expect(worst).toBeLessThanOrEqual(Math.exp(EPSILON) * (1 + 1e-9));
    expect(worst).toBeGreaterThanOrEqual(0.99 * Math.exp(EPSILON));
  });
});

describe("histograms", () => {
  /** Four buckets in two groups: small as it is, an event counts in a bucket and a group. */
  const grouped = {
    ...resolveHistogram({ ...ticks, tuning: { fanout: 2, skipLevels: 0 }, edges: [1, 2, 3] }),
    group: 2,
    perEvent: 2,
    noiseScale: (2 * LEVELS) / EPSILON,
  } as const;
  const COLUMNS = 6;
  const publish = (events: readonly (readonly [bucket: number, tick: number])[], noise: readonly Nodes[]) => {
    const stream = new TickedHistogram(grouped, coreWith(noise), key);
    for (const [bucket, tick] of events) stream.add(bucket + 0.5, { at: TEN + 1000 * tick });
    const blocks = stream.advance(TEN + 2000).map(({ counts }) => [...counts]);
    return [blocks, stream.between(TEN, TEN + 2000, { quantiles: [0.5] })];
  };
  /** The true counts of every column's nodes. */
  const truth = (events: readonly (readonly [number, number])[]): Nodes[] =>
    Array.from({ length: COLUMNS }, (_, column) => {
      const inside = events.filter(([bucket]) => column === bucket || column === 4 + Math.floor(bucket / 2));
      const first = inside.filter(([, tick]) => tick === 0).length;
      return [first, inside.length - first, inside.length];
    });

  test("what is published is a function of the noisy counts alone, for all placements of two events", () => {
    const places = [0, 1, 2, 3].flatMap((bucket) => [0, 1].map((tick) => [bucket, tick] as const));
    let round = 0;
    for (const first of places)
      for (const second of places)
        for (let i = 0; i < 12; i++, round++) {
          const noise = Array.from(
            { length: COLUMNS },
            (_, c) => noises[(round * 31 + c * 7919) % noises.length]!,
          );
          const noisy = truth([first, second]).map((nodes, c): Nodes => [
            nodes[0] + noise[c]![0],
            nodes[1] + noise[c]![1],
            nodes[2] + noise[c]![2],
          ]);
          expect(publish([first, second], noise)).toEqual(publish([], noisy));
        }
  });

  test("an event is in one bucket and one group, each at half of ε: e^ε in all, and nearly reached", () => {
    // Columns have noise of their own, so probabilities multiply, and so do the largest ratios.
    const one = worstRatio([0, 0], [1, 0], grouped.noiseScale);
    expect(one ** 2).toBeLessThanOrEqual(Math.exp(EPSILON) * (1 + 1e-9));
    expect(one ** 2).toBeGreaterThanOrEqual(0.99 * Math.exp(EPSILON));
    const touched = truth([[2, 1]]).filter(([, , top]) => top > 0);
    expect(touched).toHaveLength(2);
  });
});

describe("no event decides what happens to another", () => {
  type Event = { readonly at: number; readonly person: string; readonly value: number };
  const zero: Nodes = [0, 0, 0];
  const settings = resolveEventStream({
    ...ticks,
    maxRange: "4s",
    max: 1000,
    threshold: 1000,
    lateness: "1s",
    skew: "2s",
    perPerson: { events: 2, every: "1d" },
  });

  /** True sums per tick: no noise. Half of the events come before the first ticks are closed, half after. */
  function sums(events: readonly Event[]): number[] {
    const stream = new ValueEvents(settings, coreWith([zero]), key);
    const add = ({ at, person, value }: Event) => stream.add(value, { at: TEN + at, person });
    events.filter((_, i) => i % 2 === 0).forEach(add);
    const first = stream.advance(TEN + 3000).values; // ticks 0 and 1
    events.filter((_, i) => i % 2 === 1).forEach(add);
    return [...first, ...stream.advance(TEN + 5000).values].map(Math.round);
  }

  const events: Event[] = [
    { at: 0, person: "a", value: 1 },
    { at: 500, person: "b", value: 2 },
    { at: 1500, person: "b", value: 4 },
    { at: 1200, person: "c", value: 8 }, // late where it comes after the first ticks are closed
    { at: 2500, person: "b", value: 16 }, // more than b has left, or not
    { at: 9000, person: "d", value: 32 }, // too far ahead
    { at: 3500, person: "e", value: 64 },
    { at: 2100, person: "f", value: 128 },
  ];
  /** The bits of a sum are the values that are in it. */
  const others = (person: string) => (sum: number) =>
    events.filter((event) => event.person !== person && (sum & event.value) !== 0).map(({ value }) => value);
  const kept = (all: readonly Event[], person: string) => sums(all).map(others(person));

  test("removing, adding and moving any single event changes nothing of anyone else", () => {
    for (const [i, event] of events.entries()) {
      const { person } = event;
      const blank = { ...event, at: -1 }; // dropped as late: as if it were not there, with all others in their places
      const without = kept(events.with(i, blank), person);
      expect(without).toEqual(kept(events, person));
      for (let at = -1000; at < 12_000; at += 250)
        expect(kept(events.with(i, { ...event, at }), person)).toEqual(without);
      for (const value of [256, 512])
        expect(kept([...events, { at: 2200, person, value }], person)).toEqual(kept(events, person));
    }
  });

  test("and it does change something of its own", () => {
    expect(sums(events)).not.toEqual(sums(events.with(0, { ...events[0]!, at: -1 })));
  });
});
