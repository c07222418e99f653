import { describe, expect, test } from "vitest";
import { BucketForests } from "../../src/events/bucketForests.js";
import { resolveHistogram, type HistogramOptions } from "../../src/events/histogramOptions.js";
import { privateHistogram, restore } from "../../src/events/open.js";
import { chooseCore } from "../../src/core/choose.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";

const TEN = Date.UTC(2026, 2, 1, 10);
const KEY = new Uint8Array(32).fill(9);

/** ε = 64 on two levels: noise of scale 1/32 is 0 but for odds of 2·e⁻³² a node, so counts come out as they are. */
const exact: HistogramOptions = {
  epsilon: 64,
  every: "1s",
  origin: TEN,
  edges: [1, 2, 4, 8],
  maxRange: "16s",
  tuning: { fanout: 4, skipLevels: 0 },
  clock: () => TEN,
  unsafeSeed: "exact",
};
const histogram = (change: Partial<HistogramOptions> = {}) => privateHistogram({ ...exact, ...change });
const rounded = (numbers: Iterable<number>) => Array.from(numbers, (x) => Math.round(x) || 0);

describe("a histogram", () => {
  test("counts events per bucket and tick", () => {
    const stream = histogram();
    for (const value of [0.5, 1, 1.5, 3, 7.9, 8, 1e9]) stream.add(value, { at: TEN });
    stream.add(3, { at: TEN + 2000 });
    const blocks = stream.advance(TEN + 3000);
    expect(blocks.map(({ from, to }) => [from - TEN, to - TEN])).toEqual([
      [0, 1000],
      [1000, 2000],
      [2000, 3000],
    ]);
    expect(blocks.map(({ counts }) => rounded(counts))).toEqual([
      [1, 2, 1, 1, 2],
      [0, 0, 0, 0, 0],
      [0, 0, 1, 0, 0],
    ]);
    const answer = stream.between(TEN, TEN + 3000, { quantiles: [0.5], shares: [2] });
    expect(rounded(answer.counts)).toEqual([1, 2, 2, 1, 2]);
    expect(Math.round(answer.total.value)).toBe(8);
    expect(answer.shares[0]!.value).toBeCloseTo(3 / 8, 6);
    expect(answer.quantiles[0]!.edges).toEqual([2, 4]);
    expect(answer.midpointMean).toBeCloseTo((1 + 2 * 1.5 + 2 * 3 + 6 + 2 * 8) / 8, 6);
    expect(structuredClone(answer)).toEqual(answer);
    expect(JSON.parse(JSON.stringify(answer))).toEqual(answer);
  });

  test("with a block of many ticks answers part of a block in proportion, and the running one by the last", () => {
    const stream = histogram({ tuning: { fanout: 4, skipLevels: 1 }, maxRange: "64s" });
    for (let tick = 0; tick < 10; tick++) stream.add(3, { at: TEN + 1000 * tick });
    expect(stream.between(TEN, TEN + 4000).total.value).toBe(0); // nothing is published yet
    expect(stream.advance(TEN + 10_000)).toHaveLength(2);
    expect(stream.between(TEN + 2000, TEN + 6000).total.value).toBeCloseTo(4, 6);
    expect(stream.between(TEN, TEN + 10_000)).toMatchObject({ complete: true, to: TEN + 10_000 });
    expect(stream.between(TEN, TEN + 10_000).total.value).toBeCloseTo(10, 6);
    expect(stream.between(TEN + 8500, TEN + 9500).total.value).toBeCloseTo(1, 6);
  });

  test("forgets forests that are too old", () => {
    const stream = histogram();
    for (let tick = 0; tick < 60; tick++) stream.add(3, { at: TEN + 1000 * tick });
    stream.advance(TEN + 60_000);
    const answer = stream.between(TEN, TEN + 60_000);
    expect(answer).toMatchObject({ complete: false, from: TEN + 32_000 });
    expect(answer.total.value).toBeCloseTo(28, 6);
    expect(stream.between(TEN + 40_000, TEN + 50_000).total.value).toBeCloseTo(10, 6);
  });

  test("with many buckets has groups, which cost half of ε and change no count without noise", () => {
    const stream = histogram({ edges: { min: 1, max: 1000, buckets: 200 }, epsilon: 128 });
    expect(stream.statement().noiseScales.counts).toBe((2 * 2) / 128);
    for (let k = 1; k < 1000; k++) stream.add(k, { at: TEN });
    stream.advance(TEN + 1000);
    const { counts, quantiles, total } = stream.between(TEN, TEN + 1000, { quantiles: [0.5] });
    expect(Math.round(total.value)).toBe(999);
    expect(rounded(counts).reduce((sum, count) => sum + count, 0)).toBe(999);
    expect(quantiles[0]!.value! / 500).toBeCloseTo(1, 1);
  });

  test("counts at most k events of a person", () => {
    const stream = histogram({ perPerson: { events: 2, every: "1d" }, epsilon: 128 });
    for (const value of [1, 3, 5]) stream.add(value, { at: TEN, person: "ann" });
    expect(rounded(stream.advance(TEN + 1000)[0]!.counts)).toEqual([0, 1, 1, 0, 0]);
    expect(stream.statement()).toMatchObject({ unit: "one person, per day", epsilonPerEvent: 64 });
    expect(stream.explain()).toContain("The first 2 events of each person count in a period of 1d");
  });

  test.each<[object, string]>([
    [{ edges: [2, 1] }, "edges[1]"],
    [{ max: 5 }, 'options: unknown option "max"'],
    [{ epsilon: 1e-13 }, "epsilon"],
    [
      { edges: { min: 1, max: 2, buckets: 4000 }, maxRange: "1048576s", tuning: { skipLevels: 0 } },
      "edges: noise for",
    ],
  ])("with %j is refused", (change, message) => {
    expect(() => histogram(change)).toThrow(message);
  });

  test("refuses bad events and questions, and its messages say nothing about events", () => {
    const stream = histogram();
    expect(() => stream.add(NaN, { at: TEN })).toThrow(new TypeError("value: expected a finite number"));
    expect(() => stream.add(3, { at: "noon" })).toThrow("the event was not taken");
    expect(() => stream.between(TEN, TEN + 1, { quantiles: [0.5, 1] })).toThrow(
      "quantiles: expected a list of numbers between 0 and 1",
    );
    expect(() => stream.between(TEN, TEN + 1, { shares: [NaN] })).toThrow(
      "shares: expected a list of numbers",
    );
    expect(stream.between(TEN, TEN + 1000, { quantiles: [0.5] }).quantiles[0]).toEqual({
      p: 0.5,
      value: null,
      low: null,
      high: null,
      edges: [null, null],
    });
  });
});

const busy: HistogramOptions = {
  epsilon: 0.5,
  every: "1s",
  origin: TEN,
  edges: { min: 1, max: 1000, buckets: 150 },
  perTick: 100,
  maxRange: "256s",
  perPerson: { events: 3, every: "1m" },
  tuning: { fanout: 4, skipLevels: 1 },
  unsafeSeed: "busy",
};
const value = (k: number) => ((k * 7919) % 100_003) / 90;

test("both cores give the same bits", () => {
  const run = (core: "js" | "wasm") => {
    const stream = privateHistogram({
      ...busy,
      edges: { min: 1, max: 1000, buckets: 1000 },
      core,
      clock: () => TEN + 400_000,
    });
    for (let k = 0; k < 20_000; k++) stream.add(value(k), { at: TEN + 20 * k, person: `p${k % 5000}` });
    const blocks = stream.advance(TEN + 400_000); // more than a forest
    return [blocks, stream.between(TEN + 150_000, TEN + 390_000, { quantiles: [0.1, 0.5, 0.99] })];
  };
  expect(run("js")).toEqual(run("wasm"));
});

test.each([0, 3, 70, 257])("restored after %d s it resumes bit for bit", async (second) => {
  let now = TEN;
  const clock = () => now;
  const whole = privateHistogram({ ...busy, clock });
  let parted = privateHistogram({ ...busy, clock });
  const [a, b]: Float64Array[][] = [[], []];
  for (let k = 0; k < 3000; k++) {
    now = TEN + 100 * k;
    if (k === 10 * second + 5) parted = await restore(await parted.snapshot(KEY), KEY, { ...busy, clock });
    const event = { at: now, person: `p${k % 700}` };
    whole.add(value(k), event);
    parted.add(value(k), event);
    if (k % 10 === 9) {
      a!.push(...whole.advance().map(({ counts }) => counts));
      b!.push(...parted.advance().map(({ counts }) => counts));
    }
  }
  expect(b).toEqual(a);
  expect(parted.between(TEN, now)).toEqual(whole.between(TEN, now));
  expect(parted.sequence).toBe(1);
});

test("a snapshot opens with its own edges only", async () => {
  const bytes = await histogram().snapshot(KEY);
  await expect(restore(bytes, KEY, { ...exact, edges: [1, 2, 4, 9] })).rejects.toThrow(
    'expected one made with edges = "1 2 4 9", got "1 2 4 8"',
  );
});

test("trees drawn ahead are those drawn when they are due", () => {
  // One set of forests walks block by block, another is made anew for every block.
  const settings = resolveHistogram({ ...busy, maxRange: "100s" }).stream;
  const [core, key, columns] = [chooseCore("js"), unsafeKey("trees"), 20];
  const from = (block: number) => new BucketForests(core, key, settings, columns, 2, 256, block);
  const walking = from(0);
  const sums = new Float64Array(columns);
  const seen = new Set<string>();
  for (let block = 0; block < 60; block++) {
    const estimates = walking.estimate(block, sums);
    expect(from(block).estimate(block, sums)).toEqual(estimates);
    seen.add(estimates.join());
  }
  expect(seen.size).toBe(60); // no noise twice
  expect(walking.estimate(3, sums)).toEqual(from(3).estimate(3, sums)); // and it can go back
});
