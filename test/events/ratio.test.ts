import { expect, test } from "vitest";
import { eventAnswer } from "../../src/events/eventAnswer.js";
import { ratioOf } from "../../src/events/ratio.js";

const raw = (sum: number, variance: number) => ({ sum, spread: { variance, fourth: 0 } });

test("without a count above 0 a mean is the middle of what it may be", () => {
  for (const count of [0, -3])
    expect(ratioOf(raw(5, 1), raw(count, 1), 40, 0.95)).toEqual({ value: 20, low: 0, high: 40 });
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
