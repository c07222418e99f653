import { describe, expect, test } from "vitest";
import { comparison } from "../../../research/systems/index.js";
import { privateStream } from "../../../src/index.js";
import { small } from "../../support/smallStream.js";
import { driftingStream } from "../../support/streams.js";

describe("range", () => {
  const values = driftingStream(6 * 256, 100, "range");
  const stream = privateStream({
    ...small,
    holdout: 0,
    threshold: 50,
    tuning: { ...small.tuning, skipLevels: 1 },
  });
  stream.pushMany(values);

  test("says what is wrong with a question", () => {
    expect(() => stream.range(0, 1537)).toThrow("range(0, 1537): only 1536 values published so far");
    expect(() => stream.range(5, 4)).toThrow("range(5, 4): to: expected a whole number from 5");
    expect(() => stream.range(-1, 4)).toThrow("range(-1, 4): from: expected a whole number from 0");
    expect(() => stream.range(0.5, 4)).toThrow("range(0.5, 4): from: expected a whole number");
    expect(() => stream.range(0, 10)).toThrow("positions before 1024 are no longer kept");
    expect(() => stream.range(1100, 1200, { answer: "exact" as "best" })).toThrow(
      'answer: expected "best", "blocks", "published"',
    );
    for (const confidence of [0, 1, 95, NaN])
      expect(() => stream.range(1100, 1200, { confidence })).toThrow(
        `confidence: expected a number between 0 and 1, got ${confidence}`,
      );
    expect(() => stream.range(1100, 1200, { level: 0.9 } as object)).toThrow('range: unknown option "level"');
  });

  test("answers are plain data, and a surer interval is a wider one", () => {
    const answer = stream.range(1100, 1200, { confidence: 0.99 });
    expect(answer.confidence).toBe(0.99);
    expect(structuredClone(answer)).toEqual(answer);
    expect(JSON.parse(JSON.stringify(answer))).toEqual(answer);
    const usual = stream.range(1100, 1200);
    expect(usual.confidence).toBe(0.95);
    expect(answer.low).toBeLessThan(usual.low);
    expect(answer.high).toBeGreaterThan(usual.high);
    expect(usual.low).toBeLessThan(usual.sum);
  });

  test("an empty range sums to 0 without error, anywhere and at any time", () => {
    const empty = { sum: 0, mean: 0, standardError: 0, low: 0, high: 0, confidence: 0.95 };
    for (const at of [0, 1100, stream.length]) expect(stream.range(at, at)).toMatchObject(empty);
    expect(privateStream(small).range(0, 0)).toMatchObject(empty); // before θ is chosen
    expect(() => stream.range(1537, 1537)).toThrow("only 1536 values published so far");
  });

  test("counts published positions, and says which received values they are", () => {
    const holding = privateStream({ ...small, holdout: 64 });
    const held = holding.pushMany(values.subarray(0, 64 + 200)).length;
    expect([held, holding.received]).toEqual([200, 264]);
    expect(holding.range(10, 30).received).toEqual({ from: 74, to: 94 });
    expect(holding.range(200, 200).received).toEqual({ from: 264, to: 264 });
    expect(stream.range(1100, 1200).received).toEqual({ from: 1100, to: 1200 }); // no hold-out
    expect(
      comparison({ method: "h16", epsilon: 1, max: 10, holdout: 64, maxRange: 64 }).range(0, 0).received,
    ).toEqual({ from: 64, to: 64 });
  });

  test("is close to the truth, as close as it says", () => {
    const exact = values.slice(1040, 1520).reduce((a, b) => a + b, 0);
    const { sum, mean, standardError } = stream.range(1040, 1520);
    expect(mean).toBe(sum / 480);
    // P(|noise| > 12 standard errors) ≤ e^(−12√2) < 10⁻⁷ for one Laplace variable, and less for a sum of many.
    expect(Math.abs(sum - exact)).toBeLessThan(12 * standardError);
    expect(Math.abs(sum - 2 * exact)).toBeGreaterThan(12 * standardError); // and twice the values would be seen
  });
});
