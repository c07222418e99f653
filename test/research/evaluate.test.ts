import seedrandom from "seedrandom";
import { describe, expect, test } from "vitest";
import {
  evaluate,
  prepare,
  runTrial,
  SYSTEM_NAMES,
  trials,
  type EvaluateOptions,
} from "../../research/evaluate.js";
import {
  errorsOver,
  meanAndSd,
  median,
  prefixSums,
  randomRanges,
  tile,
  type Range,
} from "../../research/metrics.js";
import { longTailedStream } from "../support/streams.js";

describe("metrics", () => {
  test("errors of sums and of means, worked by hand", () => {
    const prefix = prefixSums(Float64Array.of(1, 2, 3, 4));
    const ranges = [
      { from: 0, to: 4 }, // truth 10, answer 12: off by 2, by 0.5 a value
      { from: 1, to: 2 }, // truth 2, answer 1: off by 1
    ];
    const errors = errorsOver(ranges, prefix, (from) => (from === 0 ? 12 : 1));
    expect(errors).toEqual({ mse: 2.5, mae: 1.5, mmse: (0.25 + 1) / 2, mmae: 0.75 });
  });

  /** χ² of range counts against "all 10 ranges of r = 4 as likely", over 20 000 draws. */
  const unevenness = (ranges: readonly Range[]): number => {
    const counts = new Map<string, number>();
    for (const { from, to } of ranges) counts.set(`${from}-${to}`, (counts.get(`${from}-${to}`) ?? 0) + 1);
    expect(counts.size).toBe(10);
    return [...counts.values()].reduce((sum, count) => sum + (count - 2000) ** 2 / 2000, 0);
  };

  test("every range is as likely as any other", () => {
    // χ² with 9 degrees of freedom exceeds 50 with probability 10⁻⁷.
    expect(unevenness(randomRanges("uniform", 4, 20_000))).toBeLessThan(50);
  });

  test("the lesser and the larger of two positions would not do", () => {
    const uniform = seedrandom("skewed");
    const skewed = Array.from({ length: 20_000 }, () => {
      const [i, j] = [Math.floor(4 * uniform()), Math.floor(4 * uniform())];
      return { from: Math.min(i, j), to: Math.max(i, j) + 1 };
    });
    expect(unevenness(skewed)).toBeGreaterThan(50);
  });

  test("short data is mirrored, and mirrored again", () => {
    expect([...tile(Float64Array.of(1, 2, 3), 8)]).toEqual([1, 2, 3, 3, 2, 1, 1, 2]);
    expect(() => tile(new Float64Array(0), 3)).toThrow("data: expected at least one value, got none");
  });

  test("mean, standard deviation, median", () => {
    expect(meanAndSd([1, 2, 3, 6])).toEqual({ mean: 3, sd: Math.sqrt(14 / 3) });
    expect(meanAndSd([5])).toEqual({ mean: 5, sd: 0 });
    expect([median([3, 1, 2]), median([4, 1, 3, 2])]).toEqual([2, 2.5]);
  });
});

describe("evaluate", () => {
  const options: EvaluateOptions = {
    data: longTailedStream(1300, 100, "evaluate"),
    max: 100,
    epsilons: [0.5, 2],
    methods: ["tops", "h2", "base"],
    repeat: 3,
    queries: 40,
    holdout: 256,
    maxRange: 1024,
    seed: "evaluate",
  };

  test("one row per method and ε, the same for the same seed", () => {
    const first = evaluate(options);
    expect(first.results.map(({ method, epsilon }) => [method, epsilon])).toEqual(
      ["tops", "h2", "base"].flatMap((method) => [0.5, 2].map((epsilon) => [method, epsilon])),
    );
    const plain = (rows: typeof first.results) => rows.map(({ seconds, ...rest }) => rest);
    expect(plain(evaluate(options).results)).toEqual(plain(first.results));
    expect(plain(evaluate({ ...options, seed: "other" }).results)).not.toEqual(plain(first.results));
    expect(first.settings).toMatchObject({ max: 100, repeat: 3, queries: 40, holdout: 256, maxRange: 1024 });
    expect(JSON.stringify(first)).not.toContain("values");
  });

  test("the truth is the stream as it came: zeros are off by exactly the sums", () => {
    const released = prefixSums(options.data.subarray(256, 1280));
    const { mse } = runTrial(prepare(options), { method: "base", epsilon: 1, run: 1 });
    const ranges = randomRanges("evaluate, ranges of run 1", 1024, 40);
    const want = ranges.reduce((sum, { from, to }) => sum + (released[to]! - released[from]!) ** 2 / 40, 0);
    expect(mse / want).toBeCloseTo(1, 12);
  });

  test("every system runs, with everything that can be passed on", () => {
    const all = evaluate({
      ...options,
      methods: SYSTEM_NAMES,
      epsilons: [1],
      repeat: 1,
      variant: "paper",
      skipLevels: 1,
      smoother: "mean",
      answer: "published",
    });
    for (const { mse, theta } of all.results) {
      expect(mse.mean).toBeGreaterThan(0);
      expect(theta.min).toBeGreaterThanOrEqual(0);
    }
    const fixed = evaluate({ ...options, threshold: 30 });
    expect(fixed.results.map(({ theta }) => theta.median)).toEqual([30, 30, 30, 30, 0, 0]); // zeros are θ = 0
  });

  test("data that is too short is an error, or extended", () => {
    const short = { ...options, data: options.data.slice(0, 500) };
    expect(() => evaluate(short)).toThrow(
      "data: expected at least holdout + maxRange = 1280 values, got 500",
    );
    expect(trials(prepare({ ...short, tile: true }))).toHaveLength(18);
    expect(prepare({ ...short, tile: true }).values).toHaveLength(1280);
  });

  test("a method nobody knows is named", () => {
    expect(() => evaluate({ ...options, methods: ["h3" as "h2"] })).toThrow('methods: expected "tops"');
  });
});
