/**
 * Intervals of the default answers, "best", and of smoothers whose predictions are no weighted sums. What they do to the
 * noise depends on the numbers that came out, so their error bars are upper bounds: they hold the truth in at least 95 %
 * of the runs, on data that stand still and on data that do not. Takes 6 s.
 */
import { describe, expect, test } from "vitest";
import { chooseCore } from "../../src/core/choose.js";
import { Stage, subStream } from "../../src/core/random.js";
import { resolveSettings } from "../../src/stream/options.js";
import type { SmootherChoice } from "../../src/stream/smoothers/index.js";
import { HoldoutStream } from "../../src/stream/stream.js";

const RUNS = 1000;
/** Blocks of 4 values, trees of 16, forests of 64; the stream stands inside a block of its second forest. */
const [HOLDOUT, LENGTH] = [24, 86];
const OPTIONS = {
  ...{ epsilon: 0.5, max: 10, threshold: 10, maxRange: 64, holdout: HOLDOUT },
  tuning: { resolution: 1, fanout: 4, skipLevels: 1 },
} as const;
const RANGES: Record<string, readonly [number, number]> = {
  "whole blocks": [8, 24],
  "part blocks": [5, 27],
  "part of one block": [17, 19],
  "across forests": [50, 75],
  "the running block": [84, 86],
  "a part block, and all after it": [65, 86],
  everything: [0, 86],
};

const words = new Uint32Array(HOLDOUT + LENGTH);
chooseCore().keystream(subStream(new Uint32Array(8), Stage.baseline, 0, 0), words);
const DATA: Record<string, (i: number) => number> = {
  constant: () => 3,
  rough: (i) => words[i]! % 11,
  "climbing, with spikes": (i) => (i % 29 === 0 ? 10 : Math.round(i / 15)),
};
const SMOOTHERS: SmootherChoice[] = ["recent", "shrunk", { period: 8 }];

/**
 * The share of hits of an interval that holds in 95 % of the runs strays by √(0.95·0.05/1000) = 0.0069. One of the
 * 3·3·7·2 + 6 shares here is 5.8 times that too low with probability 132·3.4·10⁻⁹ < 10⁻⁶.
 */
const LEAST = 0.95 - 5.8 * Math.sqrt((0.95 * 0.05) / RUNS);

function shares(smoother: SmootherChoice, values: Float64Array, shrink: number): Map<string, number> {
  const settings = resolveSettings({ ...OPTIONS, smoother });
  const hits = new Map<string, number>();
  for (let run = 0; run < RUNS; run++) {
    const stream = new HoldoutStream(settings, chooseCore(), Uint32Array.of(run, 2, 3, 4, 5, 6, 7, 8));
    stream.pushMany(values);
    for (const answer of ["best", "published"] as const)
      for (const [name, [from, to]] of Object.entries(RANGES)) {
        const truth = values.subarray(HOLDOUT + from, HOLDOUT + to).reduce((sum, value) => sum + value, 0);
        const { sum, low, high } = stream.range(from, to, { answer });
        const held = Math.abs(sum - truth) <= (shrink * (high - low)) / 2;
        hits.set(`${answer}: ${name}`, (hits.get(`${answer}: ${name}`) ?? 0) + Number(held) / RUNS);
      }
  }
  return hits;
}

describe.each(Object.keys(DATA))("%s data", (kind) => {
  const values = Float64Array.from({ length: HOLDOUT + LENGTH }, (_, i) => DATA[kind]!(i));

  test.each(SMOOTHERS)("%j: at least 95 %% in every kind of range", (smoother) => {
    const low = [...shares(smoother, values, 1)].filter(([, share]) => share < LEAST);
    expect(low).toEqual([]);
  });
});

test("on constant data they are longer than they need be: the figures of docs/privacy.md", () => {
  const values = new Float64Array(HOLDOUT + LENGTH).fill(3);
  const percent = (smoother: SmootherChoice) =>
    Object.fromEntries(
      [...shares(smoother, values, 1)]
        .filter(([name]) => name.startsWith("best: "))
        .map(([name, share]) => [name.slice(6), Math.round(100 * share)]),
    );
  const inside = { "whole blocks": 99, "part blocks": 99, "part of one block": 100, "across forests": 100 };
  expect(percent("recent")).toEqual({
    ...inside,
    ...{ "the running block": 97, "a part block, and all after it": 97, everything: 96 },
  });
  expect(percent("shrunk")).toEqual({
    ...inside,
    ...{ "the running block": 100, "a part block, and all after it": 99, everything: 98 },
  });
});

test("intervals of half the length would be seen", () => {
  const values = new Float64Array(HOLDOUT + LENGTH).fill(3);
  const low = [...shares("recent", values, 0.5)].filter(([, share]) => share < LEAST).map(([name]) => name);
  expect(low).toEqual(
    expect.arrayContaining(["best: everything", "best: the running block", "published: everything"]),
  );
});

describe("a second choice of θ", () => {
  /** Blocks of 4 values, trees of 64, forests of 256; after 64 positions θ and the noise change. */
  const settings = resolveSettings({
    ...{ epsilon: 2, max: 50, maxRange: 256, holdout: 32 },
    tuning: { resolution: 1, fanout: 4, skipLevels: 1, follow: true, refine: true },
  });
  const ranges: Record<string, readonly [number, number]> = {
    "in the first tree": [9, 50],
    "the first tree": [0, 64],
    "over the border": [30, 90],
    "after it": [70, 150],
    "the running block": [150, 158],
    everything: [0, 158],
  };
  const values = Float64Array.from({ length: 32 + 158 }, (_, i) => (i * 7919) % 41);

  /** Of the sums of values clamped to the θ of their time. @param noise 1, or the factor by which error bars are too short */
  function clampedShares(noise: number): Map<string, number> {
    const hits = new Map<string, number>();
    for (let run = 0; run < RUNS; run++) {
      const stream = new HoldoutStream(settings, chooseCore(), Uint32Array.of(run, 2, 3, 4, 5, 6, 7, 9));
      stream.pushMany(values);
      const { thresholds } = stream.statement();
      const thetaAt = (at: number) => thresholds.findLast(({ from }) => from <= at)!.threshold;
      for (const [name, [from, to]] of Object.entries(ranges)) {
        let truth = 0;
        for (let i = from; i < to; i++) truth += Math.min(values[32 + i]!, thetaAt(i));
        const { sum, low, high } = stream.range(from, to);
        const held = Math.abs(sum - truth) <= (noise * (high - low)) / 2;
        hits.set(name, (hits.get(name) ?? 0) + Number(held) / RUNS);
      }
    }
    return hits;
  }
  const low = (noise: number) => [...clampedShares(noise)].filter(([, share]) => share < LEAST);

  test("at least 95 % on both sides of the border and over it", () => {
    expect(low(1)).toEqual([]);
  });

  test("error bars for twice the ε would be seen", () => {
    expect(low(0.5).map(([name]) => name)).toEqual(
      expect.arrayContaining(["the first tree", "over the border", "everything"]),
    );
  });
});
