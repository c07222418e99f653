/** EM's rules, one by one, and EM with jumps against the same written with plain arrays. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { acceleratedEstimate } from "../../src/local/acceleratedEm.js";
import {
  estimate,
  gainOf,
  logLikelihood,
  pauses,
  progress,
  type Steps,
  stopRule,
} from "../../src/local/em.js";
import { continuousMatrix, emUpdate, times, wave } from "../support/squareWave.js";
import { integers } from "../support/numbers.js";

const doubles = (...numbers: number[]) => Float64Array.from(numbers);

describe("when to stop", () => {
  const [a, b] = [doubles(0.5, 0.25, 0.25), doubles(0.25, 0.5, 0.25)]; // |a − b|₁ = ½

  test("a gain below 10⁻³ ends it from the third update on", () => {
    expect(stopRule(2, 0, a, b, 4)).toBeUndefined();
    expect(stopRule(3, 0, a, b, 4)).toBe("likelihood");
    expect(stopRule(3, 0.000999, a, b, 4)).toBe("likelihood");
    expect(stopRule(3, -0.000999, a, b, 4)).toBe("likelihood");
    for (const gain of [1e-3, -1e-3, 1]) expect(stopRule(3, gain, a, b, 4)).toBeUndefined();
  });

  test("a change of at most 1/m ends it, over all bins together", () => {
    expect(stopRule(1, 1, a, b, 2)).toBe("change");
    expect(stopRule(1, 1, a, b, 2.01)).toBeUndefined();
    expect(stopRule(1, 1, doubles(0, 0.5, 0.5), doubles(0, 0.5, 0), 2)).toBe("change");
    expect(stopRule(1, 1, doubles(0, 0.5, 0.5), doubles(0, 0.5, 0), 3)).toBeUndefined();
  });

  test("ten thousand updates end it", () => {
    expect(stopRule(9999, 1, a, b, 4)).toBeUndefined();
    expect(stopRule(10_000, 1, a, b, 4)).toBe("limit");
  });
});

test("a gain is its lower bound where that is enough, and exact where rounding could matter", () => {
  const gain = (scale: number, part: number) => {
    const counts = doubles(1, 2, 3).map((x) => x * scale);
    const before = doubles(0.2, 0.3, 0.5);
    const now = before.map((x, i) => x * (1 + part * (i + 1)));
    const bound = counts.reduce((sum, count, i) => sum + count * (1 - before[i]! / now[i]!), 0);
    const exact = logLikelihood(counts, now) - logLikelihood(counts, before);
    expect(bound).not.toBe(exact);
    const found = gainOf(counts, now, before);
    return { bound, which: found === bound ? "bound" : found === exact ? "exact" : "neither" };
  };
  // Six reports: the limit is 10⁻³. 6·10⁹ reports: rounding may be 0.12.
  expect(gain(1, 1e-2).which).toBe("bound");
  expect(gain(1, 1e-4)).toMatchObject({ which: "bound" });
  expect(gain(1, 5e-5)).toMatchObject({ which: "exact" });
  const many = gain(1e9, 5e-12);
  expect(many.bound).toBeGreaterThan(2e-3);
  expect(many.bound).toBeLessThan(0.12);
  expect(many.which).toBe("exact");
  expect(gain(1e9, 1e-10).which).toBe("bound");
});

describe("the loop", () => {
  afterEach(() => vi.restoreAllMocks());

  /** Steps that only count: row k of all becomes k. */
  const counting = (seen: Float64Array[]): Steps => {
    return (estimates, predicted) => {
      seen.push(estimates.slice(), predicted.slice());
      const n = 2;
      for (let row = 0; row < predicted.length / n; row++) {
        predicted.fill(0.25 + estimates[row * n]! / 1e5, row * n, (row + 1) * n);
        estimates.fill(estimates[row * n]! + 1, (row + 1) * n, (row + 2) * n);
      }
    };
  };

  test("begins uniform, sixteen updates at a time, each batch where the one before ended", async () => {
    const seen: Float64Array[] = [];
    const done = await estimate(counting(seen), doubles(70, 90));
    expect([seen[0]!.length, seen[1]!.length]).toEqual([17 * 2, 16 * 2]);
    expect(seen[0]!.slice(0, 4)).toEqual(doubles(0.5, 0.5, 0, 0));
    expect(seen[2]!.slice(0, 2)).toEqual(doubles(16.5, 16.5));
    expect(done.stopped).toBe("limit");
    expect(done.updates).toBe(10_000);
    expect(done.shares).toEqual(doubles(10_000.5, 10_000.5));
    expect(done.logLikelihood).toBeCloseTo(160 * Math.log(0.25 + 0.100005), 9);
  });

  test("other work gets a turn after 12 ms, with what is known by then", async () => {
    let clock = 0;
    vi.spyOn(performance, "now").mockImplementation(() => clock);
    const told: number[] = [];
    const pause = pauses({ onProgress: ({ updates }) => void told.push(updates) });
    const at = async (time: number) => {
      clock = time;
      await pause(() => progress(doubles(1), time, { shares: doubles(1), predicted: doubles(1) }));
    };
    for (const time of [11.9, 12, 23.9, 24, 30, 36.5]) await at(time);
    expect(told).toEqual([12, 24, 36.5]);
    clock = 100;
    await pause();
    expect(told).toHaveLength(3);
    for (const run of [{ onProgress: 5 }, { signal: {} }])
      expect(() => pauses(run as never)).toThrow(
        /^(onProgress: expected a function|signal: expected an AbortSignal), got /,
      );
  });

  test("progress is told with the number of updates and their likelihood", async () => {
    let clock = 0;
    vi.spyOn(performance, "now").mockImplementation(() => (clock += 20));
    const told: { updates: number; share: number; logLikelihood: number }[] = [];
    const enough = new AbortController();
    const run = estimate(counting([]), doubles(70, 90), {
      signal: enough.signal,
      onProgress({ updates, shares, logLikelihood }) {
        told.push({ updates, share: shares[0]!, logLikelihood });
        if (told.length === 2) enough.abort(new Error("enough"));
      },
    });
    await expect(run).rejects.toThrow("enough");
    expect(told.map(({ updates, share }) => [updates, share])).toEqual([
      [16, 15.5],
      [32, 31.5],
    ]);
    expect(told[0]!.logLikelihood).toBeCloseTo(160 * Math.log(0.25 + 15.5e-5), 9);
  });
});

describe("jumps", () => {
  const N = 16;
  const matrix = continuousMatrix(wave(1), N);

  /** SQUAREM as its authors print it, with the limits of this library. */
  function reference(counts: number[], start: number[]) {
    const total = counts.reduce((sum, x) => sum + x, 0);
    const likelihood = (f: readonly number[]) =>
      times(matrix, f).reduce((sum, p, i) => sum + counts[i]! * Math.log(p), 0);
    let x = start;
    let [limit, jumped, kept] = [4, false, x];
    let keptLikelihood = 0;
    for (let updates = 2; ; updates += 2) {
      const x1 = emUpdate(matrix, counts, x);
      const x2 = emUpdate(matrix, counts, x1);
      if (jumped && likelihood(x) < keptLikelihood) {
        [x, limit, jumped] = [kept, Math.max(1, limit / 2), false];
        continue;
      }
      const change = x1.reduce((sum, share, j) => sum + Math.abs(share - x[j]!), 0);
      const gain = likelihood(x1) - likelihood(x);
      const done = (updates > 2 && Math.abs(gain) < 1e-3) || change <= 1 / total;
      if (done) return { updates, shares: x1, logLikelihood: likelihood(x1) };
      [kept, keptLikelihood] = [x2, likelihood(x1)];
      const r = x1.map((share, j) => share - x[j]!);
      const v = x2.map((share, j) => share - 2 * x1[j]! + x[j]!);
      const norm = (w: number[]) => Math.sqrt(w.reduce((sum, y) => sum + y * y, 0));
      const length = Math.max(1, norm(r) / norm(v));
      jumped = length > 1;
      const a = Math.min(length, limit);
      if (length >= limit) limit = Math.min(16, 4 * limit);
      const raw = x.map((share, j) => Math.max(share + 2 * a * r[j]! + a * a * v[j]!, 0.01 * x2[j]!));
      const sum = raw.reduce((all, share) => all + share, 0);
      x = raw.map((share) => share / sum);
    }
  }

  const steps =
    (counts: number[]): Steps =>
    (estimates, predicted) => {
      for (let at = 0; at < predicted.length; at += N) {
        const f = estimates.subarray(at, at + N);
        predicted.set(times(matrix, f), at);
        estimates.set(emUpdate(matrix, counts, f), at + N);
      }
    };

  test.each([1, 2, 3, 4, 5, 6, 7, 8])("the same estimate after the same updates, %d", async (seed) => {
    const dice = integers(seed, 2 * N, 1000);
    const counts = [...dice.slice(0, N)].map((x) => Math.max(0, (x + 400) * 10 ** (seed % 4)));
    const raw = [...dice.slice(N)].map((x) => (seed % 2 === 0 ? 1 : 1001 + x));
    const sum = raw.reduce((all, x) => all + x, 0);
    const start = raw.map((x) => x / sum);
    const found = await acceleratedEstimate(
      steps(counts),
      Float64Array.from(counts),
      Float64Array.from(start),
    );
    const wanted = reference(counts, start);
    expect(found.updates).toBe(wanted.updates);
    expect(Math.abs(found.logLikelihood / wanted.logLikelihood - 1)).toBeLessThan(1e-10);
    found.shares.forEach((share, j) => expect(share).toBeCloseTo(wanted.shares[j]!, 7));
  });

  test("a short jump that loses likelihood is taken back too", async () => {
    const rows = [
      [0.2, 0.8, 0.5, 0.5, 0.6, 0.4], // r = (0.3, −0.3), v = (−0.2, 0.2): a jump of 1.5
      [0, 0, 0.5, 0.5, 0.5, 0.5],
      [0, 0, 0.6, 0.4, 0.6, 0.4],
    ];
    const predicted = [
      [0.1, 0.1, 0.5, 0.5],
      [0.2, 0.2, 0.9, 0.9], // less than the 0.5 before the jump
      [0.6, 0.6, 0.6, 0.6],
    ];
    const starts: number[][] = [];
    const steps: Steps = (estimates, out) => {
      const call = Math.min(starts.length, 2);
      starts.push([...estimates.slice(0, 2)]);
      estimates.set(rows[call]!.slice(2), 2);
      out.set(predicted[call]!);
    };
    await acceleratedEstimate(steps, doubles(50, 50), doubles(0.2, 0.8));
    const jump = [0, 1].map((j) => {
      const [x, x1, x2] = [0, 1, 2].map((row) => rows[0]![2 * row + j]!);
      return x! + 3 * (x1! - x!) + 2.25 * (x2! - 2 * x1! + x!);
    });
    starts[1]!.forEach((share, j) => expect(share).toBeCloseTo(jump[j]!, 12));
    expect(starts[2]).toEqual([0.6, 0.4]); // where the two updates before it had led
  });
});
