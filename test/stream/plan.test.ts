import { describe, expect, test } from "vitest";
import { plan, privateStream } from "../../src/index.js";
import { skippedLevels } from "../../src/stream/levels.js";

describe("plan", () => {
  const defaults = plan({ epsilon: 0.05, max: 1657 });

  test("the shape of a release at the defaults", () => {
    expect(defaults).toMatchObject({
      skipLevels: 3,
      levels: 2,
      blockLength: 4096,
      forestLength: 2 ** 20,
      holdout: 65536,
      noiseScalePerTheta: 2 / (0.05 * (31 / 32)), // the count that θ follows by has the rest of ε
    });
    expect(defaults.memory.stream).toBeLessThanOrEqual(256 * 1024);
    expect(defaults.memory.index).toBe(24 * 256 * 2);
  });

  test("one block, worked by hand: two levels of variance 2·40², a leaf of sixteen under one top node", () => {
    // A leaf under a top node with b children: variance σ²·(1 − 1/(b(b+1)))… from (XᵀX)⁻¹ = I − 11ᵀ/(b+1).
    const sigma2 = 2 * 40 ** 2;
    const { standardErrorPerTheta } = plan({
      epsilon: 0.05,
      max: 1657,
      tuning: { fanout: 16, skipLevels: 0 },
      maxRange: 256,
    }).errors[0]!;
    // Ranges of one value lie across two leaves of one value: in proportion α, 1−α, averaged over offsets.
    expect(standardErrorPerTheta ** 2).toBeGreaterThan(0.4 * sigma2 * (16 / 17));
    expect(standardErrorPerTheta ** 2).toBeLessThanOrEqual(sigma2 * (16 / 17));
  });

  test("the longest range is the sum of all top trees: b·σ²·b/(b+1)", () => {
    const { length, standardErrorPerTheta } = defaults.errors.at(-1)!;
    expect(length).toBe(2 ** 20);
    expect(standardErrorPerTheta).toBeCloseTo((32 / 31) * Math.sqrt((16 * 2 * 40 ** 2 * 16) / 17), 9);
  });

  test("lists what each θ would cost, in proportion", () => {
    const { thresholds } = defaults;
    expect(thresholds[0]).toMatchObject({ threshold: 1657, noiseScale: (2 * 1657) / (0.05 * (31 / 32)) });
    expect(thresholds[1]!.standardError).toBeCloseTo(thresholds[0]!.standardError / 2, 6);
    expect(plan({ epsilon: 1, max: 100, threshold: 7 }).thresholds.map(({ threshold }) => threshold)).toEqual(
      [7],
    );
  });

  test("agrees with the stream it plans", () => {
    const options = { epsilon: 0.5, max: 100, threshold: 10, maxRange: 4096, unsafeSeed: "plan" };
    const stream = privateStream(options);
    stream.pushMany(new Float64Array(4096).fill(3));
    const { levels, skipLevels, blockLength, noiseScale } = stream.statement();
    const planned = plan(options);
    expect({ levels, skipLevels, blockLength }).toEqual({
      levels: planned.levels,
      skipLevels: planned.skipLevels,
      blockLength: planned.blockLength,
    });
    expect(noiseScale).toBe(planned.noiseScalePerTheta * 10);
    // Discrete noise on a grid of θ/g cells has the variance of the continuous one to 1 part in (scale/g)².
    expect(
      stream.range(0, 4096).standardError / (planned.errors.at(-1)!.standardErrorPerTheta * 10),
    ).toBeCloseTo(1, 4);
  });

  test("takes the options of tops and fails as it does", () => {
    expect(() => plan({ epsilon: 0, max: 1 })).toThrow("epsilon: expected");
  });
});

test('skipLevels "paper" is the s of least cost by Eq. 7', () => {
  let differs = 0;
  for (const epsilon of [0.001, 0.01, 0.03, 0.1, 0.3, 1, 3, 10])
    for (const fanout of [2, 3, 4, 8, 16])
      for (const maxRange of [64, 1000, 2 ** 16, 2 ** 20]) {
        const h = Math.ceil(Math.log(maxRange) / Math.log(fanout) - 1e-9);
        // (b − 1)(h − s) nodes with noise of scale (h − s)/ε, and a prediction that is off by 1/3 for half a block.
        const costs = Array.from({ length: h }, (_, s) => {
          const scale = (h - s) / epsilon;
          return (fanout - 1) * (h - s) * 2 * scale * scale + (fanout ** s / 2 / 3) ** 2;
        });
        const least = costs.indexOf(Math.min(...costs));
        if (least > 0 && least < h - 1) differs++;
        expect(skippedLevels("paper", epsilon, maxRange, fanout)).toBe(least);
      }
  expect(differs).toBeGreaterThan(20); // not all at an end
});
