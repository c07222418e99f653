/**
 * How often intervals hold the sum of values clamped to the θ of their time, where θ changes: it is chosen once more when the
 * first tree ends, or follows a stream that grows. Each block is bounded by the θ of its own epoch. Takes 6 s.
 */
import { describe, expect, test } from "vitest";
import { chooseCore } from "../../src/core/choose.js";
import { resolveSettings, type Settings } from "../../src/stream/options.js";
import { HoldoutStream } from "../../src/stream/holdoutStream.js";
import { incompleteBeta } from "../support/binomial.js";

const [RUNS, HOLDOUT] = [1000, 32];

/** Blocks of 4 values, trees of 64, forests of 256. */
const settings = (refine: boolean): Settings =>
  resolveSettings({
    ...{ epsilon: refine ? 2 : 8, max: 50, maxRange: 256, holdout: HOLDOUT },
    tuning: { resolution: 2 ** -8, fanout: 4, skipLevels: 1, follow: true, refine },
  });

const RANGES: Record<string, readonly [number, number]> = {
  "in the first tree": [9, 50],
  "the first tree": [0, 64],
  "over the border": [30, 90],
  "after it": [70, 150],
  "late blocks": [128, 152],
  "the running block": [156, 158],
  everything: [0, 158],
};
const CASES = {
  "a second choice of θ": {
    settings: settings(true),
    value: (i: number) => (i < HOLDOUT ? i % 3 : (i * 7919) % 41),
  },
  "a θ that follows": { settings: settings(false), value: (i: number) => (i < 96 ? (i * 7) % 3 : 40) },
};

/** One of 14 shares is as low as this with probability 10⁻⁶, if intervals hold in 94.65 %: the quantile is off by 0.35 %. */
const LEAST = 0.898;

test("the odds of a false alarm", () => {
  const hits = LEAST * RUNS;
  expect(14 * (1 - incompleteBeta(hits + 1, RUNS - hits, 0.9465))).toBeLessThan(1e-6);
});

describe.each(Object.entries(CASES))("%s", (_, { settings: chosen, value }) => {
  const values = Float64Array.from({ length: HOLDOUT + 158 }, (_, i) => value(i));

  /** @param bend what becomes of an interval; θ by position */
  function shares(
    bend: (interval: [number, number], from: number, to: number, thetaAt: (at: number) => number) => void,
  ): Map<string, number> {
    const hits = new Map<string, number>();
    let changed = 0;
    for (let run = 0; run < RUNS; run++) {
      const stream = new HoldoutStream(chosen, chooseCore(), Uint32Array.of(run, 2, 3, 4, 5, 6, 7, 9));
      stream.pushMany(values);
      const { thresholds } = stream.statement();
      changed += Number(thresholds.length > 1) / RUNS;
      const thetaAt = (at: number) => thresholds.findLast(({ from }) => from <= at)!.threshold;
      for (const [name, [from, to]] of Object.entries(RANGES)) {
        let truth = 0;
        for (let i = from; i < to; i++) truth += Math.min(values[HOLDOUT + i]!, thetaAt(i));
        const { low, high } = stream.range(from, to);
        const interval: [number, number] = [low, high];
        bend(interval, from, to, thetaAt);
        const held = interval[0] <= truth && truth <= interval[1];
        hits.set(name, (hits.get(name) ?? 0) + Number(held) / RUNS);
      }
    }
    expect(changed).toBeGreaterThan(0.5);
    return hits;
  }
  const low = (found: Map<string, number>) => [...found].filter(([, share]) => share <= LEAST);

  test("at least 95 % on both sides of a change and over it", () => {
    expect(low(shares(() => undefined))).toEqual([]);
  });

  test("bounds by the θ of another epoch would be seen", () => {
    const found = shares((interval, from, to, thetaAt) => {
      interval[1] = Math.min(interval[1], (to - from) * thetaAt(0));
    });
    expect(low(found)).not.toEqual([]);
  });

  test("noise for twice the ε would be seen", () => {
    const found = shares((interval) => {
      const [middle, half] = [(interval[0] + interval[1]) / 2, (interval[1] - interval[0]) / 4];
      [interval[0], interval[1]] = [middle - half, middle + half];
    });
    expect(low(found).map(([name]) => name)).toContain("the first tree");
  });
});
