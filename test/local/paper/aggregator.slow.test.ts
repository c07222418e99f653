import { beforeAll, describe, expect, test } from "vitest";
import { PaperAggregator } from "../../../src/local/paper/paperAggregator.js";
import { packReport, type Report, unpackReport } from "../../../src/local/report.js";
import type { PaperOptions, PaperTuning } from "../../../src/local/paper/settings.js";
import { device, HOLDOUT, learnt, OPTIONS, ready, skewed, unpacked } from "../../support/aggregators.js";

describe("learning", () => {
  test("an iterable that throws on the way leaves everything as it was", () => {
    const server = new PaperAggregator(OPTIONS);
    const torn = function* () {
      yield unpackReport(learnt, 0)!;
      yield { version: 99 } as unknown as Report;
      throw new Error("connection lost");
    };
    expect(() => server.learn(torn())).toThrow("connection lost");
    expect([server.learned, server.rejected.malformed, server.rejected.version]).toEqual([0, 0, 0]);
  });

  test("order, batches, form of the reports and core do not matter", async () => {
    const whole = await (await ready()).server.distribution();
    const [js, parts] = [new PaperAggregator({ ...OPTIONS, core: "js" }), new PaperAggregator(OPTIONS)];
    expect(js.learn(unpacked(learnt).reverse())).toBe(HOLDOUT);
    parts.learn(learnt.subarray(0, 8 * 1234));
    parts.learn(unpacked(learnt.subarray(8 * 1234, 8 * 15_000)));
    parts.learn(unpacked(learnt.subarray(8 * 15_000)).map((report) => packReport(report)));
    for (const server of [js, parts]) expect(await server.distribution()).toEqual(whole);
    expect(await js.threshold()).toBe(await parts.threshold());
  });

  const learner = (reports: Uint8Array, options: Partial<PaperOptions> = {}): PaperAggregator => {
    const server = new PaperAggregator({ ...OPTIONS, ...options });
    server.learn(reports);
    return server;
  };

  /** "x ± s": mean and standard deviation over 60 seeds. Bounds are 6 s away or more: one false alarm in 10⁸ seeds. */
  test("the estimate is close to the values", async () => {
    const close = async (stretch: number) => {
      const values = skewed(HOLDOUT, "held out").map((value) => stretch * value);
      const { shares, binWidth } = await learner(device("learn", "learn").reportMany(values)).distribution();
      expect(shares.reduce((a, b) => a + b)).toBeCloseTo(1, 12);
      const mean = shares.reduce((sum, share, j) => sum + share * (j + 0.5) * binWidth, 0);
      return mean > 8.5 && mean < 26.5; // 17.5 ± 1.5: of a mean of 20 the tail is cut off
    };
    expect(await close(1)).toBe(true);
    expect(await close(2)).toBe(false);
  });

  test("every estimator, pruning and objective gives a θ", async () => {
    const theta = async (options: Partial<PaperOptions>) =>
      Math.log(await learner(learnt, options).threshold());
    expect(Math.abs((await theta({})) - 4.43)).toBeLessThan(1.1); // ± 0.18
    expect(Math.abs((await theta({ tuning: { tail: "paper", objective: "paper" } })) - 4.16)).toBeLessThan(
      1.4,
    ); // ± 0.23
    expect(await theta({ tuning: { estimator: "ems", tail: "whole", objective: "exact" } })).toBeGreaterThan(
      3,
    );
  });

  test("smoothing without pruning gives a larger θ", async () => {
    let gain = 0; // 0.93 ± 0.62 a run, in logarithms: the sum of twelve is above 0 by 5.2 standard deviations, 10⁻⁷
    for (let run = 0; run < 12; run++) {
      const reports = device("learn", `reports ${run}`).reportMany(skewed(HOLDOUT, `values ${run}`));
      const theta = (tuning: PaperTuning) => learner(reports, { tuning }).threshold();
      const smooth = await theta({ estimator: "ems", tail: "whole", objective: "paper" });
      const pruned = await theta({ tail: "paper", objective: "paper" });
      gain += Math.log(smooth / pruned);
    }
    expect(gain).toBeGreaterThan(0);
  });

  test("θ waits for the hold-out, is chosen once, and an aborted try changes nothing", async () => {
    const server = new PaperAggregator(OPTIONS);
    await expect(server.distribution()).rejects.toThrow(/^distribution: expected learn-reports/);
    server.learn(learnt.subarray(0, 80));
    await expect(server.threshold()).rejects.toThrow(
      `threshold: expected ${HOLDOUT} learn-reports, got 10 so far`,
    );
    server.learn(learnt.subarray(80));
    await expect(server.threshold({ signal: AbortSignal.abort(new Error("no")) })).rejects.toThrow("no");
    expect(server.statement().threshold).toBeNull();
    const theta = await server.threshold();
    expect(server.learn(learnt.subarray(0, 16))).toBe(0);
    expect(server.rejected.late).toBe(2);
    expect(await server.threshold()).toBe(theta);
  });
});

describe("releasing", () => {
  const values = skewed(200_000, "released");
  let server: PaperAggregator;
  let theta: number;
  let published: Float64Array;
  const clamped: number[] = [0];

  beforeAll(async () => {
    ({ server, theta } = await ready());
    published = server.release(device("release", "release", theta).reportMany(values));
    for (const value of values) clamped.push(clamped.at(-1)! + Math.min(value, theta));
  });

  test("one value is published per report, and a range is their sum", () => {
    expect(published.length).toBe(values.length);
    const sum = published.subarray(100, 5000).reduce((a, b) => a + b);
    const answer = server.range(100, 5000);
    expect(answer.sum / sum).toBeCloseTo(1, 9);
    expect(answer.mean).toBe(answer.sum / 4900);
  });

  /** Disjoint ranges of 200 values: independent, each covered with probability ≥ 0.95; 5.2 standard errors, once in 10⁷. */
  function covers(shrink: number): boolean {
    let covered = 0;
    for (let from = 0; from < values.length; from += 200) {
      const { sum, standardError, low, high } = server.range(from, from + 200);
      const want = clamped[from + 200]! - clamped[from]!;
      expect(high - sum).toBeGreaterThan((1 - 1e-9) * (sum - low)); // room above for what clamping hides
      if (Math.abs(sum - want) <= shrink * 1.959964 * standardError) covered++;
    }
    return covered >= 950 - 5.2 * Math.sqrt(1000 * 0.05 * 0.95);
  }

  test("95 % intervals cover; a standard error 20 % too small is seen", () => {
    expect(covers(1)).toBe(true);
    expect(covers(0.8)).toBe(false);
  });

  test("the same reports in other batches publish the same values", async () => {
    const other = (await ready()).server;
    const bytes = device("release", "release", theta).reportMany(values.subarray(0, 1000));
    const parts = [other.release(bytes.subarray(0, 8 * 7)), other.release(unpacked(bytes.subarray(8 * 7)))];
    expect(Float64Array.of(...parts[0]!, ...parts[1]!)).toEqual(published.slice(0, 1000));
  });

  test("ranges are checked; old values are forgotten when `history` says so", async () => {
    expect(() => server.range(0, 200_001)).toThrow("range(0, 200001): only 200000 values published so far");
    for (const [from, to] of [
      [-1, 3],
      [5, 2],
      [0.5, 2],
      [NaN, 3],
    ] as const)
      expect(() => server.range(from, to)).toThrow(/^range\(.*\): (from|to): expected a whole number/);
    const short = (await ready({ history: 5000 })).server;
    short.release(device("release", "release", theta).reportMany(values));
    expect(short.range(195_000, 200_000).sum).toBeCloseTo(server.range(195_000, 200_000).sum, 3);
    expect(() => short.range(194_999, 200_000)).toThrow(
      /positions before 195000 are no longer kept; a larger history/,
    );
    expect(() => server.range(0, 10, { confidence: 1 })).toThrow(/^confidence: expected/);
  });

  test("an empty range sums to 0 without error, before θ is chosen too", () => {
    for (const answer of [server.range(3, 3), new PaperAggregator({ epsilon: 1, max: 500 }).range(0, 0)])
      expect(answer).toEqual({
        ...{ sum: 0, mean: 0, standardError: 0, clipped: 0, low: 0, high: 0 },
        confidence: 0.95,
      });
  });

  test("an answer is plain data; more confidence makes it wider by the normal's quantiles", () => {
    const [usual, wide] = [server.range(0, 5000), server.range(0, 5000, { confidence: 0.99 })];
    expect(structuredClone(usual)).toEqual(usual);
    expect(JSON.parse(JSON.stringify(wide))).toEqual(wide);
    expect([usual.confidence, wide.confidence]).toEqual([0.95, 0.99]);
    expect((usual.sum - usual.low) / usual.standardError).toBeCloseTo(1.959964, 5);
    expect((wide.sum - wide.low) / wide.standardError).toBeCloseTo(2.575829, 5);
    expect(wide.high - wide.sum - (wide.sum - wide.low)).toBeCloseTo(wide.clipped!, 6);
  });

  test("statement and explain tell parameters, counts and what is not protected", () => {
    const statement = server.statement();
    expect(statement).toMatchObject({
      definition: "local differential privacy",
      epsilon: 1,
      delta: 0,
      threshold: theta,
    });
    expect(statement.stages.map(({ stage, reports }) => [stage, reports])).toEqual([
      ["learn", HOLDOUT],
      ["release", 200_000],
    ]);
    expect(JSON.parse(JSON.stringify(statement))).toEqual(statement);
    expect(server.explain()).toMatch(/ε = 1: .*\n(.*\n)*Not protected:/);
  });
});

test.each([
  [{ epsilon: 0 }, /^epsilon:/],
  [{ tuning: { learnEpsilon: 99 } }, /^learnEpsilon:/],
  [{ max: -1 }, /^max:/],
  [{ max: 1e251 }, /^max: expected a number from 1e-250 to 1e\+250/],
  [{ max: 1e-251 }, /^max:/],
  [{ holdout: 0 }, /^holdout:/],
  [{ maxRange: 0.5 }, /^maxRange:/],
  [{ history: 0 }, /^history:/],
  [{ tuning: 1 }, /^tuning: expected an object/],
  [{ tuning: { estimator: "mle" } }, /^estimator:/],
  [{ tuning: { tail: true } }, /^tail:/],
  [{ tuning: { objective: "best" } }, /^objective:/],
  [{ tuning: { accelerate: true } }, /unknown option "accelerate"/],
  [{ delta: 1 }, /unknown option "delta"/],
])("%o is refused by name", (wrong, message) => {
  expect(() => new PaperAggregator({ ...OPTIONS, ...wrong } as PaperOptions)).toThrow(message);
});
