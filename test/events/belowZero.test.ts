/** Values below zero: temperatures and balances, with a public lower bound. */
import { describe, expect, test } from "vitest";
import { privateCounter, privateStream, restore } from "../../src/index.js";

const START = Date.UTC(2026, 2, 2);
const HOUR = 3_600_000;

/** Almost without noise: answers can be compared with the truth. */
function hourOf(values: readonly number[], options: object) {
  let now = START;
  const stream = privateStream({
    ...{ epsilon: 1e6, every: "1h", max: 50, threshold: 50, unsafeSeed: "below", clock: () => now },
    ...options,
  });
  for (const value of values) stream.add(value);
  now += HOUR;
  return { stream, answer: stream.advance()[0]! };
}

const temperatures = [-12.5, -3.25, 0, 4.75, 21, -40, 50];
const sum = temperatures.reduce((total, t) => total + t, 0);

describe("sums and means with min", () => {
  test("a sum counts negative values, and clamps those below min", () => {
    expect(hourOf(temperatures, { min: -40 }).answer.value).toBeCloseTo(sum, 1);
    expect(hourOf([-1000, 10], { min: -40 }).answer.value).toBeCloseTo(-30, 1);
  });

  test("without min they count as 0, as ever", () => {
    expect(hourOf([-1000, 10], {}).answer.value).toBeCloseTo(10, 1);
  });

  test("a mean, its sum and its count", () => {
    const { answer } = hourOf(temperatures, { of: "mean", min: -40 });
    expect(answer.value).toBeCloseTo(sum / 7, 1);
    expect(answer.sum!.value).toBeCloseTo(sum, 1);
    expect(answer.count!.value).toBeCloseTo(7, 1);
    expect(answer.low).toBeLessThanOrEqual(sum / 7);
    expect(answer.high).toBeGreaterThanOrEqual(sum / 7);
  });

  test("all values may be negative, θ too", () => {
    const { answer, stream } = hourOf([-30, -20, -5], { of: "mean", min: -40, max: -10, threshold: -10 });
    expect(answer.value).toBeCloseTo(-20, 1); // −5 is clamped to θ = −10
    expect(stream.statement()).toMatchObject({ min: -40, threshold: -10 });
  });

  test("the statement says it, in words too; the noise is for the largest distance from 0", () => {
    const { stream } = hourOf([], { min: -40, max: 10, threshold: 10 });
    const { min, noiseScale } = stream.statement();
    expect([min, noiseScale]).toEqual([-40, (2 * 40) / 1e6]); // two levels
    expect(stream.explain()).toContain("Values below -40 are clamped to it.");
    const mean = hourOf([], { of: "mean", min: -40, max: 10, threshold: 10 }).stream.statement();
    expect(mean.noiseScale).toBe((2 * 50) / 1e6);
  });

  test("θ is chosen above min, from a hold-out", () => {
    let now = START;
    const stream = privateStream({
      ...{ epsilon: 20, every: "1h", min: -40, max: 1000, unsafeSeed: "below", clock: () => now },
    });
    for (; now < START + 24 * HOUR; now += HOUR) for (let i = 0; i < 50; i++) stream.add((i % 40) - 15);
    stream.advance();
    const { threshold } = stream.statement();
    expect(threshold).toBeGreaterThan(10);
    expect(threshold).toBeLessThan(60); // the largest value is 24
    for (let i = 0; i < 50; i++) stream.add(-20);
    now += HOUR;
    const { value, low, high } = stream.advance().at(-1)!;
    expect(value).toBeLessThan(0);
    expect([low! <= -1000, high! >= -1000]).toEqual([true, true]);
  });

  test("a snapshot goes on, and another min is refused", async () => {
    const options = {
      epsilon: 1,
      every: "1h",
      min: -40,
      max: 50,
      threshold: 50,
      clock: () => START,
    } as const;
    const key = new Uint8Array(32);
    const bytes = await privateStream(options).snapshot(key);
    expect((await restore(bytes, key, options)).statement()).toMatchObject({ min: -40 });
    await expect(restore(bytes, key, { ...options, min: -30 })).rejects.toThrow("min");
  });
});

describe("bad input", () => {
  const options = { epsilon: 1, every: "1h", max: 10 };
  test.each([
    [{ ...options, min: NaN }, "min: expected a finite number"],
    [{ ...options, min: -Infinity }, "min: expected a finite number"],
    [{ ...options, min: 10 }, "max: expected a finite number above min = 10"],
    [{ ...options, min: -5, threshold: -5 }, "threshold: expected a finite number above min = -5"],
    [{ ...options, min: -5, threshold: 11 }, "threshold: expected at most max = 10"],
    [{ ...options, min: -5, perPerson: { sum: 20 } }, "min: expected none beside perPerson.sum"],
    [{ ...options, min: -(2 ** 40), resolution: 1 }, "resolution: expected 1 to 2^30 steps"],
    // The first that is too wide, though neither end is far from 0.
    [{ ...options, min: -1 - 2 ** 29, max: 2 ** 29, resolution: 1 }, "resolution: expected 1 to 2^30 steps"],
  ])("%o", (bad, message) => {
    expect(() => privateStream(bad)).toThrow(message);
  });

  test("the widest range is taken", () => {
    const widest = privateStream({ ...options, min: -(2 ** 29), max: 2 ** 29, resolution: 1 });
    expect(widest.statement()).toMatchObject({ min: -(2 ** 29), max: 2 ** 29 });
  });

  test("a counter has no min", () => {
    expect(() => privateCounter({ ...options, max: undefined, min: -1 } as never)).toThrow(
      "min: expected none",
    );
  });
});

/** Published numbers of 480 hours without events, at a scale of noise of about 20. */
function emptyHours(): number[] {
  let now = START;
  const counter = privateCounter({ epsilon: 0.1, every: "1h", unsafeSeed: "empty", clock: () => now });
  return Array.from({ length: 480 }, () => {
    now += HOUR;
    return counter.advance()[0]!.value!;
  });
}

/** Half of the numbers are below 0: fewer than 180 or more than 300 of 480 once in 10⁷ seeds. */
const isEven = (numbers: readonly number[]): boolean => {
  const below = numbers.filter((value) => value < 0).length;
  return below > 180 && below < 300;
};

describe("numbers of empty hours", () => {
  test("are not cut at 0, which would bias sums upwards", () => expect(isEven(emptyHours())).toBe(true));

  test("cut at 0 they would be noticed", () => {
    expect(isEven(emptyHours().map((value) => Math.max(0, value)))).toBe(false);
  });
});
