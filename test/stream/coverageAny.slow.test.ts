/**
 * How often intervals hold the truth on data made to hurt, over the noise alone: the data of a cell are fixed. Every kind of
 * range, in every cell, is held in at least 95 % of the runs; whole blocks that neither 0 nor θ cuts in 95 %, no more. Rules
 * that look as good and fail somewhere are measured beside it. Takes 20 s.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { chooseCore } from "../../src/core/choose.js";
import { makeAnswer, noiseQuantile } from "../../src/stream/answer/answer.js";
import { BlockPublisher } from "../../src/stream/release/blockPublisher.js";
import { resolveSettings, type Settings } from "../../src/stream/options.js";
import type { Bounds, NoisySum, RawAnswer } from "../../src/stream/answer/rangeIndex.js";
import { incompleteBeta } from "../support/binomial.js";
import { noteCoverage } from "../support/covered.js";

const RUNS = 1000;
const THETA = 10;
/** So fine that room for rounding is nothing beside the noise. */
const GRID = 2 ** -10;

/** Forests of 16 blocks and trees of 4; the stream stands inside a block of its third tree's forest. */
const BLOCKS = 27;
const dataOf = (n: number): Record<string, (i: number) => number> => ({
  zeros: () => 0,
  "all θ": () => THETA,
  even: () => THETA / 2,
  "half blocks": (i) => (i % n < n / 2 ? THETA : 0),
  sawtooth: (i) => (i % n) * (THETA / n),
  spike: (i) => (Math.floor(i / n) === 9 ? THETA : 0),
  outage: (i) => (Math.floor(i / n) === 9 ? 0 : THETA),
  step: (i) => (i < 9.5 * n ? 1 : 9),
  rush: (i) => (Math.floor(i / n) % 4 === 1 ? THETA : 1),
});
/** In blocks, with parts of one. */
const RANGES: Record<string, readonly [number, number]> = {
  "whole blocks": [2, 14],
  "one block": [9, 10],
  "blocks that end with the spike": [5, 10],
  "part of a block": [9.25, 9.75],
  "part of a quiet block": [6.5, 6.75],
  "short, cut": [8.5, 10.25],
  "long, cut": [1.25, 14.5],
  "across forests": [7.75, 20.5],
  "the running block": [BLOCKS, BLOCKS + 0.75],
  "last block and running": [BLOCKS - 1, BLOCKS + 0.75],
  "all up to now": [0, BLOCKS + 0.75],
};
const EPSILONS = [0.1, 1];
const LENGTHS = [4, 16];

type Interval = readonly [low: number, high: number];
/** @param count values in the range, `running` those of them in the running block */
type Rule = (raw: RawAnswer & { readonly bounds: Bounds }, count: number, running: number) => Interval;

const reach = ({ spread }: NoisySum) => noiseQuantile(0.95, spread) * Math.sqrt(spread.variance);
const around = (middle: number, half: number): Interval => [middle - half, middle + half];
const cut = ([low, high]: Interval, most: number): Interval => [Math.max(0, low), Math.min(most, high)];
const answer = (raw: RawAnswer, count: number): Interval => {
  const { low, high } = makeAnswer(raw, count, 1, 0.95);
  return [low, high];
};

/** The rule, and rules that are not good enough, each with a cell in which it fails by far. */
const RULES: Record<string, Rule> = {
  "the rule": answer,
  "around the shrunk sum": (raw) => around(raw.shrunk!, reach(raw)),
  "around the shrunk sum, with the square of how far it moved": (raw) => {
    const variance = raw.spread.variance + (raw.shrunk! - raw.sum) ** 2;
    return around(raw.shrunk!, reach({ sum: 0, spread: { ...raw.spread, variance } }));
  },
  "around the value": (raw, count) => around(makeAnswer(raw, count, 1, 0.95).sum, reach(raw)),
  "around the measured sum": (raw) => around(raw.sum, reach(raw)),
  "inside and touched swapped": ({ bounds: { inside, touched, most } }) =>
    cut([touched.sum - reach(touched), inside.sum + reach(inside)], most),
  "the running block without θ": ({ bounds: { inside, touched, most } }, _, running) =>
    cut([inside.sum - reach(inside), touched.sum - (running * THETA) / GRID + reach(touched)], most),
  "seven tenths of the length": (raw, count) => {
    const [low, high] = answer(raw, count);
    return around((low + high) / 2, 0.35 * (high - low));
  },
};

/** Shares of hits of every rule, by rule and then by kind of range. */
type Shares = ReadonlyMap<string, ReadonlyMap<string, number>>;

const settingsOf = (n: number, epsilon: number): Settings =>
  resolveSettings({
    ...{ epsilon, max: THETA, threshold: THETA, maxRange: 16 * n, history: 64 * n },
    tuning: { resolution: GRID, fanout: 4, skipLevels: Math.log2(n) / 2 },
  });

function publish(settings: Settings, run: number, values: Float64Array): BlockPublisher {
  const key = Uint32Array.of(run, settings.tree.blockLength, 3, 4, 5, 6, 7, 8);
  const publisher = new BlockPublisher(chooseCore(), key, settings, THETA / GRID, THETA / GRID / 2);
  publisher.pushMany(values);
  return publisher;
}

function sharesOf(n: number, epsilon: number, data: (i: number) => number): Shares {
  const settings = settingsOf(n, epsilon);
  const values = Float64Array.from({ length: (BLOCKS + 0.75) * n }, (_, i) => data(i));
  const hits = new Map(Object.keys(RULES).map((rule) => [rule, new Map<string, number>()]));
  for (let run = 0; run < RUNS; run++) {
    const publisher = publish(settings, run, values);
    for (const [name, [from, to]] of Object.entries(RANGES)) {
      const raw = publisher.answer(from * n, to * n, "best") as Parameters<Rule>[0];
      const truth = values.subarray(from * n, to * n).reduce((sum, value) => sum + value, 0) / GRID;
      for (const [rule, shares] of hits) {
        const [low, high] = RULES[rule]!(raw, (to - from) * n, Math.max(0, to - Math.max(from, BLOCKS)) * n);
        shares.set(name, (shares.get(name) ?? 0) + Number(low <= truth && truth <= high) / RUNS);
      }
    }
  }
  return hits;
}

/**
 * The quantile is within 0.03 standard deviations of the exact one, which is 0.0035 of coverage. A share of hits is at LEAST
 * or below with probability 10⁻⁶ over the number of cells, if each has a probability of 0.9465: exact binomial odds.
 */
const CELLS = 9 * EPSILONS.length * LENGTHS.length * Object.keys(RANGES).length;
const LEAST = leastShare(0.9465, RUNS, 1e-6 / CELLS);

function leastShare(p: number, runs: number, odds: number): number {
  let hits = Math.floor(p * runs);
  while (1 - incompleteBeta(hits + 1, runs - hits, p) > odds) hits--; // P(at most so many)
  return hits / runs;
}

const found = new Map<string, Shares>();
beforeAll(() => {
  for (const n of LENGTHS)
    for (const epsilon of EPSILONS)
      for (const [name, data] of Object.entries(dataOf(n))) {
        const shares = sharesOf(n, epsilon, data);
        found.set(`${name}, ε = ${epsilon}, blocks of ${n}`, shares);
        const cell = { what: `values, blocks of ${n}`, data: name, epsilon, runs: RUNS };
        for (const [question, held] of shares.get("the rule")!) noteCoverage({ ...cell, question, held });
      }
});

/** Cells in which a rule holds the truth too rarely. */
function tooLow(rule: string): { cell: string; range: string; share: number }[] {
  return [...found].flatMap(([cell, shares]) =>
    [...shares.get(rule)!]
      .filter(([, share]) => share <= LEAST)
      .map(([range, share]) => ({ cell, range, share })),
  );
}
const shareOf = (rule: string, cell: string, range: string) => found.get(cell)!.get(rule)!.get(range)!;

test("at least 95 % in every kind of range, on any data", () => {
  expect(LEAST).toBeGreaterThan(0.89);
  expect(tooLow("the rule")).toEqual([]);
});

/** Whole blocks that neither 0 nor θ cuts. @param stretch of the interval, about its middle */
function shareOfWholeBlocks(runs: number, stretch: number): number {
  const [n, [from, to]] = [16, RANGES["whole blocks"]!];
  const values = new Float64Array(to * n).fill(THETA / 2);
  const truth = ((to - from) * n * THETA) / 2 / GRID;
  const settings = settingsOf(n, 1);
  let hits = 0;
  for (let run = 0; run < runs; run++) {
    const raw = publish(settings, run, values).answer(from * n, to * n, "best");
    const [low, high] = answer(raw, (to - from) * n);
    const [middle, half] = [(low + high) / 2, (stretch * (high - low)) / 2];
    hits += Number(Math.abs(truth - middle) <= half);
  }
  return hits / runs;
}

describe("95 % and no more on whole blocks that neither 0 nor θ cuts", () => {
  // Two-sided: a share of hits outside has odds of 10⁻⁶, if intervals hold in 94.65 to 95.35 %.
  const runs = 10_000;
  const [least, most] = [leastShare(0.9465, runs, 5e-7), 1 - leastShare(1 - 0.9535, runs, 5e-7)];
  const inside = (share: number) => share > least && share < most;

  test("the rule", () => {
    expect([least, most]).toEqual([0.9351, 0.9635]);
    expect(inside(shareOfWholeBlocks(runs, 1))).toBe(true);
  });

  test.each([0.85, 1.2])("%d of the length is noticed", (stretch) => {
    expect(inside(shareOfWholeBlocks(runs, stretch))).toBe(false);
  });
});

// The closest is "seven tenths": 84 % of 1000 runs, 4.9 standard errors below LEAST.
describe("rules that are not good enough", () => {
  test.each([
    ["around the shrunk sum", "spike, ε = 1, blocks of 16", "one block", 0.5],
    [
      "around the shrunk sum, with the square of how far it moved",
      "half blocks, ε = 1, blocks of 16",
      "part of a quiet block",
      0.5,
    ],
    ["around the value", "spike, ε = 1, blocks of 16", "one block", 0.85],
    ["around the measured sum", "half blocks, ε = 1, blocks of 16", "part of a quiet block", 0.5],
    ["inside and touched swapped", "half blocks, ε = 1, blocks of 16", "short, cut", 0.1],
    ["the running block without θ", "all θ, ε = 1, blocks of 16", "the running block", 0.1],
    ["seven tenths of the length", "even, ε = 1, blocks of 16", "whole blocks", 0.9],
  ])("%s", (rule, cell, range, most) => {
    expect(shareOf(rule, cell, range)).toBeLessThan(most);
    expect(tooLow(rule)).toContainEqual({ cell, range, share: shareOf(rule, cell, range) });
  });
});

/**
 * At each end that cuts a block, the block may count whole, or be left out with θ for each of its values in the range (or 0,
 * or whole less θ for each value outside, for the lower end). All of these hold; the best of them, by the noisy numbers, does not.
 */
test("the best of several limits that hold each by itself", () => {
  const [n, runs, from, to] = [16, 10_000, 1.5 * 16, 14.5 * 16];
  const settings = settingsOf(n, 0.1);
  const values = Float64Array.from({ length: 15 * n }, () => THETA / 2);
  const truth = ((to - from) * THETA) / 2 / GRID;
  const ends = (position: number) => [Math.floor(position / n), Math.ceil(position / n)];
  let hits = 0;
  for (let run = 0; run < runs; run++) {
    const publisher = publish(settings, run, values);
    let [low, high] = [0, ((to - from) * THETA) / GRID];
    for (const first of ends(from))
      for (const last of ends(to)) {
        const blocks = publisher.answer(first * n, last * n, "blocks");
        const missing = Math.max(0, first * n - from) + Math.max(0, to - last * n);
        const extra = Math.max(0, from - first * n) + Math.max(0, last * n - to);
        low = Math.max(low, blocks.sum - reach(blocks) - (extra * THETA) / GRID);
        high = Math.min(high, blocks.sum + reach(blocks) + (missing * THETA) / GRID);
      }
    hits += Number(low <= truth && truth <= high);
  }
  expect(hits / runs).toBeLessThan(leastShare(0.9465, runs, 1e-6));
});
