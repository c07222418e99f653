/**
 * Intervals hold what they say. The noise of 2000 runs is fresh, the events are the same. A count of covered runs is
 * binomial with p = 0.95: its standard deviation is 0.49 %, and it is 2.4 % off once in 10⁶ seeds (4.9 standard
 * deviations). The whole file takes 8 s of one core.
 */
import { describe, expect, test } from "vitest";
import { resolveHistogram } from "../../src/events/histogramOptions.js";
import { TickedHistogram } from "../../src/events/histogram.js";
import { type EventStreamOptions, resolveEventStream } from "../../src/events/options.js";
import { ValueEvents } from "../../src/events/tickedStream.js";
import { chooseCore } from "../../src/core/choose.js";
import { normalQuantile } from "../../src/core/normal.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";

const RUNS = 2000;
const [LEAST, MOST] = [0.926, 0.974];
const core = chooseCore("js");
const TEN = Date.UTC(2026, 2, 1, 10);
const ticks = {
  epsilon: 1,
  every: "1s",
  origin: TEN,
  maxRange: "16s",
  tuning: { fanout: 4, skipLevels: 0 },
  clock: () => TEN,
} as const;

/** Lognormal values with σ = 1 by their quantiles, shuffled over 12 ticks by a fixed stride. */
const EVENTS = 1200;
const values = Array.from({ length: EVENTS }, (_, i) => Math.exp(normal(((i * 1009) % EVENTS) + 0.5)));
const at = (i: number) => TEN + Math.floor(i / 100) * 1000;
const sorted = values.toSorted((a, b) => a - b);

function normal(rank: number): number {
  const p = rank / EVENTS;
  return Math.sign(p - 0.5) * normalQuantile(Math.abs(2 * p - 1));
}

const keys = (name: string) => {
  const key = unsafeKey(name);
  return (run: number) => {
    key[0] = run;
    return key.slice();
  };
};

describe("percentiles", () => {
  const settings = resolveHistogram({ ...ticks, edges: { min: 0.03, max: 30, buckets: 32 } });
  const key = keys("quantiles");
  const quantiles = [0.5, 0.95, 0.99];
  const runs = Array.from({ length: RUNS }, (_, run) => {
    const histogram = new TickedHistogram(settings, core, key(run));
    values.forEach((value, i) => histogram.add(value, { at: at(i) }));
    histogram.advance(TEN + 12_000);
    return histogram.between(TEN, TEN + 12_000, { quantiles, shares: [1, 3] });
  });
  const truth = (p: number) => sorted[Math.ceil(p * EVENTS) - 1]!;

  test.each(quantiles.map((p, i) => [p, i] as const))(
    "p = %d is inside its interval in 95 %% of runs",
    (p, i) => {
      const covered = runs.filter(({ quantiles: q }) => {
        const { low, high } = q[i]!;
        return (low ?? -Infinity) <= truth(p) && truth(p) <= (high ?? Infinity);
      });
      expect(covered.length / RUNS).toBeGreaterThan(LEAST);
      expect(covered.length / RUNS).toBeLessThan(MOST);
      const inEdges = runs.filter(({ quantiles: q }) => {
        const [low, high] = q[i]!.edges;
        return (low ?? -Infinity) <= truth(p) && truth(p) <= (high ?? Infinity);
      });
      expect(inEdges.length / RUNS).toBeGreaterThan(LEAST);
    },
  );

  test("intervals that are a fifth too narrow are seen", () => {
    // 1.96·0.8 standard deviations leave 88 %.
    const covered = runs.filter(({ quantiles: q }) => {
      const { value, low, high } = q[0]!;
      const within = (end: number) => value! + 0.8 * (end - value!);
      return within(low!) <= truth(0.5) && truth(0.5) <= within(high!);
    });
    expect(covered.length / RUNS).toBeLessThan(LEAST);
  });

  test("totals and shares are inside their intervals", () => {
    const total = runs.filter(({ total: { low, high } }) => low <= EVENTS && EVENTS <= high).length / RUNS;
    expect(total).toBeGreaterThan(LEAST);
    expect(total).toBeLessThan(MOST);
    for (const [i, x] of [1, 3].entries()) {
      const share = sorted.filter((value) => value < x).length / EVENTS;
      const covered = runs.filter(({ shares }) => shares[i]!.low <= share && share <= shares[i]!.high);
      expect(covered.length / RUNS).toBeGreaterThan(LEAST);
    }
  });
});

describe("counts, sums and means", () => {
  const clamp = (value: number) => Math.round(Math.min(value, 4) * 64) / 64;
  const sum = values.reduce((total, value) => total + clamp(value), 0);
  test.each<[string, EventStreamOptions, number]>([
    ["count", { ...ticks, of: "count" }, EVENTS],
    ["sum", { ...ticks, of: "sum", max: 4, threshold: 4 }, sum],
    ["mean", { ...ticks, of: "mean", max: 4, threshold: 4 }, sum / EVENTS],
    ["mean of few", { ...ticks, of: "mean", max: 4, threshold: 4, epsilon: 0.01 }, sum / EVENTS],
  ])("the %s is inside its interval in 95 %% of runs", (name, options, truth) => {
    const settings = resolveEventStream(options);
    const key = keys(name);
    let covered = 0;
    for (let run = 0; run < RUNS; run++) {
      const stream = new ValueEvents(settings, core, key(run));
      values.forEach((value, i) => stream.add(value, { at: at(i) }));
      stream.advance(TEN + 12_000);
      const { low, high } = stream.between(TEN, TEN + 12_000);
      if (low <= truth && truth <= high) covered++;
    }
    expect(covered / RUNS).toBeGreaterThan(LEAST);
    // With few events an interval ends at 0 or θ, and holds more often than it says.
    expect(covered / RUNS).toBeLessThan(name === "mean of few" ? 1 : MOST);
  });
});
