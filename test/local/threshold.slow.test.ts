import { describe, expect, test } from "vitest";
import { bandAround } from "../../src/local/band.js";
import { nearestThreshold, thresholdShares } from "../../src/local/channel.js";
import { hybrid } from "../../src/local/mechanisms.js";
import { worstVariance } from "../../src/local/moments.js";
import type { Evidence } from "../../src/local/tails.js";
import {
  bestThreshold,
  chooseThreshold,
  type Cost,
  costOf,
  excessAt,
  expectedExcess,
  type Objective,
  PAPER_PRUNING,
  prunedTail,
  type Tail,
  thresholdCosts,
} from "../../src/local/threshold.js";
import { integers } from "../support/numbers.js";
import { averagedModels } from "../support/tailModels.js";
import vectors from "../vectors/ldp_threshold.json" with { type: "json" };

const normalised = (histogram: number[]) => {
  const sum = histogram.reduce((a, b) => a + b);
  return Float64Array.from(histogram, (count) => count / sum);
};

describe.each(Object.entries(vectors))("%s", (_, vector) => {
  const unit = vector.B / vector.bins; // costs are in squared bins

  test("the paper's objective at every grid point, and its θ", () => {
    for (const { histogram_used, objective, argmin_index, theta } of [vector.unpruned, vector.pruned]) {
      if (histogram_used.every((share) => share === 0)) continue; // what the code behind the vectors threw away
      const shares = Float64Array.from(histogram_used);
      const cost: Cost = (theta, excess) =>
        (vector.stream_length / 3) * theta ** 2 * vector.worst_case_variance_unit +
        (vector.stream_length ** 2 / 24) * excess ** 2;
      const costs = thresholdCosts(shares, cost, "paper");
      objective.forEach((want, i) => expect((costs[i]! * unit * unit) / want).toBeCloseTo(1, 10));
      const ours = thresholdCosts(
        shares,
        costOf(hybrid(vector.range_epsilon), vector.stream_length, "paper"),
        "paper",
      );
      ours.forEach((have, i) => expect(have / costs[i]!).toBeCloseTo(1, 4));
      const index = bestThreshold(shares, hybrid(vector.range_epsilon), vector.stream_length, "paper");
      expect(index).toBe(argmin_index);
      expect(index * unit).toBe(theta);
    }
  });

  test("the release mechanism has the vectors' worst-case variance", () => {
    expect((4 * worstVariance(hybrid(vector.range_epsilon))) / vector.worst_case_variance_unit).toBeCloseTo(
      1,
      5,
    );
  });
});

describe("pruning", () => {
  const { histogram_in, pruned } = vectors.case_eps1;

  test("cuts where the vectors cut", () => {
    const kept = prunedTail(normalised(histogram_in), PAPER_PRUNING);
    const last = (shares: ArrayLike<number>) => Array.from(shares).findLastIndex((share) => share > 0);
    expect(last(kept)).toBe(last(pruned.histogram_used));
    expect(kept.reduce((a, b) => a + b)).toBeCloseTo(1, 14);
  });

  test("worked by hand: the tail alone, from the median on", () => {
    const small = 1e-5;
    // Five empty bins first, then the bulk, a gap of four, a crumb, a gap of five, a crumb.
    const shares = Float64Array.of(
      0,
      0,
      0,
      0,
      0,
      0.6,
      0.39,
      small,
      small,
      small,
      small,
      0.00993,
      0,
      0,
      0,
      0,
      small,
      small,
      0,
      0,
    );
    const kept = prunedTail(shares, PAPER_PRUNING);
    expect([...kept.slice(12)]).toEqual(new Array(8).fill(0));
    expect(kept[11]).toBeGreaterThan(0.00993);
    expect(kept[5]! / kept[6]!).toBeCloseTo(0.6 / 0.39, 12);
  });

  test("by definition, for many histograms", () => {
    const { most, run, small } = { most: 0.5, run: 3, small: 0.02 };
    for (let seed = 0; seed < 300; seed++) {
      const shares = normalised(
        [...integers(seed, 30, 100)].map((x, i) => (x % 3 === 0 ? 0 : x * x) / (1 + i)),
      );
      const median = shares.findIndex((_, i) => shares.slice(0, i + 1).reduce((a, b) => a + b) > 1 - most);
      const start = shares.findIndex(
        (_, i) =>
          i > median && i + run <= shares.length && shares.slice(i, i + run).every((share) => share < small),
      );
      const end = start < 0 ? shares.length : start;
      const sum = shares.slice(0, end).reduce((a, b) => a + b);
      const kept = prunedTail(shares, { most, run, small });
      kept.forEach((share, i) => expect(share).toBeCloseTo(i < end ? shares[i]! / sum : 0, 12));
    }
  });

  test("a bin with half of the values, a share as large as the limit: neither is in the tail", () => {
    const pruning = { most: 0.5, run: 2, small: 0.125 };
    const last = (...shares: number[]) =>
      prunedTail(Float64Array.from(shares), pruning).findLastIndex((share) => share > 0);
    expect(last(0.5, 0.0625, 0.0625, 0.375)).toBe(3);
    expect(last(0.5, 0.25, 0.0625, 0.0625, 0.125)).toBe(1);
    expect(last(0.625, 0.125, 0.0625, 0.0625, 0.125)).toBe(1);
    expect(last(0.625, 0.0625, 0.0625, 0.25)).toBe(0);
  });

  test("leading empty bins do not throw the estimate away, as they do in the vectors", () => {
    const shares = normalised(vectors.case_leading_zeros.histogram_in);
    expect(vectors.case_leading_zeros.pruned.theta).toBe(0);
    const kept = prunedTail(shares, PAPER_PRUNING);
    expect(bestThreshold(kept, hybrid(2), 65_536, "paper")).toBeGreaterThan(8);
  });

  test("a distribution without a tail is left alone", () => {
    const shares = new Float64Array(1024).fill(1 / 1024);
    expect(prunedTail(shares, PAPER_PRUNING)).toEqual(shares);
  });
});

describe("the choice", () => {
  const shares = normalised(Array.from({ length: 64 }, (_, i) => Math.exp(-i / 4) + (i === 50 ? 0.007 : 0)));
  const release = hybrid(1);
  const evidence = {
    ...{ shares, resolution: 0.004 },
    logLikelihood: (model: Float64Array) =>
      shares.reduce((sum, share, i) => sum + 3000 * share * Math.log(Math.max(model[i]!, 1e-300)), 0),
  };
  const choose = (tail: Tail, objective: Objective, maxRange: number, of: Evidence = evidence) =>
    chooseThreshold(of, { tail, objective, maxRange }, release, () => Promise.resolve());

  test.each([
    ["whole", "exact"],
    ["whole", "paper"],
    ["paper", "exact"],
    ["paper", "paper"],
  ] as const)(
    "%s tail, %s objective: the public threshold nearest to the bin edge that costs least",
    async (tail, objective) => {
      for (const maxRange of [30, 3000, 300_000]) {
        const own = tail === "paper" ? prunedTail(shares, PAPER_PRUNING) : shares;
        const { share, shares: used, excess } = await choose(tail, objective, maxRange);
        expect(used).toEqual(own);
        expect(share).toBe(nearestThreshold(bestThreshold(own, release, maxRange, objective) / 64, 1));
        expect(excess).toBe(excessAt(own, share * 64));
      }
    },
  );

  test.each(["exact", "paper"] as const)(
    "models, %s objective: the best public threshold in the band",
    async (objective) => {
      for (const resolution of [0.0005, 0.004, 0.05])
        for (const maxRange of [30, 3000, 300_000]) {
          const of = { ...evidence, resolution };
          const pruned = prunedTail(shares, PAPER_PRUNING);
          const paper = nearestThreshold(bestThreshold(pruned, release, maxRange, "paper") / 64, 1);
          const { least, most } = bandAround(paper * 64, shares, resolution);
          const inBand = thresholdShares().filter((share) => share * 64 >= least && share * 64 <= most);
          const cost = costOf(release, maxRange, objective);
          const wanted = averagedModels(
            of,
            inBand.map((share) => share * 64),
            cost,
          );
          const found = await choose("models", objective, maxRange, of);
          expect(found.share).toBe(inBand[wanted.best]);
          expect(found.excess / wanted.excess).toBeCloseTo(1, 5);
          found.shares.forEach((share, i) => expect(share).toBeCloseTo(wanted.shares[i]!, 6));
        }
    },
  );
});

describe("the exact objective", () => {
  /** By definition: ranges of every length j ≤ r, all places alike, errors of j values. */
  function averageError(shares: Float64Array, i: number, variance: number, r: number): number {
    const cells = 400; // values spread over their bin
    let hidden = 0;
    shares.forEach((share, j) => {
      for (let c = 0; c < cells; c++) hidden += (share / cells) * Math.max(0, j + (c + 0.5) / cells - i);
    });
    let [error, places] = [0, 0];
    for (let j = 1; j <= r; j++) {
      error += (r - j + 1) * (j * ((i * i) / 4) * variance + (j * hidden) ** 2);
      places += r - j + 1;
    }
    return error / places;
  }

  test("is the mean squared error over random ranges", () => {
    const shares = normalised([5, 9, 4, 2, 1, 1, 0, 1]);
    const r = 2000; // r/3 and r²/6 are the leading terms: off by 2/r and 3/r
    const costs = thresholdCosts(shares, costOf(hybrid(1), r, "exact"), "exact");
    const variance = 4 * worstVariance(hybrid(1));
    for (let i = 0; i <= 8; i++) expect(costs[i]! / averageError(shares, i, variance, r)).toBeCloseTo(1, 2);
  });

  test("expected excess: all mass in the last bin", () => {
    expect([...expectedExcess(Float64Array.of(0, 0, 1))]).toEqual([2.5, 1.5, 0.5, 0]);
  });

  test("between two bins the excess is a parabola: halves of a bin by hand", () => {
    // All values in bin 1, spread evenly over [1, 2): above θ = 1.5 lies half of them, by ¼ on average.
    const shares = Float64Array.of(0, 1, 0);
    expect([0, 0.5, 1, 1.5, 2, 2.5, 3].map((theta) => excessAt(shares, theta))).toEqual([
      1.5, 1, 0.5, 0.125, 0, 0, 0,
    ]);
  });

  test("never chooses θ = 0, and takes more than the paper's, which counts noise fourfold and bias a quarter", () => {
    const zeros = new Float64Array(64);
    zeros[0] = 1;
    expect(bestThreshold(zeros, hybrid(1), 2 ** 20, "exact")).toBe(1);
    const shares = normalised(vectors.case_eps1.histogram_in);
    const [exact, paper] = (["exact", "paper"] as const).map((name) =>
      bestThreshold(shares, hybrid(1), 4096, name),
    );
    expect(exact!).toBeGreaterThan(paper!);
  });
});
