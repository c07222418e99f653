import { describe, expect, test } from "vitest";
import { privateStream, restore, type StreamOptions } from "../../../src/index.js";
import { chooseCore } from "../../../src/core/choose.js";
import { Purpose, subStream } from "../../../src/core/random.js";
import { makeScale } from "../../../src/core/tables/scale.js";
import { unsafeKey } from "../../../src/core/unsafeKey.js";
import { clippingIn, partLikeHeldOut, partOfTree } from "../../../src/stream/answer/clipping.js";

describe("what clamping hides, worked by hand", () => {
  const held = { count: 30, values: 100 };

  test("is nothing where there is no part", () => {
    expect(clippingIn([], 1000, 0.95)).toEqual({ sum: 0, low: 0, high: 0 });
  });

  test("is a share of θ for each counted value, in proportion", () => {
    // 30 of 100 held-out values were above θ = 10: 300 of 1000, of which each hides 3 of at most 10.
    const { sum, low, high } = clippingIn([partLikeHeldOut(10, 1000, held, 1e6)], 1e9, 0.95);
    expect(sum).toBeCloseTo(0.3 * 10 * 300, 9);
    expect(low).toBe(0);
    // No noise is left at that ε: counting 30 of a sample has the variance 31.
    expect(high).toBeCloseTo(10 * 10 * (30 + 1.96 * Math.sqrt(31)), 1);
  });

  test("of a tree is at least 2^¼ − 1 of θ for each counted value", () => {
    const tree = partOfTree(8, 500, { count: 5000, values: 1000 }, 10);
    const reach = Math.log(20) * 10; // one Laplace variable of scale 10
    const { sum, low, high } = clippingIn([tree], 1e9, 0.95);
    expect(sum).toBeCloseTo(0.6 * 8 * 2500, 9);
    expect(low / (8 * 0.5 * (2 ** 0.25 - 1)) / (5000 - reach)).toBeCloseTo(1, 4);
    expect(high / (8 * 0.5 * Math.SQRT2) / (5000 + reach)).toBeCloseTo(1, 4);
  });

  test("is never negative, and never more than values can have above θ", () => {
    expect(clippingIn([partLikeHeldOut(10, 1000, { count: -500, values: 100 }, 1)], 1e9, 0.95)).toEqual({
      ...{ sum: 0, low: 0, high: 0 },
    });
    expect(clippingIn([partLikeHeldOut(10, 1000, held, 0.001)], 11, 0.95).high).toBe(1000);
  });
});

describe("the interval", () => {
  /** Where 200 values of a tree were above the next candidate, and lost as little as they can, or as much as a tail with a variance takes. */
  const missed = (drawn: number): number => {
    const noise = new Float64Array(2000);
    chooseCore("js").laplace(
      subStream(unsafeKey("hidden"), Purpose.following, 0, 0),
      makeScale(BigInt(drawn), 1n),
      noise,
    );
    return noise.filter((error) => {
      const tree = partOfTree(10, 1000, { count: 200 + error, values: 1000 }, 20);
      const { low, high } = clippingIn([tree], 1e9, 0.95);
      return high < 200 * 10 * Math.SQRT2 || low > 200 * 10 * (2 ** 0.25 - 1);
    }).length;
  };

  test("misses in 5 % of noisy counts", () => {
    // 2000 draws, 100 misses expected, standard deviation 9.7: 5.3 of them, once in 10⁷.
    expect(Math.abs(missed(20) - 100)).toBeLessThan(52);
  });

  test("for noise that is too small would be seen", () => {
    expect(missed(30) - 100).toBeGreaterThan(52);
  });
});

/** Trees of 4096 values; every 20th value is 3θ from the third tree on, and θ is 64 at least. */
const OPTIONS: StreamOptions = {
  ...{ epsilon: 1, max: 4096, holdout: 4096, maxRange: 65_536, history: Infinity },
  tuning: { resolution: 1 },
};
const VALUES = Float64Array.from({ length: 4096 * 9 + 1000 }, (_, i) =>
  i > 4096 * 3 && i % 20 === 7 ? 3000 : i % 61,
);

describe("a stream", () => {
  const made = (options: StreamOptions) => {
    const stream = privateStream(options);
    stream.pushMany(VALUES);
    return stream;
  };

  test.each([true, false])("says what is hidden beside its answers: following %s", (follow) => {
    const tuning = { resolution: 1, follow };
    const stream = made({ ...OPTIONS, unsafeSeed: "beside", tuning });
    for (const [from, to] of [
      [0, 8192],
      [0, 4096],
      [100, 8000],
    ] as const) {
      const { low, high, hidden } = stream.range(from, to, { confidence: 0.999_999 });
      const exact = VALUES.subarray(4096 + from, 4096 + to).reduce((sum, x) => sum + x, 0);
      expect(hidden!.low).toBeLessThanOrEqual(hidden!.sum);
      expect(hidden!.sum).toBeLessThanOrEqual(hidden!.high);
      expect(low + hidden!.low).toBeLessThan(exact);
      expect(high + hidden!.high).toBeGreaterThan(exact);
    }
  });

  test("sees from its trees' counts that values have grown", () => {
    const stream = made({ ...OPTIONS, unsafeSeed: "grown", epsilon: 8 });
    const { thresholds } = stream.statement();
    const grown = stream.range(4096 * 2, 4096 * 3).hidden!; // values grow here, and θ is raised behind this tree
    expect(thresholds[0]!.threshold).toBeLessThan(100);
    expect(grown.low).toBeGreaterThan(stream.range(0, 4096).hidden!.high);
    // 205 values of 3000 each.
    expect(grown.low).toBeLessThan(205 * 3000);
  });

  test("has the same to say after a snapshot, and nothing where θ is public", async () => {
    const options = { ...OPTIONS, unsafeSeed: "again" };
    const stream = made(options);
    const key = new Uint8Array(32).fill(7);
    const again = await restore(await stream.snapshot(key), key, options);
    for (const [from, to] of [
      [0, 8192 * 4],
      [5000, 33_000],
    ] as const)
      expect(again.range(from, to)).toEqual(stream.range(from, to));
    expect(JSON.parse(JSON.stringify(stream.range(0, 9000)))).toEqual(stream.range(0, 9000));
    expect(made({ epsilon: 1, max: 4096, threshold: 64 }).range(0, 10)).not.toHaveProperty("hidden");
    expect(made({ ...options, variant: "paper" }).range(0, 10)).not.toHaveProperty("hidden");
  });

  test("forgets the counts of trees that are no longer kept", async () => {
    const options = { ...OPTIONS, unsafeSeed: "old", maxRange: 4096, history: 8192, epsilon: 8 };
    const short = privateStream(options);
    for (let i = 0; i < 40; i++) short.pushMany(VALUES.subarray(0, 4096));
    const lengths = [];
    for (let i = 0; i < 3; i++) {
      short.pushMany(VALUES.subarray(0, 4096));
      lengths.push((await short.snapshot(new Uint8Array(32))).length);
    }
    expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThan(64);
  });
});
