import { describe, expect, test } from "vitest";
import { privateStream } from "../../../src/index.js";
import type { StreamOptions } from "../../../src/stream/options.js";
import { small } from "../../support/smallStream.js";
import { longTailedStream } from "../../support/streams.js";

describe("threshold", () => {
  const values = longTailedStream(2000, 100, "theta");
  /** θ and the first published number, when some values are replaced by others. */
  const outcome = (change: (i: number) => boolean, options: Partial<StreamOptions> = {}) => {
    const tuning = { fanout: 4, skipLevels: 2 };
    const stream = privateStream({ ...small, holdout: 512, tuning, ...options });
    const published = stream.pushMany(values.map((value, i) => (change(i) ? 100 - value : value)));
    return { theta: stream.statement().threshold, first: published[0] };
  };

  test("depends on nothing but the positions of the hold-out that choose it", () => {
    const usual = outcome(() => false);
    expect(outcome((i) => i >= 512)).toEqual(usual);
    expect(outcome((i) => i % 16 === 15).theta).toBe(usual.theta);
    expect(outcome((i) => i < 512 && i % 16 !== 15).theta).not.toBe(usual.theta);
  });

  test("the warm start reads positions of its own", () => {
    const usual = outcome(() => false);
    expect(outcome((i) => i % 32 === 31 || i >= 512)).toEqual(usual);
    expect(outcome((i) => i < 512 && i % 32 === 15).first).not.toBe(usual.first);
  });

  test("in the paper's variant the first values choose it", () => {
    const paper = { variant: "paper", tuning: { fanout: 4, skipLevels: 2, warmStart: true } } as const;
    const usual = outcome(() => false, paper);
    expect(outcome((i) => i >= 448, paper).theta).toBe(usual.theta); // 448 choose, 64 warm up
    expect(outcome((i) => i < 448, paper).theta).not.toBe(usual.theta);
    expect(outcome((i) => i >= 448 && i < 512, paper).first).not.toBe(usual.first);
  });

  test("a public number is taken as it is, and needs no hold-out", () => {
    const stream = privateStream({ epsilon: 1, max: 100, threshold: 12.5, unsafeSeed: "fixed" });
    expect(stream.push(1)).toBeTypeOf("number");
    expect(stream.statement()).toMatchObject({ threshold: 12.5, stages: [{ stage: "release" }] });
  });
});

test("θ can be any of 2¹⁸ candidates, more than 16 bits can number", () => {
  const stream = privateStream({
    epsilon: 8,
    max: 2 ** 18,
    variant: "paper",
    tuning: { thresholdStep: 1 },
    holdout: 64,
    unsafeSeed: "many candidates",
  });
  stream.pushMany(new Float64Array(64).fill(200_000));
  // All 64 values lie above any lower θ; e^(−8·64) are the odds that noise prefers one.
  expect(stream.statement().threshold).toBeGreaterThanOrEqual(200_000);
  expect(stream.statement().threshold).toBeLessThan(250_000);
});
