/** The naive opponent of the bench solves the same problem as the kernel: a dense least-squares solve of a day. */
import { expect, test } from "vitest";
import { denseDay } from "../../bench/day.bench.js";
import { makeDayConsistent } from "../../src/core/js/day.js";
import { HOUR } from "../../src/events/days/calendar.js";
import { DayPeriods } from "../../src/events/days/dayPeriods.js";

test.each([
  [[HOUR, 24 * HOUR], 24],
  [[HOUR / 4, HOUR, 24 * HOUR], 23],
  [[HOUR / 2, HOUR, 6 * HOUR, 24 * HOUR], 25],
])("levels of %j in a day of %d hours", (levels, hours) => {
  const { shape } = new DayPeriods({ start: 0, end: hours * HOUR }, levels);
  const { sizes, fanouts } = shape;
  const leaves = sizes[0]!;
  const nodes = Float64Array.from({ length: leaves + fanouts.length }, (_, i) => ((i * 7919) % 41) - 20);
  const corrections = makeDayConsistent(nodes, shape);
  const solved = denseDay(shape, 1, nodes);
  let leaf = 0;
  corrections.forEach((correction, family) => {
    for (const end = leaf + fanouts[family]!; leaf < end; leaf++)
      expect(nodes[leaf]! + correction).toBeCloseTo(solved[leaf]!, 9);
  });
  expect(leaf).toBe(leaves);
});
