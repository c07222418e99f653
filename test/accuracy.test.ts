/** How far answers are off: against what the closed form says, and systems against each other. */
import { beforeAll, describe, expect, test } from "vitest";
import { system, type SystemOptions } from "../src/baselines/index.js";
import type { Publisher } from "../src/central/publisher.js";
import { tops } from "../src/index.js";
import { evaluate, type SystemName } from "../src/lab/evaluate.js";
import { randomRanges } from "../src/lab/metrics.js";
import { diurnalStream, driftingStream, longTailedStream } from "./reference/streams.js";

const Z = 5.327; // two-sided: one false alarm in 10⁷ fresh seeds

describe("noise in ranges", () => {
  const FORESTS = 16_384;
  const VALUE = 3; // always the same, so that predictions and parts of blocks are right, and all that is left is noise
  const shape = {
    max: 10,
    threshold: 10,
    resolution: 1,
    maxRange: 256,
    fanout: 4,
    skipLevels: 1,
    history: Infinity,
  } as const;
  /** Blocks are 4 values, their parents 16 and 64: within and across all of them, and across forests. */
  const RANGES = [
    ...[[0, 256], [0, 4], [0, 16], [0, 64], [0, 128], [0, 1], [4, 8], [12, 20], [60, 68], [63, 65], [1, 255]],
    ...[[2, 6], [5, 7], [16, 48], [20, 236], [100, 101], [128, 192], [130, 190], [252, 256], [251, 256], [77, 200]],
    ...[[200, 300], [255, 257], [192, 320], [0, 512]],
  ] as const; // prettier-ignore

  function make(epsilon: number): Publisher {
    const stream = tops({ ...shape, epsilon, unsafeSeed: "variance" });
    const forest = new Float64Array(256).fill(VALUE);
    for (let i = 0; i < FORESTS; i++) stream.pushMany(forest);
    return stream;
  }

  /** Over pairs of forests for ranges that reach into the next one, so that all samples are independent. */
  function samples(stream: Publisher, [from, to]: readonly [number, number]) {
    const step = to > 256 ? 512 : 256;
    return Array.from({ length: (256 * FORESTS) / step }, (_, i) =>
      stream.range(step * i + from, step * i + to),
    );
  }

  let honest: Publisher;
  let loud: Publisher; // noise 10 % larger than ε = 0.5 asks for
  beforeAll(() => {
    honest = make(0.5);
    loud = make(0.5 / 1.1);
  });

  /**
   * Sample variance over claimed variance, in standard deviations of what sampling does to it: an excess kurtosis of at
   * most 3, that of one Laplace variable, makes it stray by √(5/n).
   */
  function surplus(stream: Publisher, range: readonly [number, number]): number {
    const claimed = honest.range(...range).standardError ** 2;
    const errors = samples(stream, range).map(({ sum }) => sum - VALUE * (range[1] - range[0]));
    const variance = errors.reduce((sum, error) => sum + error ** 2, 0) / errors.length;
    return (variance / claimed - 1) / Math.sqrt(5 / errors.length);
  }

  test.each(RANGES)("has the variance of the closed form in [%i, %i)", (...range) => {
    expect(Math.abs(surplus(honest, range))).toBeLessThan(Z);
  });

  test("10 % more noise than claimed is seen in every one of them", () => {
    for (const range of RANGES) expect(surplus(loud, range)).toBeGreaterThan(Z);
  });

  /**
   * How often 95 % intervals hold the truth, less 0.95. A binomial share strays by √(0.95·0.05/n), and a quantile that
   * is off by at most 0.03 standard deviations (test/ranges) by 0.0035.
   */
  function miss(stream: Publisher, range: readonly [number, number]): { miss: number; slack: number } {
    const [low, high] = honest.range(...range).interval();
    const reach = (high - low) / 2;
    const errors = samples(stream, range).map(({ sum }) => sum - VALUE * (range[1] - range[0]));
    const share = errors.filter((error) => Math.abs(error) <= reach).length / errors.length;
    return { miss: share - 0.95, slack: Z * Math.sqrt((0.95 * 0.05) / errors.length) + 0.0035 };
  }

  test("95 % intervals hold the truth in 95 % of all forests", () => {
    for (const range of RANGES) {
      const found = miss(honest, range);
      expect(Math.abs(found.miss)).toBeLessThan(found.slack);
    }
  });

  test("intervals that are 10 % too narrow do not", () => {
    const seen = RANGES.map((range) => miss(loud, range)).filter(({ miss, slack }) => miss < -slack);
    expect(seen.length).toBeGreaterThan(RANGES.length / 2);
  });
});

describe("hierarchies on a stationary stream, θ fixed where it clamps nothing", () => {
  const MAX = 400;
  const r = 2 ** 20;
  const data = longTailedStream(r, MAX, "stationary").map((value) => Math.min(value, MAX));
  const ranges = randomRanges("hierarchies", r, 1000);
  const closed = new Map<SystemName, number>();
  const measured = new Map<SystemName, number>();
  /** The fewer nodes a range has, the more a run's error varies: up to 0.6 of itself, so mean over more runs. */
  const RUNS = { h2: 3, h16: 3, hc16: 6, hhatc16: 30 } as const;

  beforeAll(() => {
    for (const method of ["h2", "h16", "hc16", "hhatc16"] as const) {
      const options: SystemOptions = { method, epsilon: 0.05, max: MAX, maxRange: r, unsafeSeed: "one" };
      const stream = system(options);
      stream.pushMany(data);
      const squares = ranges.map(({ from, to }) => stream.range(from, to).standardError ** 2);
      closed.set(method, squares.reduce((a, b) => a + b, 0) / ranges.length);
      const { results } = evaluate({
        data,
        max: MAX,
        epsilons: [0.05],
        methods: [method],
        repeat: RUNS[method],
        queries: 500,
        holdout: 0,
        maxRange: r,
        seed: "hierarchies",
      });
      measured.set(method, results[0]!.mse.mean);
    }
  });

  const ratio = (of: Map<SystemName, number>, a: SystemName, b: SystemName) => of.get(a)! / of.get(b)!;

  test("in closed form: H2/H16 about 5, H16/Hc16 about 2, Hc16/Ĥc16 above 10", () => {
    // H2: some 18.5 of 20² units; H16: 63 of 5². Hc16: C_0 = 1197; Ĥc16: C_3 = 77.
    expect(ratio(closed, "h2", "h16")).toBeGreaterThan(4);
    expect(ratio(closed, "h2", "h16")).toBeLessThan(5.5);
    expect(ratio(closed, "h16", "hc16")).toBeGreaterThan(2);
    expect(ratio(closed, "h16", "hc16")).toBeLessThan(3);
    expect(ratio(closed, "hc16", "hhatc16")).toBeGreaterThan(10);
    expect(ratio(closed, "hc16", "hhatc16")).toBeLessThan(18);
  });

  test("measured: as the closed form says, within what runs differ by", () => {
    // Z·0.6/√runs is 0.58 for 30 runs; ranges of one run share nodes less in the other trees, where 0.25 is generous.
    for (const [method, spread] of [
      ["h2", 0.25],
      ["h16", 0.25],
      ["hc16", 0.35],
      ["hhatc16", 0.6],
    ] as const)
      expect(Math.abs(measured.get(method)! / closed.get(method)! - 1)).toBeLessThan(
        Z * spread * Math.sqrt(1 / RUNS[method]),
      );
    expect(ratio(measured, "h2", "h16")).toBeGreaterThan(3);
    expect(ratio(measured, "h16", "hc16")).toBeGreaterThan(1.5);
    expect(ratio(measured, "hc16", "hhatc16")).toBeGreaterThan(6);
  });
});

test("H2, H16 and Hc16 are 100 times better at ε = 0.1 than at 0.01", () => {
  // Their error is noise alone, and its variance goes with 1/ε². Twelve runs a cell: Z·0.4·√(2/12) = 0.87 of a ratio.
  const data = longTailedStream(2 ** 14, 400, "improve").map((value) => Math.min(value, 400));
  const { results } = evaluate({
    data,
    max: 400,
    epsilons: [0.01, 0.1],
    methods: ["h2", "h16", "hc16"],
    repeat: 12,
    queries: 300,
    holdout: 0,
    maxRange: 2 ** 14,
    seed: "improve",
  });
  for (let i = 0; i < results.length; i += 2) {
    const gain = results[i]!.mse.mean / results[i + 1]!.mse.mean;
    expect(gain).toBeGreaterThan(100 / 1.87);
    expect(gain).toBeLessThan(100 * 1.87);
  }
});

describe("ToPS against PAK at ε = 0.05", () => {
  /** A public bound is a guess on the safe side: most values lie far below it, as in sales or query counts. */
  const [MAX, TYPICAL] = [1657, 200];
  const errors = (data: Float64Array) => {
    const { results } = evaluate({
      data,
      max: MAX,
      epsilons: [0.05],
      methods: ["tops", "pak", "base"],
      repeat: 2,
      seed: "orders",
    });
    const [own, pak, zeros] = results.map(({ mse }) => mse.mean);
    return { own: own!, pak: pak!, zeros: zeros! };
  };

  test.each([
    ["long-tailed", longTailedStream],
    ["diurnal", diurnalStream],
  ])("better by seven orders of magnitude: %s", (_, stream) => {
    // S-PAK adds κ(Z + G)/a ≈ 270 times the smooth sensitivity to its θ, and H2 spends 20²·18.5 units of noise for 77.
    const { own, pak, zeros } = errors(stream(2 ** 20 + 2 ** 16, TYPICAL, "orders"));
    expect(pak / own).toBeGreaterThan(1e7);
    expect(zeros / own).toBeGreaterThan(1000);
  });

  test("still better on a stream that climbs tenfold after θ is chosen, though clamping then costs most", () => {
    const { own, pak, zeros } = errors(driftingStream(2 ** 20 + 2 ** 16, TYPICAL, "orders"));
    expect(pak / own).toBeGreaterThan(100);
    expect(zeros / own).toBeGreaterThan(1);
  });
});
