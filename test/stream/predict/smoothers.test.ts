import { describe, expect, test } from "vitest";
import { smootherOf } from "../../../src/cli/streamOptions.js";
import {
  checkSmoother,
  makeSmoother,
  PARAMETRIC,
  PLAIN,
  type Smoother,
  type SmootherChoice,
  type SmootherContext,
  smootherName,
} from "../../../src/stream/predict/smoothers/index.js";
import { MEDIAN_BLOCKS } from "../../../src/stream/predict/smoothers/median.js";
import { valueStream } from "../../../src/stream/holdoutStream.js";
import { saved } from "../../support/saved.js";
import vectors from "../../vectors/smoothers.json" with { type: "json" };

const context = (unit: number): SmootherContext => ({
  ...{ unit, least: 0, fanout: 4, levels: 3, blocksPerForest: 64, blockLength: 4, first: 10 },
  largest: 2 ** 40,
});

/** The release rule as printed, for whole blocks: p/g at all but the last position, the rest of û at the last. */
function publish(choice: SmootherChoice, estimates: readonly number[], g: number, theta: number): number[] {
  const smoother = makeSmoother(choice, context(1 / g));
  let p = (g * theta) / 2;
  return estimates.flatMap((estimate) => {
    const block = [...new Array<number>(g - 1).fill(p / g), estimate - ((g - 1) * p) / g];
    p = smoother.next(estimate, 1);
    return block;
  });
}

describe.each(["full", "moving_w2"] as const)("vectors, %s", (name) => {
  const v = vectors[name];
  test.each([
    ["naive", "recent"],
    ["mean", "mean"],
    ["median", "median"],
    ["moving", { moving: v.moving_w + 1 }], // the recorded code averages one block more than its parameter says
    ["exp", { exponential: v.alpha }],
  ] as [keyof typeof v, SmootherChoice][])("%s", (field, choice) => {
    const got = publish(choice, v.leaf_estimates, v.g, v.theta);
    const want = v[field] as number[];
    expect(got).toHaveLength(want.length);
    got.forEach((value, i) => expect(value).toBeCloseTo(want[i]!, 11));
  });
});

test("moving forgets what is older than its window", () => {
  const smoother = makeSmoother({ moving: 2 }, context(1));
  expect([10, 20, 40, 0].map((x) => smoother.next(x, 1))).toEqual([10, 15, 30, 20]);
});

test("median equals a sorted window, also when the window is full and values repeat", () => {
  const smoother = makeSmoother("median", context(1));
  const seen: number[] = [];
  for (let i = 0; i < 2 * MEDIAN_BLOCKS + 100; i++) {
    const value = ((i * 7919) % 1009) - 500 + (i % 3 === 0 ? 0.5 : 0);
    seen.push(value);
    const got = smoother.next(value, 1);
    if (i < 50 || i % 997 === 0 || i > 2 * MEDIAN_BLOCKS + 90) {
      const window = seen.slice(-MEDIAN_BLOCKS).sort((a, b) => a - b);
      const half = window.length >> 1;
      expect(got).toBe(window.length % 2 === 1 ? window[half] : (window[half - 1]! + window[half]!) / 2);
    }
  }
});

/** Every smoother of the list, each with two parameters if it has one. */
const PARAMETERS = { period: [12, 64], moving: [1, 3], exponential: [1, 0.3] } satisfies Record<
  keyof typeof PARAMETRIC,
  number[]
>;
const ALL = [
  ...Object.keys(PLAIN),
  ...Object.entries(PARAMETERS).flatMap(([name, values]) => values.map((value) => ({ [name]: value }))),
].map(checkSmoother);

/** The weight that a prediction gives each past block, newest first, measured: what a unit in that block adds to it. */
function response(make: () => Smoother, count: number): number[] {
  return Array.from({ length: count }, (_, back) => {
    const smoother = make();
    let prediction = NaN;
    for (let block = 0; block < count; block++)
      prediction = smoother.next(block === count - 1 - back ? 1 : 0, 1);
    return prediction;
  });
}

const stated = ({ weights }: Smoother, count: number): number[] => {
  const flat = weights!(count).flatMap(({ blocks, weight }) => new Array<number>(blocks).fill(weight));
  return Array.from({ length: count }, (_, back) => flat[back] ?? 0);
};

const isClose = (a: readonly number[], b: readonly number[]): boolean =>
  a.every((x, i) => Math.abs(x - b[i]!) < 1e-13);

const COUNTS = [1, 2, 3, 7, 20];

describe.each(ALL.map((choice) => ({ choice })))("conformance, $choice", ({ choice }) => {
  const make = (): Smoother => makeSmoother(choice, context(1));

  test("is what checkSmoother, the command line and the statement name", () => {
    expect(checkSmoother(choice)).toEqual(choice);
    const [flag] =
      typeof choice === "string" ? [choice] : Object.entries(choice).map((pair) => pair.join(":"));
    expect(smootherOf(flag)).toEqual(choice);
    expect(smootherName(choice)).not.toMatch(/undefined|NaN|object/);
  });

  test("what is saved is all there is: a copy of it gives the same predictions", () => {
    const [a, b] = [make(), make()];
    for (let i = 0; i < 10; i++) a.next(Math.sin(i), 1);
    b.load(saved(a));
    for (let i = 10; i < 20; i++) expect(b.next(Math.sin(i), 1)).toBe(a.next(Math.sin(i), 1));
  });

  test("one that has seen other blocks goes on from a state that is loaded", () => {
    const [a, b] = [make(), make()];
    for (let i = 0; i < 10; i++) {
      a.next(Math.sin(i), 1);
      b.next(Math.cos(i) * 7, 1); // as many blocks and the same noise: nothing but `load` tells them apart
    }
    b.load(saved(a));
    for (let i = 10; i < 20; i++) {
      expect(b.next(Math.sin(i), 1)).toBe(a.next(Math.sin(i), 1));
      expect(b.deferred).toBe(a.deferred);
    }
  });

  test("weights, if it states any, are what a unit in each block adds to the prediction", () => {
    const smoother = make();
    if (smoother.weights === undefined) return expect(UNWEIGHTED).toContainEqual(choice);
    for (const count of COUNTS) expect(isClose(stated(smoother, count), response(make, count))).toBe(true);
  });
});

/** Predictions that are no weighted sums of estimates. */
const UNWEIGHTED: readonly SmootherChoice[] = ["shrunk", "median", { period: 12 }, { period: 64 }];

describe("weights", () => {
  test.each(ALL.filter((choice) => !UNWEIGHTED.includes(choice) && typeof choice === "string"))(
    "%s: planted, weights that are 1 % off, or one block too long, are noticed",
    (choice) => {
      const make = (): Smoother => makeSmoother(choice, context(1));
      const { weights } = make();
      const off: Smoother = {
        ...make(),
        weights: (block) => weights!(block).map((run) => ({ ...run, weight: 1.01 * run.weight })),
      };
      const late: Smoother = {
        ...make(),
        weights: (block) => [{ blocks: 1, weight: 0 }, ...weights!(block)],
      };
      for (const wrong of [off, late])
        expect(COUNTS.every((count) => isClose(stated(wrong, count), response(make, count)))).toBe(false);
    },
  );

  test("slow exponential smoothing: few runs, and the sum of squared weights is right to 0.2 %", () => {
    for (const alpha of [0.5, 0.05, 1e-3, 1e-6])
      for (const blocks of [2, 1000, 1e6]) {
        const runs = makeSmoother({ exponential: alpha }, context(1)).weights!(blocks);
        expect(runs.length).toBeLessThan(80);
        const squares = runs.reduce((sum, run) => sum + run.blocks * run.weight ** 2, 0);
        // α² Σ ρ^(2i) over i < n − 1, and ρ^(2(n−1)) on the oldest, ρ = 1 − α
        const tail = (1 - alpha) ** (2 * (blocks - 1));
        const exact = (alpha / (2 - alpha)) * (1 - tail) + tail;
        expect(Math.abs(squares / exact - 1)).toBeLessThan(0.002);
      }
  });

  test("a median and a function of your own have none", () => {
    expect(makeSmoother("median", context(1)).weights).toBeUndefined();
    expect(makeSmoother(() => 1, context(1)).weights).toBeUndefined();
  });
});

describe("a function of your own", () => {
  test("sees block means in units of the stream, oldest first, at most 256", () => {
    const shown: number[][] = [];
    const smoother = makeSmoother((means) => {
      shown.push([...means]);
      return means.at(-1)!;
    }, context(0.5));
    for (let i = 1; i <= 300; i++) expect(smoother.next(i, 1)).toBe(i);
    expect(shown[2]).toEqual([0.5, 1, 1.5]);
    expect(shown[299]).toHaveLength(256);
    expect(shown[299]![0]).toBe(22.5);
    expect(shown[299]![255]).toBe(150);
  });

  test("that throws, or gives no number worth having, is stood in for by the last block, and counted", () => {
    const answers = [NaN, Infinity, 1e300, 42];
    const smoother = makeSmoother((means) => {
      if (means.length === 5) throw new Error("no idea");
      return answers[means.length - 1]!;
    }, context(0.5));
    expect([10, 20, 30, 40, 50].map((estimate) => smoother.next(estimate, 1))).toEqual([10, 20, 30, 84, 50]);
    expect(smoother.failures).toBe(4);
  });
});

test("bad choices say what was wanted", () => {
  expect(() => checkSmoother("newest")).toThrow('smoother: expected "shrunk", "recent", "mean"');
  expect(() => checkSmoother({ moving: 0 })).toThrow(
    "smoother.moving: expected a whole number from 1 to 4096, got 0",
  );
  expect(() => checkSmoother({ exponential: 1.5 })).toThrow(
    "smoother.exponential: expected 0 < α ≤ 1, got 1.5",
  );
  for (const choice of [Symbol("x"), 5n, null, {}])
    expect(() => checkSmoother(choice)).toThrow(/^smoother: expected "shrunk".* or a function, got /);
  for (const parameter of [Symbol("x"), 5n, "3", null])
    expect(() => checkSmoother({ moving: parameter })).toThrow(
      /^smoother.moving: expected a whole number, got /,
    );
});

test("predictions of a function of your own are taken at θ = 10⁹ too, in sums of 2⁴⁰ and more", () => {
  const stream = valueStream({
    ...{ epsilon: 1, max: 1e9, threshold: 1e9, maxRange: 2 ** 20, unsafeSeed: "large" },
    ...{ tuning: { fanout: 16, skipLevels: 3 }, smoother: () => 9e8 },
  });
  const numbers = stream.pushMany(new Float64Array(3 * 4096).fill(9e8));
  expect(4096 * 9e8).toBeGreaterThan(2 ** 40);
  // In a block, all numbers but the last are the prediction.
  for (const place of [4096, 8191 - 1, 8192]) expect(numbers[place]! / 9e8).toBeCloseTo(1, 9);
  expect(stream.explain()).not.toContain("which failed on");
});
