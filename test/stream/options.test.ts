import { describe, expect, test } from "vitest";
import { privateStream } from "../../src/index.js";
import { resolveSettings, type StreamOptions } from "../../src/stream/options.js";
import { small } from "../support/smallStream.js";

describe("bad parameters fail at construction, and say what was wanted and what came", () => {
  test.each([
    [{ epsilon: 0 }, "epsilon: expected a finite number above 0, got 0"],
    [{ epsilon: -1 }, "epsilon: expected a finite number above 0, got -1"],
    [{ epsilon: NaN }, "epsilon: expected a finite number above 0, got NaN"],
    [{ epsilon: Infinity }, "epsilon: expected a finite number above 0, got Infinity"],
    [{ epsilon: "1" }, 'epsilon: expected a number above 0, got "1"'],
    [{ epsilon: 5e-324 }, "epsilon: noise of scale"],
    [{ epsilon: 1e6 }, "epsilon: expected at most"],
    [{ max: 0 }, "max: expected a finite number above 0, got 0"],
    [{ max: 1e15 }, "is above 2^40; raise epsilon (1), lower max (1000000000000000)"],
    [{ max: 1e10, maxRange: 2 ** 30 }, "do not stay exact in a double"],
    [
      { tuning: { ...small.tuning, resolution: 101 } },
      "tuning.resolution: expected at most max = 100, got 101",
    ],
    [{ maxRange: 3 }, "maxRange: expected a whole number from 4 to"],
    [{ maxRange: 100.5 }, "maxRange: expected a whole number"],
    [
      { tuning: { ...small.tuning, fanout: 65 } },
      "tuning.fanout: expected a whole number from 2 to 64, got 65",
    ],
    [{ holdout: 15 }, "holdout: expected a whole number from 16 to 4294967296, got 15"],
    [{ variant: "paper", holdout: 0 }, "holdout: expected a whole number from 1 to 134217728, got 0"],
    [
      {
        variant: "paper",
        epsilon: 0.01,
        max: 1e15,
        tuning: { resolution: 1e12 },
        holdout: 4096,
        maxRange: 16,
      },
      "expected scores below 2⁵¹",
    ],
    [{ threshold: 2 ** 36, max: 2 ** 36, holdout: 2 ** 24, maxRange: 16 }, "do not stay exact in a double"],
    [
      { tuning: { fanout: 4, skipLevels: 4 } },
      'tuning.skipLevels: expected "auto", "paper" or a whole number from 0 to 3 (maxRange has 4 levels), got 4',
    ],
    [
      { tuning: { ...small.tuning, skipLevels: "most" } },
      'tuning.skipLevels: expected "auto", "paper", got "most"',
    ],
    [{ threshold: 101 }, "threshold: expected resolution"],
    [{ threshold: "max" }, 'threshold: expected "noisy-max" or a number, got "max"'],
    [{ tuning: { thresholdStep: 1 } }, 'tuning.thresholdStep: expected none; only variant "paper"'],
    [
      { variant: "paper", tuning: { thresholdStep: 0.3 } },
      "tuning.thresholdStep: expected a multiple of resolution",
    ],
    [
      { variant: "paper", tuning: { thresholdStep: 1000 } },
      "tuning.thresholdStep: expected at most max = 100, got 1000",
    ],
    [
      { tuning: { ...small.tuning, warmStart: 1 } },
      "tuning.warmStart: expected true or false, got a value of type number",
    ],
    [{ variant: "printed" }, 'variant: expected "default", "paper", got "printed"'],
    [{ history: 511 }, "history: expected at least 512 values (two forests) or Infinity, got 511"],
    [{ history: 5 }, "history: expected at least 512 values (two forests) or Infinity, got 5"],
    [{ core: "gpu" }, 'core: expected "auto", "wasm", "js", got "gpu"'],
    [{ smoother: "newest" }, 'smoother: expected "shrunk", "recent"'],
    [{ unsafeSeed: 5 }, "unsafeSeed: expected a string, got a value of type number"],
    [{ epsilom: 5 }, 'options: unknown option "epsilom"'],
    [{ fanout: 4 }, 'options: unknown option "fanout"'],
    [{ tuning: { fanOut: 4 } }, 'tuning: unknown option "fanOut"'],
    [{ tuning: 4 }, "tuning: expected an object of options, got 4"],
  ])("%o", (change, message) => {
    expect(() => privateStream({ ...small, ...change } as StreamOptions)).toThrow(message);
  });
});

test.each(["js", "wasm"] as const)(
  "blocks longer than kernels count fail when a stream is made, %s",
  (core) => {
    const make = (skipLevels: number) =>
      privateStream({
        ...{ epsilon: 1, max: 100, threshold: 100, holdout: 0, maxRange: 2 ** 40, core, unsafeSeed: "long" },
        tuning: { skipLevels },
      });
    for (const skipLevels of [8, 9])
      expect(() => make(skipLevels)).toThrow(/^tuning.skipLevels: expected blocks of at most 2\^30 values/);
    expect(make(7).pushMany(new Float64Array(1000).fill(5))).toHaveLength(1000); // 2²⁸ values a block
  },
);

test("the paper's candidates for θ: steps of the grid, doubled until there are at most 2^16", () => {
  const grid = (max: number) => {
    const options = { epsilon: 1, max, variant: "paper", tuning: { resolution: 1 } } as const;
    const {
      grid: { thresholdStep, candidates },
    } = resolveSettings(options);
    return [thresholdStep, candidates];
  };
  expect(grid(2 ** 16)).toEqual([1, 2 ** 16]);
  expect(grid(2 ** 16 + 1)).toEqual([2, 2 ** 15]);
  expect(grid(1e6)).toEqual([16, 62_500]);
});
