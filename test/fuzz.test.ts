import { describe, expect, test } from "vitest";
import { tops } from "../src/index.js";
import { fuzz } from "../scripts/fuzz.js";
import { outcome, same } from "../scripts/fuzz/compare.js";

test("300 000 random operations give the same bits on both cores", async () => {
  // npm run fuzz makes more of them, from a fresh seed.
  expect(await fuzz({ operations: 300_000, seed: 20261116 })).toBeGreaterThanOrEqual(300_000);
});

describe("the comparison sees", () => {
  test("one bit of a double, and the sign of a zero", () => {
    expect(same(1, 1 + Number.EPSILON)).toBe(false);
    expect(same(Float64Array.of(0), Float64Array.of(-0))).toBe(false);
    expect(same({ sum: 0 }, { sum: -0 })).toBe(false);
    expect(same({ sum: [1, 2] }, { sum: [1, 2] })).toBe(true);
  });

  test("another error, and another seed", () => {
    expect(outcome(() => tops({ epsilon: 0, max: 1 }))).not.toBe(outcome(() => tops({ epsilon: 1, max: 0 })));
    const publish = (unsafeSeed: string) =>
      tops({ epsilon: 1, max: 10, threshold: 10, maxRange: 16, unsafeSeed }).pushMany([1, 2, 3]);
    expect(same(publish("a"), publish("a"))).toBe(true);
    expect(same(publish("a"), publish("b"))).toBe(false);
  });
});
