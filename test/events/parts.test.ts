/** The small parts of event streams, one by one: edges, ticks, open ticks, totals and plans. */
import { describe, expect, test } from "vitest";
import { publishedWindow } from "../../src/events/answers.js";
import { columnCount, resolveEdges } from "../../src/events/buckets.js";
import { resolveHistogram } from "../../src/events/histogramOptions.js";
import { midpointMean, totalOf } from "../../src/events/histogramAnswers.js";
import { OpenTicks, ticksWritten } from "../../src/events/openTicks.js";
import { type EventStreamOptions, resolveEventStream } from "../../src/events/options.js";
import { planEvents, solveEpsilon } from "../../src/events/plan.js";
import { dueAt, horizonAt, resolveSchedule, startOf, tickOf } from "../../src/events/ticks.js";
import { WaitingValues } from "../../src/events/waitingValues.js";
import { noiseQuantile } from "../../src/stream/answer.js";
import { Decoder, Encoder } from "../../src/stream/codec.js";
import { errorOfLength } from "../../src/stream/plan.js";

const usual: EventStreamOptions = { epsilon: 2, every: "1s", max: 1000, origin: 0 };

test("edges: both ends exact, the same factor between, 1 to 4096 buckets", () => {
  for (const [min, max, buckets] of [
    [0.3, 777.7, 1],
    [0.3, 777.7, 7],
    [1e-3, 1e6, 4096],
  ] as const) {
    const edges = resolveEdges({ min, max, buckets });
    expect([edges.length, edges[0], edges.at(-1)]).toEqual([buckets + 1, min, max]);
    edges.forEach((edge, i) => expect(edge / (min * (max / min) ** (i / buckets))).toBeCloseTo(1, 12));
  }
  expect(() => resolveEdges({ min: 1, max: 2, buckets: 4097 })).toThrow("from 1 to 4096, got 4097");
  expect(resolveEdges(Array.from({ length: 4097 }, (_, i) => i))).toHaveLength(4097);
  expect(resolveEdges([1, 2])).toEqual(Float64Array.of(1, 2));
  expect(() => resolveEdges(Array.from({ length: 4098 }, (_, i) => i))).toThrow(
    "edges: expected 2 to 4097 numbers, got 4098",
  );
  expect(() => resolveEdges([1, "2"])).toThrow('edges[1]: expected a number, got "2"');
  expect([columnCount(10, 1), columnCount(10, 3), columnCount(9, 3)]).toEqual([10, 14, 12]);
});

test("ticks of a schedule", () => {
  const schedule = resolveSchedule({ every: "2s", origin: 4000, lateness: "3s", skew: "5s", clock: () => 0 });
  expect([3999, 4000, 5999, 6000].map((time) => tickOf(schedule, time))).toEqual([-1, 0, 0, 1]);
  expect([0, 1, 5].map((tick) => startOf(schedule, tick))).toEqual([4000, 6000, 14_000]);
  expect([0, 8999, 9000, 10_999, 11_000].map((time) => dueAt(schedule, time))).toEqual([0, 0, 1, 1, 2]);
  expect([-1001, -1000, 999, 1000].map((time) => horizonAt(schedule, time))).toEqual(
    [-1, 0, 0, 1].map((t) => t),
  );
  expect(resolveSchedule({ every: "2s", clock: () => 4999 })).toMatchObject({
    ...{ every: 2000, lateness: 0, skew: 60_000, origin: 4000 },
  });
  expect(resolveSchedule({ every: 1, clock: () => 8.64e15 }).origin).toBe(8.64e15);
  for (const now of [8.64e15 + 2, -8.64e15 - 2, NaN, "5", undefined])
    expect(() => resolveSchedule({ every: 1, clock: () => now as number })).toThrow(
      /^clock: expected milliseconds since 1970, got .*; nothing was changed$/,
    );
});

test("a range is cut to what is published and kept", () => {
  const schedule = resolveSchedule({ every: "1s", origin: 10_000, clock: () => 0 });
  const cut = (from: number, to: number, held = 2) =>
    publishedWindow(schedule, held, { length: 7, oldest: 3 }, from, to);
  // Published are ticks 2 to 8; kept are ticks 5 to 8: [15 s, 19 s).
  expect(cut(15_000, 19_000)).toEqual({
    window: { from: 15_000, to: 19_000, complete: true },
    start: 3,
    end: 7,
  });
  expect(cut(14_999, 19_000).window).toEqual({ from: 15_000, to: 19_000, complete: false });
  expect(cut(15_000, 19_001).window).toEqual({ from: 15_000, to: 19_000, complete: false });
  expect(cut(15_500, 16_250)).toMatchObject({ start: 3.5, end: 4.25 });
  expect(cut(0, 5)).toMatchObject({
    window: { from: 15_000, to: 15_000, complete: false },
    start: 3,
    end: 3,
  });
  expect(cut(15_000, 15_000).window.complete).toBe(true);
  expect(publishedWindow(schedule, 2, undefined, 0, 99_000)).toEqual({
    ...{ window: { from: 12_000, to: 12_000, complete: false }, start: 0, end: 0 },
  });
  expect(() => cut(16_000, 15_999)).toThrow("to: expected a time from 16000 on, got 15999");
});

describe("open ticks in a snapshot", () => {
  const rows = (...ticks: number[]) => new Map(ticks.map((tick) => [tick, new Float64Array(1)]));
  test.each<[used: number[], first: number, horizon: number, width: number, count: number]>([
    [[], 5, 5, 1, 1],
    [[], 5, 9, 1, 5],
    [[5, 12], 5, 9, 1, 8],
    [[12, 5], 5, 9, 1, 8],
    [[], 0, 65_535, 1, 65_536], // 2^19 bytes
    [[], 0, 65_536, 1, 65_536],
    [[], 0, 999_999, 2, 32_768],
    [[], 0, 999_999, 1000, 256],
    [[], 0, 255, 1000, 256],
    [[255], 0, 256, 1000, 256],
    [[256], 0, 100, 1000, 512],
    [[600], 0, 100_000, 1000, 1024],
  ])("ticks %j from %d to %d, %d wide: %d are written", (used, first, horizon, width, count) => {
    expect(ticksWritten(rows(...used), first, horizon, width)).toBe(count);
  });

  test("sums come back, each in its place", () => {
    const open = new OpenTicks(2);
    open.row(7).set([1, 2]);
    open.row(9)[1]! += 5;
    open.row(7)[0]! += 10;
    expect([open.sums(7), open.sums(8), open.sums(9)]).toEqual([
      Float64Array.of(11, 2),
      undefined,
      Float64Array.of(0, 5),
    ]);
    const writer = new Encoder();
    open.save(writer, 6, 10);
    const reader = new Decoder(writer.bytes);
    expect(reader.count()).toBe(5);
    expect(Array.from({ length: 10 }, () => reader.double())).toEqual([0, 0, 11, 2, 0, 0, 0, 5, 0, 0]);
    expect(reader.atEnd).toBe(true);
    const loaded = new OpenTicks(2);
    loaded.load(new Decoder(writer.bytes), 6);
    expect([6, 7, 8, 9, 10, 11].map((tick) => loaded.sums(tick))).toEqual(
      [6, 7, 8, 9, 10, 11].map((tick) => open.sums(tick)),
    );
    open.close(7, 9);
    expect([open.sums(7), open.sums(9)]).toEqual([undefined, Float64Array.of(0, 5)]);
    expect(open.row(9)).toEqual(Float64Array.of(0, 5));
    open.close(9, 10);
    expect(open.row(9)).toEqual(Float64Array.of(0, 0)); // the row that was used last is forgotten too
  });

  test("values that wait for θ: counts, sums at any candidate, and a snapshot", () => {
    const candidates = Float64Array.of(10, 20, 40);
    const values = [0, 5, 10, 11, 20, 21, 40, 41, 1000];
    const waiting = new WaitingValues(candidates);
    for (const tick of [3, 5]) waiting.prepare(tick);
    for (const x of values) waiting.add(3, x);
    waiting.add(5, 15);
    waiting.prepare(3); // has room already, and keeps what is there
    const wanted = (theta: number) => [
      { tick: 3, count: values.length, sum: values.reduce((sum, x) => sum + Math.min(x, theta), 0) },
      { tick: 5, count: 1, sum: Math.min(15, theta) },
    ];
    for (const theta of candidates) expect(waiting.clamped(theta)).toEqual(wanted(theta));
    const writer = new Encoder();
    waiting.save(writer, 3, 6);
    const reader = new Decoder(writer.bytes);
    expect(reader.count()).toBe(4);
    expect(Array.from({ length: 8 }, () => reader.double())).toEqual([3, 2, 2, 2, 15, 31, 61, 1041]);
    const loaded = new WaitingValues(candidates);
    const again = new Decoder(writer.bytes);
    loaded.load(again, 3);
    expect(again.atEnd).toBe(true);
    for (const theta of candidates) expect(loaded.clamped(theta)).toEqual(wanted(theta));
    loaded.wipe();
    expect(loaded.clamped(10)).toEqual([]);
  });
});

describe("totals and middles", () => {
  const noisy = {
    ...{ counts: Float64Array.of(2, 4, 6, 8), edges: Float64Array.of(1, 2, 5), group: 1 },
    spread: { variance: 9, fourth: 20 },
  };
  test("every bucket counts once, with its noise", () => {
    const spread = { variance: 4 * 9, fourth: 4 * 20 };
    const reach = noiseQuantile(0.9, spread) * 6;
    const total = totalOf(noisy, 0.9);
    expect(total).toMatchObject({ value: 20, standardError: 6 });
    expect([total.low, total.high].map((x) => x.toFixed(9))).toEqual(
      [20 - reach, 20 + reach].map((x) => x.toFixed(9)),
    );
    // In groups of two, by least squares: the sum of a group is ⅓ of both and ⅔ of its own count, so (6/9)·9 each.
    expect(totalOf({ ...noisy, group: 2 }, 0.9).standardError).toBeCloseTo(Math.sqrt((2 * 6) / 9) * 3, 12);
  });

  test("the mean of the middles, between the edges", () => {
    expect(midpointMean(noisy)).toBeCloseTo((2 * 1 + 4 * 1.5 + 6 * 3.5 + 8 * 5) / 20, 12);
    const counts = (...list: number[]) => midpointMean({ ...noisy, counts: Float64Array.from(list) });
    expect(counts(0, 0, 0, 0.5)).toBe(5);
    expect(counts(10, 0, 0, -9)).toBe(1);
    expect(counts(-9, 0, 0, 10)).toBe(5);
    expect(counts(1, 0, 0, -1)).toBeNull();
    expect(counts(0, 0, 0, -1)).toBeNull();
  });
});

describe("plans", () => {
  test("errors of the ranges that a forest holds", () => {
    const options = { ...usual, threshold: 1, maxRange: "1h" } as const;
    const { stream } = resolveEventStream(options).columns[0]!;
    const whole = stream.blocksPerForest * stream.blockLength;
    const { errors, ...head } = planEvents(options, ["1s", "1m", whole * 1000, (whole + 1) * 1000]);
    expect(errors).toEqual([
      { range: "1s", standardError: errorOfLength(stream, 1) },
      { range: "1m", standardError: errorOfLength(stream, 60) },
      expect.objectContaining({ standardError: errorOfLength(stream, whole) }),
    ]);
    expect(head).toEqual({
      ...{ epsilon: 2, epsilonPerEvent: 2, holdoutTicks: 0, errorsOf: "sum, in units of θ" },
      block: `${stream.blockLength}s`,
    });
    expect(planEvents({ ...usual, holdout: "8s" }, []).holdoutTicks).toBe(8);
    expect(planEvents({ ...usual, of: "count", max: undefined } as never, []).errorsOf).toBe("count");
    expect(planEvents({ ...usual, every: "2s" }, ["1s", "2s"]).errors).toHaveLength(1);
  });

  test("a histogram tells the error of a rank at the median", () => {
    const { errors, ...head } = planEvents({ epsilon: 1, every: "1s", edges: [1, 2, 3, 4] }, ["1m"]);
    expect(head).toMatchObject({ holdoutTicks: 0, errorsOf: "count of a bucket" });
    const { stream } = resolveHistogram({ epsilon: 1, every: "1s", edges: [1, 2, 3, 4] });
    expect(errors[0]!.standardError).toBe(errorOfLength(stream, 60));
    // Five buckets, two of them below: 2·(½)² + 3·(½)².
    expect(errors[0]!.rankError! / errors[0]!.standardError).toBeCloseTo(Math.sqrt(5 / 4), 12);
    const many = { epsilon: 1, every: "1s", edges: { min: 1, max: 9, buckets: 200 } } as const;
    const grouped = resolveHistogram(many);
    expect(planEvents(many, ["1m"]).errors[0]!.standardError).toBe(2 * errorOfLength(grouped.stream, 60));
  });

  test("the smallest ε for an error, to a thousandth", () => {
    for (const target of [0.5, 10, 1e4]) {
      const found = solveEpsilon(target, (epsilon) => 3 / epsilon)!;
      expect(found * target).toBeGreaterThanOrEqual(3);
      expect(found * target).toBeLessThanOrEqual(3 * 1.001);
    }
    expect(solveEpsilon(1, (epsilon) => 64 / epsilon)).toBe(64);
    expect(solveEpsilon(1, (epsilon) => 64.001 / epsilon)).toBeUndefined();
    const least = solveEpsilon(1, () => 0)!;
    expect(least).toBeLessThanOrEqual(1e-6);
    expect(least).toBeGreaterThan(1e-6 / 1.11);
    // An error that is small again further down: the search stops at the first that is too large.
    expect(solveEpsilon(1, (epsilon) => (epsilon > 1 && epsilon < 2 ? 5 : 0))).toBeCloseTo(2, 2);
  });
});
