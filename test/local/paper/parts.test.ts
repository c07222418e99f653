/** The small parts of the local model, one by one: grids, thresholds, tallies, sums, settings and answers. */
import { describe, expect, test } from "vitest";
import { normalQuantile } from "../../../src/core/normal.js";
import { PaperAggregator } from "../../../src/local/paper/paperAggregator.js";
import { makePaperAnswer } from "../../../src/local/paper/answer.js";
import { bandAround, shownUpTo } from "../../../src/local/band.js";
import {
  checkMax,
  checkThreshold,
  nearestThreshold,
  THRESHOLD_COUNT,
  thresholdShares,
} from "../../../src/local/channel.js";
import { paperChannel } from "../../../src/local/paper/paperChannel.js";
import { startFrom } from "../../../src/local/estimate.js";
import { BINS, hybrid, squareWave, stochasticRounding } from "../../../src/local/mechanisms.js";
import {
  estimateOf,
  estimatorSlopes,
  quotient,
  roundedFrom,
  varianceOf,
  worstVariance,
} from "../../../src/local/moments.js";
import { gridOf, packReport, type Report, unpackReport } from "../../../src/local/report.js";
import { settingsOf } from "../../../src/local/paper/settings.js";
import { estimatedSum, possibleSums, sumsOf } from "../../../src/local/paper/sums.js";
import { checkTotals, decodeTally, encodeTally, TALLY_BYTES } from "../../../src/local/paper/tally.js";
import { reportsOf, uniforms } from "../../support/localValues.js";

describe("thresholds", () => {
  test("321 of them: sixteen steps to a half, twenty halves", () => {
    const wanted: number[] = [];
    for (let k = 19; k >= 0; k--) for (let m = 16; m < 32; m++) wanted.push(m / 32 / 2 ** k);
    wanted.push(1);
    expect(THRESHOLD_COUNT).toBe(321);
    expect([...thresholdShares()]).toEqual(wanted);
  });

  test("the nearest of them, by looking at all", () => {
    const shares = [...thresholdShares()];
    for (const u of [...uniforms(500, "near")].map((x) => 2 ** (-22 * x)).concat(shares, 1.5, 1e-9)) {
      const nearest = nearestThreshold(u * 500, 500) / 500;
      const best = Math.min(...shares.map((share) => Math.abs(share - u)));
      expect(shares).toContain(nearest);
      expect(Math.abs(nearest - u)).toBeLessThanOrEqual(best + 1e-15);
    }
  });

  test("one that the server sent is one of them, and within the bound", () => {
    for (const share of thresholdShares()) expect(checkThreshold(share * 96, 96)).toBe(share * 96);
    expect(() => checkThreshold(96.0001, 96)).toThrow("threshold: expected a number from");
    expect(() => checkThreshold(96 * 2 ** -20 * 0.999, 96)).toThrow("threshold: expected a number from");
    expect(() => checkThreshold(70, 96)).toThrow(
      "threshold: expected one of the 321 public thresholds for max = 96, got 70; take 69",
    );
    for (const max of [1e-250, 1e250]) expect(checkMax(max)).toBe(max);
    for (const max of [0.99e-250, 1.01e250])
      expect(() => checkMax(max)).toThrow("max: expected a number from");
  });
});

describe("channels and reports", () => {
  test("learning cuts to cells, releasing rounds to the nearest", () => {
    const learn = paperChannel("learn", 1, 500);
    expect([learn.mechanism.top, learn.quantiser]).toEqual([2 ** 20 - 1, { scale: 2 ** 20 / 500, shift: 0 }]);
    const release = paperChannel("release", 1, 500);
    expect([release.mechanism.top, release.quantiser]).toEqual([
      2 ** 20,
      { scale: 2 ** 20 / 500, shift: 0.5 },
    ]);
    expect([learn.grid, release.grid]).toEqual([gridOf("learn", 1, 500), gridOf("release", 1, 500)]);
  });

  test("a grid is FNV-1a of its parameters, and never changes", () => {
    const fnv = (phase: number, epsilon: number, bound: number) => {
      const bytes = Buffer.alloc(17);
      bytes[0] = 32 + phase;
      bytes.writeDoubleBE(epsilon, 1);
      bytes.writeDoubleBE(bound, 9);
      let hash = 2166136261n;
      for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * 16777619n) % 2n ** 32n;
      return Number(hash);
    };
    expect(gridOf("learn", 0.7, 512)).toBe(fnv(0, 0.7, 512));
    expect(gridOf("release", 3, 62.5)).toBe(fnv(1, 3, 62.5));
    expect(gridOf(undefined, 3, 62.5)).toBe(fnv(2, 3, 62.5));
  });

  test("every field to its end, and one beyond", () => {
    const most: Report = { version: 15, phase: "release", grid: 2 ** 32 - 1, cell: 2 ** 24 - 1 };
    expect(packReport(most)).toEqual(Uint8Array.of(0xf1, 255, 255, 255, 255, 255, 255, 255));
    expect(unpackReport(packReport(most))).toEqual(most);
    const least: Report = { version: 0, phase: "learn", grid: 0, cell: 0 };
    expect(unpackReport(packReport(least))).toEqual(least);
    for (const [name, value] of [
      ["version", 16],
      ["version", -1],
      ["grid", 2 ** 32],
      ["grid", -1],
      ["cell", 2 ** 24],
      ["cell", -1],
      ["phase", "both"],
    ] as const)
      expect(() => packReport({ ...least, [name]: value })).toThrow(new RegExp(`^${name}: expected`));
    const two = new Uint8Array(17);
    two.set(packReport(most), 1);
    two.set(packReport(least), 9);
    expect([unpackReport(two, 1), unpackReport(two, 9)]).toEqual([most, least]);
    for (const at of [-1, 10, NaN]) expect(unpackReport(two, at)).toBeUndefined();
  });
});

describe("tallies", () => {
  const tally = {
    grid: 4_000_000_000,
    counts: Float64Array.from({ length: BINS }, (_, i) => 3 * i + 1),
    rejected: { malformed: 1, version: 2, phase: 3, stale: 0, grid: 4, cell: 5, late: 6 },
    theta: 62.5,
    excess: 0.125,
    released: { reports: 2 ** 50, windowed: 77, cells: (5n << 64n) + 9n, ones: 12 },
  };

  test("where each number stands", () => {
    const bytes = encodeTally(tally);
    const view = new DataView(bytes.buffer);
    expect(TALLY_BYTES).toBe(6 + 8 * (1 + 1024 + 7 + 5) + 16);
    expect([bytes.length, Buffer.from(bytes.subarray(0, 6)).toString("latin1")]).toEqual([
      TALLY_BYTES,
      "tally\x01",
    ]);
    const numbers = Array.from({ length: 1037 }, (_, i) => view.getFloat64(6 + 8 * i, true));
    expect(numbers).toEqual([
      4_000_000_000,
      ...tally.counts,
      1,
      2,
      3,
      0,
      4,
      5,
      6,
      62.5,
      0.125,
      2 ** 50,
      77,
      12,
    ]);
    expect([view.getBigUint64(6 + 8 * 1037, true), view.getBigUint64(6 + 8 * 1038, true)]).toEqual([9n, 5n]);
  });

  test("come back as they were, and what is not known with them", () => {
    expect(decodeTally(encodeTally(tally), 1000)).toEqual(tally);
    const unknown = { ...tally, theta: undefined, excess: undefined };
    expect(decodeTally(encodeTally(unknown), 1000)).toEqual(unknown);
    const excess = (value: number) => decodeTally(encodeTally({ ...tally, excess: value }), 1000).excess;
    expect([0, 1000, 1000.5, -0.5, NaN].map(excess)).toEqual([0, 1000, undefined, undefined, undefined]);
  });

  test("other bytes are refused, and the message says why", () => {
    const changed = (at: number, byte: number) => {
      const bytes = encodeTally(tally);
      bytes[at] = byte;
      return bytes;
    };
    expect(() => decodeTally(changed(4, 0), 1000)).toThrow(
      `tally: expected the ${TALLY_BYTES} bytes that tally() makes, got ${TALLY_BYTES} others`,
    );
    expect(() => decodeTally(changed(5, 2), 1000)).toThrow(
      "tally: expected version 1, got 2; all workers need the same version",
    );
    expect(() => decodeTally(encodeTally(tally).subarray(1), 1000)).toThrow(`got ${TALLY_BYTES - 1} others`);
    checkTotals([0, 2 ** 53 - 1]);
    for (const totals of [[2 ** 53], [1, 0.5]])
      expect(() => checkTotals(totals)).toThrow("merge: expected fewer than 2^53 reports in all");
  });
});

describe("sums of reports", () => {
  const kinds = {
    "both kinds": hybrid(2, 8),
    "bits alone": stochasticRounding(0.5, 8),
    window: squareWave(1, 4, 4),
  };

  test.each(Object.entries(kinds))(
    "%s: estimates of cells, one by one and from their sums",
    (_, mechanism) => {
      const rounded = roundedFrom(mechanism);
      const bits = mechanism.weights[2] > 0n;
      expect(rounded).toBe(bits ? mechanism.cells - 2 : mechanism.cells);
      const cells = Uint32Array.from({ length: mechanism.cells }, (_, i) => i);
      const sums = sumsOf(cells, mechanism);
      expect(sums).toEqual({
        ...{ reports: mechanism.cells, windowed: rounded, ones: bits ? 1 : 0 },
        cells: BigInt((rounded * (rounded - 1)) / 2),
      });
      const { perCell, perBit } = estimatorSlopes(mechanism);
      cells.forEach((cell) => {
        const wanted =
          cell < rounded ? 0.5 + (cell - (rounded - 1) / 2) * perCell : 0.5 + (cell - rounded - 0.5) * perBit;
        expect(estimateOf(mechanism, cell)).toBeCloseTo(wanted, 9);
      });
      const all = [...cells].reduce((sum, cell) => sum + estimateOf(mechanism, cell), 0);
      expect(estimatedSum(sums, mechanism)).toBeCloseTo(all, 9);
      for (const cell of cells)
        expect(estimatedSum(sumsOf(Uint32Array.of(cell), mechanism), mechanism)).toBeCloseTo(
          estimateOf(mechanism, cell),
          9,
        );
      expect(worstVariance(mechanism)).toBe(Math.max(varianceOf(mechanism, 0), varianceOf(mechanism, 0.5)));
    },
  );

  test("what a mechanism cannot report is not possible", () => {
    const bits = { reports: 5, windowed: 0, cells: 0n, ones: 3 };
    expect(possibleSums(bits, kinds["bits alone"])).toBe(true);
    expect(possibleSums({ ...bits, windowed: 1, ones: 0 }, kinds["bits alone"])).toBe(false);
    const window = { reports: 5, windowed: 5, cells: 3n, ones: 0 };
    expect(possibleSums(window, kinds.window)).toBe(true);
    expect(possibleSums({ ...window, windowed: 4 }, kinds.window)).toBe(false);
    expect(possibleSums({ reports: 0, windowed: 0, cells: 0n, ones: 0 }, kinds.window)).toBe(true);
  });

  test("quotients of large numbers", () => {
    expect(quotient(1n << 300n, 3n << 300n)).toBe(1 / 3);
    expect([quotient(0n, 5n), quotient(5n, 0n)]).toEqual([0, 0]);
  });
});

test("settings: every default, and every number to its end", () => {
  const base = { epsilon: 2, max: 10 };
  expect(settingsOf(base)).toEqual({
    ...{ epsilon: 2, learnEpsilon: 2, max: 10, holdout: 65_536, threshold: undefined, maxRange: 2 ** 20 },
    ...{ estimator: "em", tail: "models", objective: "exact", history: 2 ** 20 },
  });
  expect(settingsOf({ ...base, maxRange: 2 ** 40, holdout: 2 ** 40 })).toMatchObject({
    ...{ maxRange: 2 ** 40, holdout: 2 ** 40, history: 2 ** 27 },
  });
  expect(settingsOf({ ...base, maxRange: 7 }).history).toBe(7);
  expect(settingsOf({ ...base, history: 2 ** 27, holdout: 1, maxRange: 1, threshold: 5 })).toMatchObject({
    ...{ history: 2 ** 27, holdout: 1, maxRange: 1, threshold: 5 },
  });
  for (const [name, values] of [
    ["maxRange", [0, 2 ** 40 + 1]],
    ["holdout", [0, 2 ** 40 + 1]],
    ["history", [0, 2 ** 27 + 1]],
    ["epsilon", [0.9e-6, 24.1]],
    ["threshold", [4.9]],
  ] as const)
    for (const value of values)
      expect(() => settingsOf({ ...base, [name]: value })).toThrow(new RegExp(`^${name}: expected`));
});

test("answers: a mean, noise on both sides, and above it what was clipped", () => {
  const reach = normalQuantile(0.9) * 3;
  expect(makePaperAnswer(40, 8, 3, 2, 0.9)).toEqual({
    ...{ sum: 40, mean: 5, standardError: 3, clipped: 2, confidence: 0.9 },
    ...{ low: 40 - reach, high: 40 + 2 + reach },
  });
  expect(makePaperAnswer(0, 0, 0, null)).toEqual({
    ...{ sum: 0, mean: 0, standardError: 0, clipped: null, confidence: 0.95, low: 0, high: 0 },
  });
});

test("the band around the paper's θ", () => {
  const shares = Float64Array.of(0.5, 0.3, 0.15, 0.05);
  expect([0.05, 0.1, 0.2, 0.5, 1].map((above) => shownUpTo(shares, above).toFixed(9))).toEqual(
    [3, 3 - 1 / 3, 2, 1, 0].map((place) => place.toFixed(9)),
  );
  expect([shownUpTo(shares, 0.025), shownUpTo(shares, 1.1)]).toEqual([3.5, 0]);
  const { least, most } = bandAround(2, shares, 0.2 / 6);
  expect([least, most].map((x) => x.toFixed(9))).toEqual(["1.800000000", "2.600000000"]);
  expect(bandAround(3, shares, 0.5 / 6).most).toBeCloseTo(3.45, 9);
});

test("a start of EM has 1024 shares, none below 0, and a sum", () => {
  const uniform = new Float64Array(BINS).fill(1);
  expect(startFrom({ shares: uniform })).toEqual(new Float64Array(BINS).fill(1 / BINS));
  const changed = (i: number, value: number) => ({ shares: uniform.map((x, k) => (k === i ? value : x)) });
  expect(startFrom(changed(5, 0))[5]).toBeCloseTo(1e-3 / BINS, 15);
  for (const wrong of [
    ...[changed(5, -1), changed(5, NaN), changed(5, Infinity), { shares: new Float64Array(BINS) }],
    ...[{ shares: new Float64Array(BINS - 1).fill(1) }, { shares: [...uniform] as never }],
  ])
    expect(() => startFrom(wrong)).toThrow("from: expected a distribution of 1024 bins");
});

test("what an aggregator explains, word by word", () => {
  const server = new PaperAggregator({ epsilon: 1, max: 1000, threshold: 62.5, tuning: { learnEpsilon: 2 } });
  server.learn([5, {}] as never);
  const { mechanism } = paperChannel("release", 1, 62.5);
  const noise = 62.5 * Math.sqrt(worstVariance(mechanism));
  expect(server.statement()).toMatchObject({ epsilon: 2, threshold: 62.5, expectedClipping: null, noise });
  expect(server.statement().stages).toMatchObject([
    { stage: "learn", epsilon: 2, domain: [0, 1000], inputs: 2 ** 20, reports: 0 },
    {
      stage: "release",
      epsilon: 1,
      domain: [0, 62.5],
      inputs: 2 ** 20 + 1,
      cells: mechanism.cells,
      reports: 0,
    },
  ]);
  expect(server.explain().split("\n").slice(0, 6)).toEqual([
    "Every report satisfies ε-local differential privacy with ε = 2: no report is more than e^ε = 7.38906 times likelier for one value than for another. Nobody has to be trusted with the values.",
    "  learn: Square Wave on [0, 1000], ε = 2, 0 reports",
    "  release: Hybrid (Stochastic Rounding, Piecewise) on [0, 62.5], ε = 1, 0 reports",
    "Every value is reported once, in one phase: parallel composition, so the larger ε is the total.",
    `Values above θ = 62.5 are clamped to θ; θ was given, so nobody knows how much that hides. One published value has a standard deviation of ${Number(noise.toPrecision(6))}; sums over long ranges are accurate.`,
    "Rejected: 2 (malformed).",
  ]);
  const fresh = new PaperAggregator({ epsilon: 1, max: 1000 });
  expect(fresh.statement()).toMatchObject({ noise: null, threshold: null });
  expect(fresh.statement().stages).toHaveLength(1);
  expect(fresh.explain()).toContain("Rejected: nothing.");
});

test("a range of nothing is 0 without error; a single report is not", () => {
  const server = new PaperAggregator({ epsilon: 1, max: 1000, threshold: 62.5 });
  const nothing = { sum: 0, mean: 0, standardError: 0, clipped: 0, low: 0, high: 0, confidence: 0.95 };
  expect([server.total(), server.range(0, 0)]).toEqual([nothing, nothing]);
  const unknown = new PaperAggregator({ epsilon: 1, max: 1000 }); // θ is not chosen yet
  expect([unknown.total(), unknown.range(0, 0)]).toEqual([nothing, nothing]);
  expect(() => unknown.range(0, 1)).toThrow(/^range/);
  const [published] = server.release(reportsOf([10], "one", { threshold: 62.5 }));
  const error = 62.5 * Math.sqrt(worstVariance(paperChannel("release", 1, 62.5).mechanism));
  expect(server.total()).toMatchObject({ sum: published, mean: published, clipped: null });
  expect(server.total().standardError).toBeCloseTo(error, 9);
  expect(server.range(1, 1)).toEqual(nothing);
});
