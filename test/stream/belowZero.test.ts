/** Streams of values from `min` on: temperatures and balances. */
import { describe, expect, test } from "vitest";
import { openHub, openStream, privateStream, restore, type StreamOptions } from "../../src/index.js";
import { memoryStore } from "../../src/durable/stores/memory.js";
import { planValues } from "../../src/stream/plan.js";
import { driftingStream } from "../support/streams.js";

const KEY = new Uint8Array(32).fill(7);
const MIN = -37.5;
const MAX = 90.5;
const WIDTH = MAX - MIN; // 128

/** Eighths, some of them outside the bounds: a value less MIN is exact. */
const values = driftingStream(3000, 1000, "below zero").map((value) => value / 8 - 45);
const shifted = values.map((value) => Math.min(Math.max(value, MIN), MAX) - MIN);

const base = {
  epsilon: 1,
  maxRange: 1024,
  holdout: 300,
  history: Infinity,
  unsafeSeed: "below zero",
} as const;
const KINDS: Record<string, Partial<StreamOptions> & { readonly threshold?: number }> = {
  default: {},
  "a public θ": { threshold: 60, holdout: 0 },
  "a public θ and a warm start": { threshold: 60, holdout: 50 },
  "the paper's variant": { variant: "paper" },
  "a second choice of θ": { maxRange: 16_384, tuning: { fanout: 16, follow: true, refine: true } },
  "the mean as prediction": { smoother: "mean", tuning: { skipLevels: 1 } },
  "no prediction": { tuning: { skipLevels: 0 } },
};

/** Options of the equivalent stream without `min`, for values less MIN: θ is less MIN too. */
const without = (options: (typeof KINDS)[string]): StreamOptions => ({
  ...{ ...base, ...options, max: WIDTH },
  ...(options.threshold === undefined ? {} : { threshold: options.threshold - MIN }),
});

describe.each(Object.entries(KINDS))("%s: the stream of values less min, shifted", (_, options) => {
  test.each(["wasm", "js"] as const)("%s: numbers, answers and statement", (core) => {
    const stream = privateStream({ ...base, ...options, core, min: MIN, max: MAX });
    const other = privateStream({ ...without(options), core });
    const numbers = Array.from(values, (value) => stream.push(value));
    const others = Array.from(shifted, (value) => other.push(value));
    expect(numbers).toEqual(others.map((number) => (number === undefined ? undefined : number + MIN)));
    expect(stream.published(3, 90)).toEqual(other.published(3, 90).map((number) => number + MIN));
    for (const [from, to] of [
      [0, 1],
      [5, 700],
      [256, 512],
      [0, stream.length],
    ] as const)
      for (const answer of ["best", "blocks", "published"] as const) {
        const n = to - from;
        const { sum, mean, low, high, ...rest } = other.range(from, to, { answer });
        expect(stream.range(from, to, { answer })).toEqual({
          ...{ sum: sum + n * MIN, mean: mean + MIN, low: low + n * MIN, high: high + n * MIN },
          ...rest,
        });
      }
    const { threshold, thresholds, ...rest } = other.statement();
    expect(stream.statement()).toEqual({
      ...rest,
      ...{ min: MIN, max: MAX, threshold: threshold! + MIN },
      thresholds: thresholds.map((one) => ({ ...one, threshold: one.threshold + MIN })),
      clamping: "values below min are clamped to min, values above max to max, and values above θ to θ",
      warnings: rest.warnings.map((warning) => warning.replace(`max = ${WIDTH}`, `max = ${MAX}`)),
    });
  });

  test("batches of any kind, and a restart in the middle, give the same bits", async () => {
    const settings: StreamOptions = { ...base, ...options, min: MIN, max: MAX };
    const whole = privateStream(settings);
    const numbers = Array.from(values, (value) => whole.push(value)).filter((x) => x !== undefined);
    let stream = privateStream(settings);
    const published: number[] = [];
    for (const [from, to] of [
      [0, 7],
      [7, 299],
      [299, 1400],
      [1400, 3000],
    ] as const) {
      const batch = values.slice(from, to);
      published.push(...stream.pushMany(from === 7 ? [...batch] : batch));
      stream = await restore(await stream.snapshot(KEY), KEY, settings);
    }
    expect(published).toEqual(numbers);
    expect(stream.range(2, 900)).toEqual(whole.range(2, 900));
  });
});

test("by hand, almost without noise: sums and means below zero, values outside are clamped", () => {
  const stream = privateStream({
    ...{ epsilon: 100, min: -40, max: 60, threshold: 60, maxRange: 256, unsafeSeed: "hand" },
    tuning: { skipLevels: 0 },
  });
  stream.pushMany([-12.5, -3.25, 0, -1e300, 1e300, -Number.MAX_VALUE, Number.MAX_VALUE]);
  stream.push(-20);
  const { sum, mean, low, high } = stream.range(0, 4);
  expect(sum).toBeCloseTo(-12.5 - 3.25 - 40, -1);
  expect(mean).toBeCloseTo(sum / 4, 9);
  expect([low <= -55.75, high >= -55.75, high < 0]).toEqual([true, true, true]);
  expect(stream.range(4, 7).sum).toBeCloseTo(60 - 40 + 60, -1);
  expect(stream.range(7, 8).sum).toBeCloseTo(-20, -1);
  expect(stream.range(3, 3)).toMatchObject({ sum: 0, mean: 0, low: 0, high: 0 });
});

test("a value less min may be too large for a double: it is clamped before, not refused", () => {
  const stream = privateStream({
    ...{ epsilon: 8, min: 1e307, max: 2e307, threshold: 2e307, maxRange: 64, unsafeSeed: "wide" },
    tuning: { resolution: 2 ** 1000 },
  });
  const extremes = [Number.MAX_VALUE, -Number.MAX_VALUE, 0, -0, 5e-324];
  expect([...stream.pushMany(extremes)].every(Number.isFinite)).toBe(true);
  expect(stream.push(-Number.MAX_VALUE)).toBeTypeOf("number");
});

test("what is not finite is refused, by position, and changes nothing", () => {
  const options = { ...base, threshold: 60, holdout: 0, min: MIN, max: MAX };
  const [stream, other] = [privateStream(options), privateStream(options)];
  for (const bad of [NaN, Infinity, -Infinity]) {
    expect(() => stream.push(bad)).toThrow("value: expected a finite number");
    for (const batch of [[1, bad], Float64Array.of(1, bad)])
      expect(() => stream.pushMany(batch)).toThrow("values[1]: expected a finite number");
  }
  expect(stream.received).toBe(0);
  expect(stream.pushMany(values)).toEqual(other.pushMany(values));
});

test("a getter of a batch cannot call the stream", () => {
  const stream = privateStream({ ...base, threshold: 60, holdout: 0, min: MIN, max: MAX });
  const batch = [1, 2];
  Object.defineProperty(batch, 1, { get: () => stream.push(3) });
  expect(() => stream.pushMany(batch)).toThrow("expected no call while another call on it runs");
  expect(stream.received).toBe(0);
});

test("a smoother of your own sees means in units of the stream, and answers in them", () => {
  const seen: number[] = [];
  const stream = privateStream({
    ...{ epsilon: 100, min: -40, max: 60, threshold: 60, maxRange: 256, unsafeSeed: "own" },
    tuning: { skipLevels: 1, fanout: 4 },
    smoother: (means) => {
      seen.push(means.at(-1)!);
      return -25;
    },
  });
  const numbers = stream.pushMany(new Array<number>(9).fill(-30));
  expect(seen).toHaveLength(2);
  for (const mean of seen) expect(Math.abs(mean + 30)).toBeLessThan(8);
  for (const i of [4, 5, 6, 8]) expect(numbers[i]).toBeCloseTo(-25, 3);
});

describe("the statement and the plan", () => {
  test("in words", () => {
    const stream = privateStream({ epsilon: 1, min: -40, max: 60, threshold: 0, maxRange: 64 });
    const text = stream.explain();
    expect(text).toContain("Replacing any one value by another between -40 and 60");
    expect(text).toContain("values below min are clamped to min");
    expect(text).toContain("rounded to -40 plus multiples of");
    expect(text).toContain("θ = 0. Noise on every node"); // 40 above min
  });

  test("θ of a plan has the noise of θ − min", () => {
    const [below] = planValues({ epsilon: 1, min: -40, max: 60, threshold: 10 }).thresholds;
    const [usual] = planValues({ epsilon: 1, max: 100, threshold: 50 }).thresholds;
    expect(below).toEqual({ ...usual, threshold: 10 });
    const chosen = planValues({ epsilon: 1, min: -40, max: 60 }).thresholds.map(({ threshold }) => threshold);
    expect(chosen.slice(0, 3)).toEqual([60, 10, -15]);
  });
});

describe("what is bound to min", () => {
  const options = { ...base, min: MIN, max: MAX };

  test("a snapshot: another min, or none, is refused by name", async () => {
    const bytes = await privateStream(options).snapshot(KEY);
    await expect(restore(bytes, KEY, { ...options, min: MIN - 1 })).rejects.toThrow(
      'made with min = "-38.5"',
    );
    await expect(restore(bytes, KEY, { ...base, max: MAX })).rejects.toThrow('made with min = "none"');
    const usual = await privateStream({ ...base, max: MAX }).snapshot(KEY);
    await expect(restore(usual, KEY, options)).rejects.toThrow('made with min = "-37.5"');
  });

  test("a stored stream goes on", async () => {
    const opening = { ...options, threshold: 60, holdout: 0, name: "t", store: memoryStore(), key: KEY };
    const first = await openStream(opening);
    const head = await first.pushMany(values.subarray(0, 500));
    await first.close();
    await expect(openStream({ ...opening, min: 0 })).rejects.toThrow("min");
    const again = await openStream(opening);
    const all = privateStream({ ...options, threshold: 60, holdout: 0 }).pushMany(values.subarray(0, 900));
    expect([...head, ...(await again.pushMany(values.subarray(500, 900)))]).toEqual([...all]);
    expect(await again.published(10, 20)).toEqual(all.slice(10, 20));
    await again.close();
  });

  test("a hub whose streams share θ: it is one of theirs", async () => {
    // No grid has these bounds on it, so that θ is rounded on its way.
    const hub = openHub({ ...base, min: -0.3, max: 0.1, threshold: "shared", holdout: 300 });
    await hub.pushMany(
      "any",
      Float64Array.from({ length: 300 }, (_, i) => (i % 40) / 100 - 0.3),
    );
    await hub.pushMany("one", new Float64Array(600).fill(-0.2));
    const { threshold, min } = await hub.statement("one");
    expect(min).toBe(-0.3);
    expect([threshold! > -0.3, threshold! <= 0.1]).toEqual([true, true]);
    const { low, high, mean } = await hub.range("one", 0, 256);
    expect([low <= 256 * -0.2, high >= 256 * -0.2, mean < 0]).toEqual([true, true, true]);
    await hub.close();
  });
});

describe("bad bounds", () => {
  test.each([
    [{ min: NaN, max: 1 }, "min: expected a finite number, got NaN"],
    [{ min: -Infinity, max: 1 }, "min: expected a finite number, got -Infinity"],
    [{ min: "-1", max: 1 }, 'min: expected a finite number, got "-1"'],
    [{ min: 5, max: 5 }, "max: expected a finite number above min = 5, got 5"],
    [{ min: -1, max: NaN }, "max: expected a finite number above min = -1, got NaN"],
    [{ min: -1e308, max: 1e308 }, "max: expected a finite number above min"],
    [{ min: -5, max: 10, threshold: -5 }, "threshold: expected min -5 + resolution"],
    [{ min: -5, max: 10, threshold: 11 }, "≤ θ ≤ max 10, got 11"],
    [
      { min: -1, max: 1, tuning: { resolution: 3 } },
      "tuning.resolution: expected at most max − min = 2, got 3",
    ],
    [{ min: 1e12, max: 1e12 + 1 }, "min: expected bounds within 2^40 times the resolution"],
  ])("%o", (bad, message) => {
    expect(() => privateStream({ epsilon: 1, ...bad } as StreamOptions)).toThrow(message);
  });
});

test("a range that is too wide for its noise is named as what it is", () => {
  expect(() => privateStream({ epsilon: 1, min: -1e12, max: 0, threshold: 0 })).toThrow(/max − min/);
});
