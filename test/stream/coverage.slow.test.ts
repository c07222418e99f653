/**
 * Whether the error of an answer has the standard deviation that it states, on constant data: predictions and parts of
 * blocks are then right but for the noise that they carry, so nothing but noise is measured. Takes 8 s.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { chooseCore } from "../../src/core/choose.js";
import { restore, type StreamOptions } from "../../src/index.js";
import { resolveSettings } from "../../src/stream/options.js";
import { History } from "../../src/stream/release/history.js";
import { RangeIndex } from "../../src/stream/answer/rangeIndex.js";
import type { SmootherChoice } from "../../src/stream/predict/smoothers/index.js";
import { HoldoutStream } from "../../src/stream/holdoutStream.js";
import { sameNoise } from "../../src/stream/release/epochs.js";
import { laplaceVariance, NO_SPREAD } from "../../src/stream/answer/variance.js";

const VALUE = 3;
/** Blocks of 4 values, trees of 16, forests of 64; 24 values for the first prediction. */
const HOLDOUT = 24;
const OPTIONS: StreamOptions = {
  ...{ epsilon: 0.5, max: 10, threshold: 10, maxRange: 64, holdout: HOLDOUT, name: "coverage" },
  tuning: { resolution: 1, fanout: 4, skipLevels: 1 },
};
/** The stream stands in the second block of its second forest's second tree. */
const LENGTH = 64 + 16 + 4 + 2;
const RANGES = {
  "whole blocks": [8, 24],
  "part blocks": [5, 27],
  "part of one block": [17, 19],
  "from a block's middle to its end": [18, 20],
  "across forests": [50, 75],
  "the running block": [84, 86],
  "finished and running blocks": [72, 86],
  "a part block, and all after it": [65, 86],
  everything: [0, 86],
} as const;
const LINEAR: SmootherChoice[] = ["recent", "mean", { moving: 3 }, { exponential: 0.4 }];
const RUNS = 6000;
const ANSWERS = ["blocks", "published"] as const;

/**
 * A mean of squared errors, over the stated variance, strays by √((2 + κ)/n) ≤ 0.029: noise has an excess kurtosis κ of at
 * most 3. With Z = 5.8 one of the 2·4·10 means here raises a false alarm with probability 80·7·10⁻⁹ < 10⁻⁶.
 */
const SLACK = 5.8 * Math.sqrt(5 / RUNS);

function make(smoother: SmootherChoice, run: number): HoldoutStream {
  const key = Uint32Array.of(run, 1, 2, 3, 4, 5, 6, 7);
  const stream = new HoldoutStream(resolveSettings({ ...OPTIONS, smoother }), chooseCore(), key);
  stream.pushMany(new Float64Array(HOLDOUT).fill(VALUE));
  return stream;
}

/** Mean of (error / stated standard error)², for every kind of answer and of range. */
function measure(smoother: SmootherChoice, runs: number): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const look = (stream: HoldoutStream, name: string, [from, to]: readonly [number, number]) => {
    for (const answer of ANSWERS) {
      const { sum, standardError } = stream.range(from, to, { answer });
      const square = ((sum - VALUE * (to - from)) / standardError) ** 2;
      found.set(`${answer}: ${name}`, (found.get(`${answer}: ${name}`) ?? 0) + square / runs);
    }
  };
  for (let run = 0; run < runs; run++) {
    const stream = make(smoother, run);
    stream.pushMany(new Float64Array(3).fill(VALUE));
    look(stream, "before the first block ends", [0, 3]);
    stream.pushMany(new Float64Array(LENGTH - 3).fill(VALUE));
    for (const [name, range] of Object.entries(RANGES)) look(stream, name, range);
  }
  return found;
}

describe.each(LINEAR)("%j", (smoother) => {
  let found: ReadonlyMap<string, number>;
  beforeAll(() => {
    found = measure(smoother, RUNS);
  });

  test("errors have the standard deviation that answers state, in every kind of range", () => {
    for (const [name, mean] of found)
      expect({ name, mean, right: Math.abs(mean - 1) < SLACK }).toEqual({ name, mean, right: true });
  });

  test("were predictions taken for constants, it would be seen", () => {
    const settings = resolveSettings(OPTIONS);
    const blocks = new History(settings.tree);
    for (let block = 0; block < Math.floor(LENGTH / 4); block++) blocks.add(0, 0);
    const broken = new RangeIndex(blocks, settings.tree, sameNoise(laplaceVariance((2 * 10) / 0.5)), {
      first: NO_SPREAD,
      weights: () => [],
    });
    const stream = make(smoother, 0);
    stream.pushMany(new Float64Array(LENGTH).fill(VALUE));
    const [from, to] = RANGES["the running block"];
    for (const answer of ANSWERS) {
      const stated = stream.range(from, to, { answer }).standardError ** 2;
      const mean = found.get(`${answer}: the running block`)!;
      const { variance } = broken.answer(from, to, answer).spread;
      expect(Math.abs((mean * stated) / variance - 1)).toBeGreaterThan(SLACK);
    }
  });

  test("standard errors a fifth too small would be seen", () => {
    for (const mean of found.values()) expect(Math.abs(mean / 0.8 ** 2 - 1)).toBeGreaterThan(SLACK);
  });
});

test("a median: an upper bound that is never 0", () => {
  for (const [name, mean] of measure("median", 1000))
    expect({ name, mean, enough: mean < 1 + 5.8 * Math.sqrt(5 / 1000) }).toEqual({
      name,
      mean,
      enough: true,
    });
  const stream = make("median", 1);
  stream.pushMany(new Float64Array(LENGTH).fill(VALUE));
  for (const answer of ANSWERS) expect(stream.range(84, 86, { answer }).standardError).toBeGreaterThan(0);
});

test("after a restore answers are the same, in every bit", async () => {
  const key = new Uint8Array(32).fill(9);
  for (const smoother of [...LINEAR, "median"] as SmootherChoice[]) {
    const stream = make(smoother, 5);
    stream.pushMany(new Float64Array(LENGTH).fill(VALUE));
    const again = await restore(await stream.snapshot(key), key, { ...OPTIONS, smoother });
    for (const answer of ANSWERS)
      for (const [from, to] of Object.values(RANGES))
        expect(again.range(from, to, { answer })).toEqual(stream.range(from, to, { answer }));
  }
});

test("without a warm start the first prediction is θ/2, and any mean of values in [0, θ] is inside the interval", () => {
  const options = { ...OPTIONS, holdout: 0 };
  for (const value of [0, 10]) {
    const stream = new HoldoutStream(
      resolveSettings(options),
      chooseCore(),
      Uint32Array.of(1, 2, 3, 4, 5, 6, 7, 8),
    );
    stream.pushMany(new Float64Array(3).fill(value));
    const { sum, low, high } = stream.range(0, 3);
    expect(sum).toBe(15);
    expect(low).toBeLessThanOrEqual(3 * value);
    expect(high).toBeGreaterThanOrEqual(3 * value);
  }
});
