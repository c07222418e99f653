import { describe, expect, test } from "vitest";
import { eventAnswer } from "../../src/events/eventAnswer.js";
import { ratioOf } from "../../src/events/ratio.js";
import { noiseQuantile } from "../../src/stream/answer.js";

const raw = (sum: number, variance: number) => ({ sum, spread: { variance, fourth: 0 } });

test("without a count above 0 a mean is the middle of what it may be", () => {
  for (const count of [0, -3])
    expect(ratioOf(raw(5, 1), raw(count, 1), 40, 0.95)).toEqual({ value: 20, low: 0, high: 40 });
});

test("a count above 0 divides, however small", () => {
  expect(ratioOf(raw(5, 0), raw(0.5, 0), 40, 0.95)).toEqual({ value: 10, low: 10, high: 10 });
});

test("the standard error of a mean is half of the interval that holds it in 68.27 % of the cases", () => {
  const window = { from: 0, to: 1000, complete: true };
  const of = (confidence: number) =>
    eventAnswer(window, [raw(3000, 100), raw(100, 4)], [0.5, 1], 1000, confidence);
  const { low, high, standardError } = of(0.6827);
  expect(standardError).toBeCloseTo((high - low) / 2, 12);
  // Noise of a normal law: √(σ_S² + m²σ_C²)/C = √(100 + 30²·4)/100 steps of ½, to first order.
  expect(of(0.95).standardError).toBeCloseTo((Math.sqrt(100 + 900 * 4) / 100) * 0.5, 2);
});

describe("against the law itself", () => {
  const spread = (variance: number, fourth: number) => ({ variance, fourth });
  const cases = [
    [3000, spread(100, 500), 100, spread(4, 3), 1000],
    [3000, spread(10_000, 1e8), 100, spread(60, 900), 45],
    [-50, spread(100, 0), 80, spread(9, 0), 40],
    [70, spread(3, 9), 12, spread(1, 1), 40],
    [500, spread(0, 0), 20, spread(0, 0), 40],
    [500, spread(1, 0), 7, spread(9, 0), 400],
  ] as const;

  test.each(cases)("S = %d (%j) and C = %d (%j), at most %d", (s, sSpread, c, cSpread, most) => {
    for (const confidence of [0.5, 0.95]) {
      const answer = ratioOf({ sum: s, spread: sSpread }, { sum: c, spread: cSpread }, most, confidence);
      const m = Math.min(most, Math.max(0, s / c));
      expect(answer.value).toBeCloseTo(m, 12);
      const z = noiseQuantile(confidence, {
        variance: sSpread.variance + m * m * cSpread.variance,
        fourth: sSpread.fourth + m ** 4 * cSpread.fourth,
      });
      // A mean is held while the noise may explain S − m·C. Beside each end that is no end of [0, most], one is and one is not.
      const held = (mean: number) =>
        Math.abs(s - mean * c) <= z * Math.sqrt(sSpread.variance + mean ** 2 * cSpread.variance) + 1e-9;
      const step = 1e-6 * most;
      if (answer.low > 0) expect([held(answer.low + 1e-12), held(answer.low - step)]).toEqual([true, false]);
      if (answer.high < most && answer.high > 0)
        expect([held(answer.high - 1e-12), held(answer.high + step)]).toEqual([true, false]);
      if (answer.low === 0 && s / c > 0) expect(held(0)).toBe(true);
      if (answer.high === most && s / c < most) expect(held(most)).toBe(true);
    }
  });

  test("a count that may be 0 says nothing", () => {
    expect(ratioOf(raw(50, 1), raw(1.9, 1), 40, 0.95)).toEqual({ value: 50 / 1.9, low: 0, high: 40 });
    expect(ratioOf(raw(50, 1), raw(2, 1), 40, 0.95)).not.toMatchObject({ low: 0 });
  });

  test("answers: one column in its unit, two as a mean, none as nothing", () => {
    const window = { from: 5, to: 9, complete: false };
    const one = { sum: 30, spread: { variance: 16, fourth: 0 } };
    const reach = noiseQuantile(0.9, one.spread) * 2;
    const single = eventAnswer(window, [one], [0.5], 10, 0.9);
    expect(single).toEqual({
      ...{ ...window, value: 15, standardError: 2, confidence: 0.9 },
      ...{ low: 15 - reach, high: 15 + reach },
    });
    expect(eventAnswer(window, [], [0.5], 10, 0.9)).toEqual({
      ...{ ...window, value: 0, standardError: 0, low: 0, high: 0, confidence: 0.9 },
    });
    const two = { sum: 6, spread: { variance: 0.25, fourth: 0 } };
    const mean = eventAnswer(window, [one, two], [0.5, 1], 10, 0.9);
    const [ratio, narrow] = [ratioOf(one, two, 10, 0.9), ratioOf(one, two, 10, 0.6827)];
    expect(mean).toEqual({
      ...{ ...window, confidence: 0.9, sum: single, count: eventAnswer(window, [two], [1], 10, 0.9) },
      ...{ value: 2.5, low: ratio.low / 2, high: ratio.high / 2 },
      standardError: (narrow.high - narrow.low) / 4,
    });
  });
});
