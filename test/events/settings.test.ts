/** What options of events resolve to, number by number. */
import { describe, expect, test } from "vitest";
import { resolveHistogram } from "../../src/events/histogramOptions.js";
import {
  blockLevels,
  type EventStreamOptions,
  forestOf,
  resolveEventStream,
  resolveTicks,
  shareOf,
  tickParameters,
} from "../../src/events/options.js";
import { exactRational } from "../../src/core/tables/fixedPoint.js";
import { levelCount } from "../../src/stream/levels.js";
import { meanVariance } from "../../src/stream/variance.js";

const usual: EventStreamOptions = { epsilon: 2, every: "1s", max: 1000, origin: 0 };
const resolve = (change: Partial<EventStreamOptions> = {}) => resolveEventStream({ ...usual, ...change });

describe("shares of ε", () => {
  /** The next double. */
  const next = (x: number): number => {
    const bits = new BigInt64Array(new Float64Array([x]).buffer);
    return new Float64Array(BigInt64Array.of(bits[0]! + 1n).buffer)[0]!;
  };
  test.each([1, 0.1, 2.7, 1e-9, 63.9])("of %d: the largest that k times fits, exactly", (epsilon) => {
    const whole = exactRational(epsilon);
    const fits = (share: number, k: number) => {
      const part = exactRational(share);
      return part.numerator * BigInt(k) * whole.denominator <= whole.numerator * part.denominator;
    };
    for (const k of [1, 2, 3, 7, 10, 49, 1000, 65_535]) {
      const share = shareOf(epsilon, k);
      expect([fits(share, k), fits(next(share), k)]).toEqual([true, false]);
    }
  });

  test("one event of k, half of it for a sum and half for a count", () => {
    expect(resolve({ of: "sum" }).columns.map(({ stream }) => stream.epsilon)).toEqual([2]);
    const people = resolve({ of: "mean", perPerson: { events: 4, every: "1d" } });
    expect([people.epsilon, people.eventEpsilon]).toEqual([2, 0.5]);
    expect(people.columns.map(({ counts, stream }) => [counts, stream.epsilon, stream.max])).toEqual([
      [false, 0.25, 1000],
      [true, 0.25, 1],
    ]);
    expect(people.columns[1]!.stream.skipped).toBe(people.columns[0]!.stream.skipped);
    const count = resolve({ of: "count", max: undefined } as never);
    expect(count.columns.map(({ counts, stream }) => [counts, stream.epsilon, stream.resolution])).toEqual([
      [true, 2, 1],
    ]);
    expect(count).toMatchObject({ threshold: 1, choosing: 0, warming: 0 });
  });
});

describe("the hold-out", () => {
  test.each<[Partial<EventStreamOptions>, number, number]>([
    [{}, 3584, 512], // 4096 events, an eighth for the first prediction
    [{ perTick: 3 }, 1366 - 170, 170],
    [{ perTick: 256 }, 14, 2],
    [{ perTick: 1000 }, 14, 2], // at least 16 ticks
    [{ holdout: "1s" }, 1, 0],
    [{ holdout: "7s" }, 7, 0],
    [{ holdout: "8s" }, 7, 1],
    [{ threshold: 5 }, 0, 0],
    [{ threshold: 5, holdout: "9s" }, 0, 9],
  ])("with %j: %d ticks choose θ and %d give the first prediction", (change, choosing, warming) => {
    expect(resolve(change)).toMatchObject({ choosing, warming });
  });

  test("has at least one tick where θ is chosen", () => {
    expect(() => resolve({ holdout: 0 })).toThrow(
      new RangeError("holdout: expected at least one tick to choose θ from, got 0; or give a threshold"),
    );
    for (const name of ["threshold", "holdout"] as const)
      expect(() => resolve({ of: "count", max: undefined, [name]: 0 } as never)).toThrow(
        `${name}: expected none where events are only counted; every event counts 1`,
      );
  });
});

describe("forests over ticks", () => {
  test("what is not given has its default", () => {
    const { stream } = resolve().columns[0]!;
    expect(stream).toMatchObject({ fanout: 16, maxRange: 2 ** 20, resolution: 1, max: 1000 });
    expect(resolve({ every: "2s", maxRange: "1h" }).columns[0]!.stream.maxRange).toBe(1800);
    expect(resolveTicks({ ...usual }).perTick).toBe(1);
    expect(resolve({ tuning: { fanout: 2 } }).columns[0]!.stream.fanout).toBe(2);
    expect(resolve({ tuning: { fanout: 64 } }).columns[0]!.stream.fanout).toBe(64);
    for (const fanout of [1, 65])
      expect(() => resolve({ tuning: { fanout } })).toThrow(
        `tuning.fanout: expected a whole number from 2 to 64, got ${fanout}`,
      );
  });

  test("at most 2^30 steps of the resolution", () => {
    const tuned = (max: number) => resolve({ max, threshold: 1, tuning: { resolution: 1 } });
    expect(tuned(2 ** 30).columns[0]!.stream.max).toBe(2 ** 30);
    expect(() => tuned(2 ** 31)).toThrow(
      "max: expected at most 2^30 steps of the resolution 1, got 2147483648; take a coarser tuning.resolution",
    );
    const short = { threshold: 1, maxRange: "1000s", tuning: { resolution: 0.5 } };
    expect(() => resolve({ max: 2 ** 31, ...short })).toThrow("the resolution 0.5, got 4294967296");
  });

  test("θ that is given is the largest there is", () => {
    expect(resolve({ threshold: 70 }).columns[0]!.stream.threshold).toBe(70);
    expect(resolve().columns[0]!.stream.threshold).toBe(1000);
  });

  test("a period is counted in ticks; other smoothers are left alone", () => {
    const smoother = (choice: unknown) =>
      forestOf(
        { ...usual, every: "2s", smoother: choice } as never,
        resolveTicks({ ...usual, every: "2s" }),
        1,
        1,
        1,
      ).smoother;
    expect(smoother({ period: "1m" })).toEqual({ period: 30 });
    expect(smoother("mean")).toBe("mean");
    expect(smoother({ moving: 3 })).toEqual({ moving: 3 });
    expect(() => smoother({ period: "61s" })).toThrow(
      "smoother.period: expected a whole number of ticks of 2s, got 61s",
    );
    expect(smoother(null)).toEqual(smoother(undefined));
  });

  test("the block of least expected error, by trying all", () => {
    for (const [epsilon, maxRange, fanout, perTick, every, finest] of [
      [1, 2 ** 20, 16, 1, 1000, undefined],
      [0.01, 2 ** 20, 16, 1, 1000, undefined],
      [0.01, 2 ** 20, 4, 0.01, 1000, undefined],
      [0.0001, 2 ** 20, 4, 0.01, 1000, undefined],
      [0.0001, 2 ** 20, 4, 0.01, 1000, 64_000],
      [0.0001, 2 ** 20, 4, 0.01, 1000, 63_999],
      [0.0001, 4 ** 3, 4, 1e-6, 500, undefined],
      [0.01, 1000, 2, 5, 1000, 1000],
      [0.003, 3000, 2, 2, 1000, undefined],
    ] as const) {
      const levels = levelCount(maxRange, fanout);
      const costs = Array.from({ length: Math.max(1, levels - 1) }, (_, s) => {
        const drift = (fanout ** s * perTick) / 64;
        return meanVariance(maxRange, fanout, levels - s, s) / (epsilon * epsilon) + drift * drift;
      }).filter((_, s) => s === 0 || finest === undefined || fanout ** s * every <= finest);
      const best = costs.indexOf(Math.min(...costs));
      expect(blockLevels(epsilon, maxRange, fanout, perTick, finest, every)).toBe(best);
    }
    expect(blockLevels(0.0001, 4 ** 9, 4, 1e-6, undefined, 1000)).toBe(levelCount(4 ** 9, 4) - 2);
  });

  test("a snapshot is bound to all of it", () => {
    const settings = resolve({ lateness: "2s", skew: "5s", perTick: 3 });
    const { stream } = settings.columns[0]!;
    expect(tickParameters(settings, stream, { of: "sum", choosing: 7 })).toMatchObject({
      ...{ every: "1000", lateness: "2000", skew: "5000", budget: "2", perTick: "3" },
      ...{ perPerson: "none", of: "sum", choosing: "7" },
    });
    const people = resolve({ perPerson: { events: 3, every: "1m" } });
    expect(tickParameters(people, stream, {})["perPerson"]).toBe("3 every 60000");
  });

  test("a histogram: an eighth of the events in a bucket, twice ε with groups", () => {
    const options = { epsilon: 0.5, every: "1s", edges: [1, 2, 4], origin: 0, perTick: 40 } as const;
    const plain = resolveHistogram(options);
    expect(plain).toMatchObject({
      group: 1,
      perEvent: 1,
      fraction: 256,
      noiseScale: plain.stream.levels / 0.5,
    });
    expect(plain.stream.skipped).toBe(blockLevels(0.5, 2 ** 20, 16, 5, undefined, 1000));
    const many = resolveHistogram({
      ...options,
      edges: { min: 1, max: 9, buckets: 200 },
      tuning: { fanout: 4 },
    });
    expect(many).toMatchObject({ perEvent: 2, noiseScale: (2 * many.stream.levels) / 0.5 });
    expect(many.group).toBeGreaterThan(1);
    expect(many.stream.skipped).toBe(blockLevels(0.25, 2 ** 20, 4, 5, undefined, 1000));
    expect(many.stream.epsilon).toBe(0.5);
    const tuned = resolveHistogram({ ...options, tuning: { fanout: 4, skipLevels: 2 } });
    expect([tuned.stream.skipped, tuned.stream.fanout, tuned.stream.resolution]).toEqual([2, 4, 1]);
  });
});
