import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { estimate, gainOf, logLikelihood, type Steps } from "../../src/local/em.js";
import { continuousMatrix, emUpdate, smoothed, times, wave } from "../support/squareWave.js";
import vector16 from "../vectors/sw_em_16bins.json" with { type: "json" };
import vector64 from "../vectors/sw_em_64bins.json" with { type: "json" };
import matrices from "../vectors/sw_transform_16bins_other_eps.json" with { type: "json" };

const relative = (have: ArrayLike<number>, want: ArrayLike<number>) =>
  Math.max(...Array.from(want, (value, i) => Math.abs(have[i]! - value) / Math.max(value, 1e-300)));

/** The shipped loop runs on any steps: here the dense continuous matrix of the vectors. */
function denseSteps(matrix: number[][], counts: number[], update = (f: number[]) => f): Steps {
  const n = counts.length;
  return (estimates, predicted) => {
    for (let at = 0; at < predicted.length; at += n) {
      const f = estimates.subarray(at, at + n);
      predicted.set(times(matrix, f), at);
      estimates.set(update(emUpdate(matrix, counts, f)), at + n);
    }
  };
}

const identityLast = (f: number[]) => smoothed(f, "identity");

describe.each([vector16, vector64])("$bins bins, ε = $epsilon", (vector) => {
  const { bins, epsilon, report_histogram: counts } = vector;
  const matrix = continuousMatrix(wave(epsilon), bins);

  test("transition matrix", () => {
    vector.transform_rows.forEach((row, i) => expect(relative(matrix[i]!, row)).toBeLessThan(1e-11));
  });

  test("EM and EMS after 1, 10 and 200 updates", () => {
    for (const [update, name] of [
      [(f: number[]) => f, "em"],
      [identityLast, "ems"],
    ] as const) {
      let f: number[] = new Array<number>(bins).fill(1 / bins);
      for (let k = 1; k <= 200; k++) {
        f = update(emUpdate(matrix, counts, f));
        if (k !== 1 && k !== 10 && k !== 200) continue;
        expect(relative(f, vector[`${name}_after_${k}`])).toBeLessThan(1e-9);
        const reached = logLikelihood(Float64Array.from(counts), Float64Array.from(times(matrix, f)));
        expect(reached).toBeCloseTo(vector[`${name}_loglik_after_${k}`], 6);
      }
    }
  });

  test("the gain is never overstated, and exact wherever it could end anything", () => {
    const observed = Float64Array.from(counts);
    for (const update of [(f: number[]) => f, identityLast]) {
      let f: number[] = new Array<number>(bins).fill(1 / bins);
      let bounded = 0;
      for (let k = 1; k <= 400; k++) {
        const next = update(emUpdate(matrix, counts, f));
        const [before, now] = [f, next].map((g) => Float64Array.from(times(matrix, g))) as [
          Float64Array,
          Float64Array,
        ];
        const gain = logLikelihood(observed, now) - logLikelihood(observed, before);
        const found = gainOf(observed, now, before);
        expect(found).toBeLessThanOrEqual(gain);
        if (found < gain) {
          bounded++;
          expect(found).toBeGreaterThan(1e-3);
        }
        f = next;
      }
      expect(bounded).toBeGreaterThan(10);
    }
  });

  test("the stopping rules stop at the same update, for the same reason", async () => {
    const rules = { loglik: "likelihood", l1: "change" } as Record<string, string>;
    const em = await estimate(denseSteps(matrix, counts), Float64Array.from(counts));
    expect(em.updates).toBe(vector.em_converged_updates);
    expect(em.stopped).toBe(rules[vector.em_converged_stop_rule]);
    expect(em.logLikelihood).toBeCloseTo(vector.em_converged_loglik, 6);
    expect(relative(em.shares, vector.em_converged)).toBeLessThan(1e-9);
    const ems = await estimate(denseSteps(matrix, counts, identityLast), Float64Array.from(counts));
    expect(ems.updates).toBe(vector.ems_converged_updates);
    expect(ems.stopped).toBe(rules[vector.ems_converged_stop_rule]);
    expect(relative(ems.shares, vector.ems_converged)).toBeLessThan(1e-9);
  });

  test("the symmetric border of EMS differs from the vectors' in the last bins alone", () => {
    let [ours, theirs]: number[][] = [
      new Array<number>(bins).fill(1 / bins),
      new Array<number>(bins).fill(1 / bins),
    ];
    [ours, theirs] = [
      smoothed(emUpdate(matrix, counts, ours!)),
      identityLast(emUpdate(matrix, counts, theirs!)),
    ];
    const [a, b] = [ours, theirs].map((f) => f.slice(0, -1).map((share) => share / f[0]!));
    expect(relative(a!, b!)).toBeLessThan(1e-12);
    expect(ours.at(-1)! / ours[0]!).not.toBeCloseTo(theirs.at(-1)! / theirs[0]!, 6);
  });
});

test.each(Object.values(matrices))(
  "transition matrix, 16 bins, ε = $epsilon",
  ({ epsilon, transform_rows }) => {
    const matrix = continuousMatrix(wave(epsilon), 16);
    transform_rows.forEach((row, i) => expect(relative(matrix[i]!, row)).toBeLessThan(1e-10));
  },
);

describe("watching", () => {
  const counts = Float64Array.from(vector64.report_histogram);
  const dense = denseSteps(continuousMatrix(wave(1), 64), vector64.report_histogram);
  let clock = 0;
  /** Sixteen updates that take longer than other work should wait, by a clock that nothing else moves. */
  const slow: Steps = (estimates, predicted) => {
    clock += 15;
    dense(estimates, predicted);
  };
  beforeEach(() => void vi.spyOn(performance, "now").mockImplementation(() => clock));
  afterEach(() => vi.restoreAllMocks());

  test("progress is told, and rises", async () => {
    const seen: number[] = [];
    const done = await estimate(slow, counts, {
      onProgress: ({ logLikelihood, shares }) => {
        seen.push(logLikelihood);
        expect(shares.reduce((a, b) => a + b)).toBeCloseTo(1, 12);
      },
    });
    expect(seen.length).toBe(Math.floor(done.updates / 16));
    expect(seen.length).toBeGreaterThan(2);
    for (let i = 1; i < seen.length; i++) expect(seen[i]!).toBeGreaterThan(seen[i - 1]!);
    expect(done.logLikelihood).toBeGreaterThan(seen.at(-1)!);
  });

  test("steps that take no time are not interrupted", async () => {
    const onProgress = vi.fn();
    await estimate(dense, counts, { onProgress });
    expect(onProgress).not.toHaveBeenCalled();
  });

  test("an aborted run rejects with the reason, before the first step or later", async () => {
    await expect(estimate(slow, counts, { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow(
      "enough",
    );
    const later = new AbortController();
    const run = estimate(slow, counts, {
      signal: later.signal,
      onProgress: () => later.abort(new Error("later")),
    });
    await expect(run).rejects.toThrow("later");
  });
});
