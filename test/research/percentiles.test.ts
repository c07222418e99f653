import { describe, expect, test } from "vitest";
import {
  rankOf,
  smoothing,
  smoothPercentile,
  smoothThreshold,
  truePercentile,
} from "../../research/systems/percentiles.js";
import { chooseCore } from "../../src/core/choose.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { longTailedStream } from "../support/streams.js";
import vectors from "../vectors/smooth_sensitivity.json" with { type: "json" };

const core = chooseCore();

describe("the golden cases", () => {
  test.each(vectors.cases)("p = $p, ε = $epsilon", (known) => {
    const { epsilon, delta, smooth_sensitivity: sensitivity, percentile_value: value } = known;
    expect(rankOf(known.p, vectors.m)).toBe(known.rank_index0 + 1);
    expect(vectors.sorted_data[known.rank_index0]).toBe(value);
    expect(smoothing({ epsilon, delta, shifted: false })).toBeCloseTo(known.b, 15);
    const close = (got: number, want: number) =>
      expect(Math.abs(got - want)).toBeLessThanOrEqual(1e-12 * want);
    for (const { z, theta } of known.theta_sp_for_z)
      close(smoothThreshold({ epsilon, delta, shifted: false }, value, sensitivity, z), theta);
    for (const { z, theta } of known.theta_spak_for_z)
      close(smoothThreshold({ epsilon, delta, shifted: true }, value, sensitivity, z), theta);
  });
});

test("the true percentile is the value of its rank", () => {
  const chooser = truePercentile(1000, 0.95);
  for (let i = 0; i < 1000; i++) chooser.add((i * 7919) % 1000);
  expect(chooser.choose()).toBe(950);
});

describe("draws", () => {
  const m = 2000;
  const values = longTailedStream(m, 100, "percentiles");
  const draw = (run: number, shifted: boolean): number => {
    const key = unsafeKey(`draw ${run}`);
    const chooser = smoothPercentile(core, key, m, 100, 0.995, { epsilon: 0.5, delta: 1e-8, shifted });
    values.forEach((value) => chooser.add(Math.min(100, value)));
    return chooser.choose();
  };
  const exact = truePercentile(m, 0.995);
  values.forEach((value) => exact.add(Math.min(100, value)));
  const percentile = exact.choose();

  test("S-P is above the percentile in half of them, S-PAK in all but 0.6 %", () => {
    // 400 draws: S-P within 100 of 200 (ten standard deviations), S-PAK misses at most 20 (mean 2.4; P < 10⁻¹²). Either in
    // place of the other would be caught.
    const runs = Array.from({ length: 400 }, (_, run) => run);
    const above = (shifted: boolean) => runs.filter((run) => draw(run, shifted) >= percentile).length;
    expect(Math.abs(above(false) - 200)).toBeLessThan(100);
    expect(above(true)).toBeGreaterThan(380);
  });

  test("the same key gives the same θ, another key another", () => {
    expect(draw(1, true)).toBe(draw(1, true));
    expect(draw(1, true)).not.toBe(draw(2, true));
  });
});

test("a δ that S-PAK cannot work with is refused at once", () => {
  expect(() =>
    smoothPercentile(core, unsafeKey("δ"), 10, 100, 0.9, { epsilon: 1, delta: 0.1, shifted: true }),
  ).toThrow("delta: S-PAK needs");
});
