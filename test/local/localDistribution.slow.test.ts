/** Percentiles, clipped shares and histograms of days: intervals that cover, and siblings that do not. */
import { describe, expect, test } from "vitest";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { estimateCounts } from "../../src/local/dayThreshold.js";
import { pooled, type ReportCounts } from "../../src/local/dayTally.js";
import { localAnswer } from "../../src/local/localAnswer.js";
import {
  dayHistogram,
  dayQuantile,
  dayShare,
  type Distributed,
  type EstimatedGroup,
} from "../../src/local/localDistribution.js";
import { Draws, mostMisses } from "../support/dayReports.js";
import { uniforms } from "../support/localValues.js";

const core = makeWasmCore();
const WINDOW = { from: 0, to: 1, complete: true, next: null };
const MAX = 1000;
const STREAMS: Readonly<Record<string, (u: number) => number>> = {
  skewed: (u) => Math.min(MAX, -60 * Math.log(u)),
  uniform: (u) => MAX * u,
  "two humps": (u) => (u < 0.6 ? 100 + 60 * u : 700 + 200 * (u - 0.6)),
  "mostly zero": (u) => (u < 0.9 ? 0 : 4000 * (u - 0.9)),
};

async function distributed({ mechanism }: Draws, tallies: readonly ReportCounts[]): Promise<Distributed> {
  const groups: EstimatedGroup[] = [];
  for (const group of pooled(tallies)) {
    const how = { tail: "whole", served: group.reports } as const;
    const { choice, histogram } = await estimateCounts(core, group, mechanism, how, {});
    groups.push({ ...group, shares: choice.shares, predicted: histogram.predicted });
  }
  return { window: WINDOW, groups, mechanism, max: MAX, newest: tallies.at(-1)!.theta };
}

const quantileOf = (sorted: Float64Array, p: number): number => sorted[Math.ceil(p * sorted.length) - 1]!;

// 4 streams × 3 settings × 8 runs × 3 percentiles = 288 intervals; they miss seldom, so runs of one setting may be added up.
test("percentiles of the devices that reported: covered with 95 %, also from few reports; a tenth of the width is not", async () => {
  let [tried, missed, narrow] = [0, 0, 0];
  for (const [name, stream] of Object.entries(STREAMS))
    for (const [epsilon, n] of [
      [1, 2000],
      [4, 50],
      [6, 500],
    ] as const) {
      const draws = new Draws(epsilon, `${name} ${epsilon}`);
      for (let run = 0; run < 8; run++) {
        const values = uniforms(n, `${name} ${run}`).map(stream);
        const given = await distributed(draws, [draws.tally(values, MAX)]);
        const sorted = values.slice().sort();
        for (const p of [0.05, 0.5, 0.95]) {
          const truth = quantileOf(sorted, p);
          const { low, high, value } = dayQuantile(given, p, 0.95);
          const middle = value ?? (low! + high!) / 2;
          tried++;
          if (truth < low! || truth > high!) missed++;
          if (truth < middle - (middle - low!) / 10 || truth > middle + (high! - middle) / 10) narrow++;
        }
      }
    }
  expect(tried).toBe(288);
  expect(missed).toBeLessThanOrEqual(mostMisses(tried));
  expect(narrow).toBeGreaterThan(mostMisses(tried));
});

describe("values above θ", () => {
  const draws = new Draws(4, "clipped");
  const values = uniforms(3000, "clipped").map((u) => MAX * u);
  const tally = draws.tally(values, 500);

  test("a percentile above θ has no estimate, and its interval reaches to max", async () => {
    const { value, low, high } = dayQuantile(await distributed(draws, [tally]), 0.95, 0.95);
    const truth = quantileOf(values.slice().sort(), 0.95);
    const holds = (end: number): boolean => low! <= truth && truth <= end;
    expect([value, high, holds(high!)]).toEqual([null, MAX, true]);
    expect(holds(500)).toBe(false); // θ as the upper end
  });

  test("their share is told: half of the values, within its interval", () => {
    const { clipped } = localAnswer(WINDOW, [tally], draws.mechanism, MAX, 0.95);
    expect(clipped!.threshold).toBe(500);
    expect(clipped!.low).toBeLessThan(0.5);
    expect(clipped!.high).toBeGreaterThan(0.5); // 95 %, with this seed
    expect(clipped!.high).toBeLessThan(0.65);
    expect(localAnswer(WINDOW, [draws.tally(values, MAX)], draws.mechanism, MAX, 0.95).clipped).toBeNull();
  });

  test("the bound on the share holds in 95 % of days", () => {
    let [high, low] = [0, 0];
    for (let day = 0; day < 1000; day++) {
      const few = draws.tally(values.subarray(0, 300), 500);
      const truth = values.subarray(0, 300).filter((value) => value >= (500 * 1023) / 1024).length / 300;
      const { clipped } = localAnswer(WINDOW, [few], draws.mechanism, MAX, 0.95);
      if (clipped!.high < truth || clipped!.low > truth) high++;
      if (clipped!.share < truth) low++; // the estimate alone as a bound
    }
    expect(high).toBeLessThanOrEqual(mostMisses(1000));
    expect(low).toBeGreaterThan(mostMisses(1000));
  });
});

test("days of several θ: shares and percentiles of all values", async () => {
  const draws = new Draws(4, "mixed");
  let [tried, missed] = [0, 0];
  for (let run = 0; run < 25; run++) {
    const [one, two] = [uniforms(800, `one ${run}`), uniforms(400, `two ${run}`)].map((all) =>
      all.map(STREAMS["skewed"]!),
    );
    const given = await distributed(draws, [draws.tally(one!, MAX), draws.tally(two!, 250)]);
    const all = Float64Array.of(...one!, ...two!).sort();
    for (const x of [30, 120, 240]) {
      const truth = all.filter((value) => value < x).length / all.length;
      const { low, high } = dayShare(given, x, 0.95);
      tried++;
      if (truth < low! || truth > high!) missed++;
    }
    const { low, high } = dayQuantile(given, 0.5, 0.95);
    tried++;
    if (quantileOf(all, 0.5) < low! || quantileOf(all, 0.5) > high!) missed++;
  }
  expect(missed).toBeLessThanOrEqual(mostMisses(tried));
});

test("the band of a histogram holds as a whole; bins are as many as the reports can show", async () => {
  let [missed, lines, runs] = [0, 0, 0];
  for (const [name, stream] of Object.entries(STREAMS)) {
    const draws = new Draws(4, `histogram ${name}`);
    for (let run = 0; run < 20; run++, runs++) {
      const values = uniforms(1000, `${name} ${run}`).map(stream);
      const { bins } = dayHistogram(await distributed(draws, [draws.tally(values, MAX)]), 0.95);
      expect(bins.length).toBe(4);
      const shares = bins.map(
        ({ from, to }, i) =>
          values.filter((value) => value >= from && (value < to || i === bins.length - 1)).length / 1000,
      );
      if (shares.some((share, i) => share < bins[i]!.low || share > bins[i]!.high)) missed++;
      if (shares.some((share, i) => Math.abs(share - bins[i]!.share) > 1e-3)) lines++;
    }
  }
  expect(missed).toBeLessThanOrEqual(mostMisses(runs));
  expect(lines).toBeGreaterThan(mostMisses(runs)); // the estimates alone are no band
  const draws = new Draws(4, "fine");
  const fine = await distributed(draws, [
    draws.tally(
      uniforms(200_000, "fine").map((u) => MAX * u),
      MAX,
    ),
  ]);
  expect(dayHistogram(fine, 0.95).bins.length).toBe(32);
});

test("the band holds from few reports too, whatever the values", async () => {
  const [n, runs] = [30, 250];
  const values = Float64Array.from({ length: n }, (_, i) => (i === 0 ? MAX : 0)).sort();
  const draws = new Draws(0.3, "few");
  let missed = 0;
  for (let run = 0; run < runs; run++) {
    const { bins } = dayHistogram(await distributed(draws, [draws.tally(values, MAX)]), 0.95);
    const truth = [1 - 1 / n, 0, 0, 1 / n];
    if (truth.some((share, i) => share < bins[i]!.low || share > bins[i]!.high)) missed++;
  }
  expect(missed).toBeLessThanOrEqual(mostMisses(runs)); // with Wilson's bounds 40 of 250
});

test("nothing is told without reports", async () => {
  const draws = new Draws(1, "none");
  const given = await distributed(draws, [draws.tally(new Float64Array(0), MAX)]);
  expect(dayQuantile(given, 0.5, 0.95)).toMatchObject({ value: null, low: null, high: null, reports: 0 });
  expect(dayShare(given, 5, 0.95)).toMatchObject({ value: null, low: null, high: null });
  expect(dayHistogram(given, 0.95)).toMatchObject({ bins: [], threshold: null });
  const one = await distributed(draws, [draws.tally(Float64Array.of(5), MAX)]);
  expect(dayQuantile(one, 0.5, 0.95)).toMatchObject({ value: null, low: 0, high: MAX, reports: 1 });
});
