import { expect, test } from "vitest";
import { BINS } from "../../src/local/mechanisms.js";
import { startFrom } from "../../src/local/estimate.js";

test("a start of EM is a distribution without zeros, whatever the sum of what came", () => {
  for (const scale of [1e-9, 1, 1e9]) {
    const start = startFrom({ shares: Float64Array.from({ length: BINS }, (_, i) => (i < 3 ? scale : 0)) });
    expect(start.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
    expect(start[0]).toBeCloseTo(0.999 / 3 + 0.001 / BINS, 12);
    expect(start[BINS - 1]).toBeCloseTo(0.001 / BINS, 15);
  }
});
