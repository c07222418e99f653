/**
 * An attacker who knows how answers are made picks data on which their intervals lie: whoever decides by them is misled, and
 * is told that he cannot be. The data here were made for that. Each test counts how often a 95 % interval holds the truth,
 * over the noise alone, in 400 runs with fixed keys. P(Binomial(400, 0.9465) ≤ 346) = 4·10⁻¹⁰: at least 347 of 400 must hold.
 */
import { describe, expect, test } from "vitest";
import { chooseCore } from "../../src/core/choose.js";
import { privateStream, type RangeAnswer, type StreamOptions } from "../../src/index.js";
import { resolveSettings } from "../../src/stream/options.js";
import { HoldoutStream } from "../../src/stream/holdoutStream.js";
import { incompleteBeta } from "../support/binomial.js";

const [RUNS, LEAST] = [400, 347];
/** Blocks of 16 values, trees of 256, forests of 4096. */
const OPTIONS: StreamOptions = {
  ...{ epsilon: 1, max: 1, threshold: 1, maxRange: 4096 },
  tuning: { fanout: 16, skipLevels: 1 },
};
const BLOCK = 16;

/** @param bend what becomes of the interval of an answer */
function hits(
  values: Float64Array,
  from: number,
  to: number,
  held: (answer: RangeAnswer) => boolean = () => true,
  bend: (answer: RangeAnswer) => RangeAnswer = (answer) => answer,
): number {
  const settings = resolveSettings(OPTIONS);
  const truth = values.subarray(from, to).reduce((sum, value) => sum + value, 0);
  let count = 0;
  for (let run = 0; run < RUNS; run++) {
    const stream = new HoldoutStream(settings, chooseCore(), Uint32Array.of(run, 9, 8, 7, 6, 5, 4, 3));
    stream.pushMany(values);
    const answer = bend(stream.range(from, to));
    if (held(answer) && answer.low <= truth && truth <= answer.high) count++;
  }
  return count;
}

const stream = (length: number, value: (i: number) => number) =>
  Float64Array.from({ length }, (_, i) => value(i));

/**
 * A rule that looks as good and is none: one standard error about the value, which shrinking has moved. It holds in fewer than
 * 300 of 400 runs on all of these data; P(Binomial(400, 0.75) ≥ 347) = 2·10⁻⁸.
 */
const aroundValue = (answer: RangeAnswer): RangeAnswer => ({
  ...answer,
  low: answer.sum - answer.standardError,
  high: answer.sum + answer.standardError,
});
test("the odds of a false alarm", () => {
  expect(12 * (1 - incompleteBeta(LEAST, RUNS - LEAST + 1, 0.9465))).toBeLessThan(1e-6);
});

describe("I hide a burst among quiet blocks: the rest of the stream says that it is noise", () => {
  const first = 100 * BLOCK;
  const long = 24; // blocks
  test.each([
    ["a block of ones among zeros", 1, 0],
    ["an outage: a block of zeros among ones", 0, 1],
  ])("%s", (_, there, elsewhere) => {
    const values = stream(4096, (i) => (i >= first && i < first + BLOCK ? there : elsewhere));
    expect(hits(values, first, first + BLOCK)).toBeGreaterThanOrEqual(LEAST);
    expect(hits(values, first - 4 * BLOCK, first + BLOCK)).toBeGreaterThanOrEqual(LEAST);
    expect(hits(values, first, first + BLOCK, undefined, aroundValue)).toBeLessThan(LEAST);
  });

  test("a launch: two dozen blocks of ones among zeros", () => {
    const values = stream(4096, (i) => Number(i >= first && i < first + long * BLOCK));
    expect(hits(values, first, first + long * BLOCK)).toBeGreaterThanOrEqual(LEAST);
    expect(hits(values, first, first + long * BLOCK, undefined, aroundValue)).toBeLessThan(LEAST);
  });

  test("a step, asked for around it", () => {
    const values = stream(4096, (i) => Number(i >= first));
    expect(hits(values, first - 3 * BLOCK, first + 2 * BLOCK)).toBeGreaterThanOrEqual(LEAST);
    expect(hits(values, first - 3 * BLOCK, first + 2 * BLOCK, undefined, aroundValue)).toBeLessThan(LEAST);
  });
});

describe("I ask for a range that cuts a block, and put all of the block on one side of the cut", () => {
  const values = stream(4096, (i) => Number(i % BLOCK < BLOCK / 2));
  test.each([
    ["the full half of a block", 160, 168],
    ["its empty half", 168, 176],
  ])("%s", (_, from, to) => {
    expect(hits(values, from, to, ({ measured }) => !measured)).toBeGreaterThanOrEqual(LEAST);
    expect(hits(values, from, to, undefined, aroundValue)).toBeLessThan(LEAST);
  });
});

describe("I change the data in the block that is running, where nothing is measured yet", () => {
  const length = 40 * BLOCK + 12;
  const values = stream(length, (i) => Number(i >= 40 * BLOCK));
  test.each([
    ["the running block", 40 * BLOCK],
    ["the last block and the running one", 39 * BLOCK],
    ["all up to now", 0],
  ])("%s", (_, from) => {
    expect(hits(values, from, length, ({ measured }) => !measured)).toBeGreaterThanOrEqual(LEAST);
    expect(hits(values, from, length, undefined, aroundValue)).toBeLessThan(LEAST);
  });
});

test("I send values that the grid rounds away, all in one direction", () => {
  // 0.4 with a grid of 1 is published as 0. With so large an ε there is hardly any noise that could hide it.
  const options = { ...OPTIONS, epsilon: 100, max: 1000, threshold: 1000 };
  for (const [value, resolution] of [
    [0.4, 1],
    [0.6, 1],
    [7.49, 5],
  ] as const) {
    const tuning = { ...OPTIONS.tuning, resolution };
    const published = privateStream({ ...options, threshold: 10, tuning, unsafeSeed: "grid" });
    published.pushMany(new Float64Array(4096).fill(value));
    const { sum, low, high } = published.range(0, 4096);
    expect(Math.abs(sum - 4096 * value)).toBeGreaterThan(1000); // without room for rounding it would be missed
    expect(low).toBeLessThanOrEqual(4096 * value);
    expect(high).toBeGreaterThanOrEqual(4096 * value);
  }
});
