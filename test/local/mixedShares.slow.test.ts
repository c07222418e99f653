/** Shares of values over days with several θ: bounds hold, also where the share is near 1 and every day's estimate is rough. */
import { expect, test } from "vitest";
import type { ShareBound } from "../../src/local/sharesBelow.js";
import { SharesBelow } from "../../src/local/sharesBelow.js";
import { MixedShares, type SharedGroup } from "../../src/local/mixedShares.js";
import { Draws, mostMisses } from "../support/dayReports.js";

const [RUNS, REPORTS, MAX] = [100, 100, 800];
const THETAS = [100, 200, 300, 400, 500, 600, 700, 800];
/** Nine of ten are 0; the others lie above all that is asked for. */
const values = Float64Array.from({ length: REPORTS }, (_, i) => (i % 10 === 0 ? MAX : 0));
const [X, TRUTH] = [50, 0.9];

const draws = new Draws(0.5, "mixed shares");
/** Shares of reports that nothing of a day has a say in: those of another day. */
const expected = draws.tally(
  Float64Array.from({ length: 20_000 }, (_, i) => values[i % REPORTS]!),
  MAX,
);
const predicted = expected.counts.map((count) => count / expected.reports);

const days = (): SharedGroup[] => THETAS.map((theta) => ({ ...draws.tally(values, theta), predicted }));

/** A bound on the mixed share from estimates and bounds that are cut to [0, 1] day by day, which the library must not do. */
function cutMix(
  groups: readonly SharedGroup[],
  bound: (shares: SharesBelow, cell: number) => ShareBound,
): number {
  let [sum, squares, sign] = [0, 0, 1];
  for (const group of groups) {
    const own = new SharesBelow({ mechanism: draws.mechanism, ...group }, 0.95);
    const raw = bound(own, Math.ceil((X / group.theta) * (draws.mechanism.top + 1)));
    const [estimate, most] = [raw.estimate, raw.bound].map((x) => Math.min(1, Math.max(0, x)));
    sum += estimate! / groups.length;
    squares += ((most! - estimate!) / groups.length) ** 2;
    if (most !== estimate) sign = Math.sign(most! - estimate!);
  }
  return sum + sign * Math.sqrt(squares);
}

test("a share of nine tenths lies between its bounds; cut day by day it would not", () => {
  let [missed, cut] = [0, 0];
  for (let run = 0; run < RUNS; run++) {
    const groups = days();
    const mixed = new MixedShares(groups, draws.mechanism, MAX, 0.95);
    if (mixed.upper(X) < TRUTH || mixed.lower(X) > TRUTH) missed++;
    if (cutMix(groups, (shares, cell) => shares.above(cell)) < TRUTH) cut++;
    expect(mixed.upper(X)).toBeLessThanOrEqual(1);
  }
  expect(missed).toBeLessThanOrEqual(mostMisses(RUNS));
  expect(cut).toBeGreaterThan(mostMisses(RUNS));
});
