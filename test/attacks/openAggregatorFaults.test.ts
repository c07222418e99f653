/**
 * The attack on streams of events (openEventsFaults.test.ts), on an aggregator of days. If reports count twice, answers are
 * wrong; if θ changes after it was told, devices report to two grids. What must be impossible: to tell that a failed call was
 * ever made.
 */
import { describe } from "vitest";
import { aggregator, type DurableAggregator, openAggregator, reporter } from "../../src/index.js";
import { key } from "../durable/support.js";
import { everyFaultOf } from "../support/keptFaults.js";
import { skewed } from "../support/localValues.js";

const DAY = 86_400_000;
const LOCAL = { epsilon: 2, max: 100, clock: () => 1.5 * DAY };
const reports = reporter({ epsilon: 2, max: 100, unsafeSeed: "faults" }).reportMany(skewed(60, "faults"));
const tallied = aggregator(LOCAL);
tallied.add(reports.subarray(0, 8 * 20), DAY / 2);

describe("an aggregator of days", () =>
  everyFaultOf<DurableAggregator>({
    open: (store) => openAggregator({ ...LOCAL, name: "a", store, key }),
    calls: [
      (kept) => kept.merge(tallied.tally()),
      (kept) => kept.add(reports.subarray(8 * 20, 8 * 50), DAY / 2),
      (kept) => kept.terms(),
      (kept) => kept.add(reports.subarray(8 * 50)),
    ],
    said: async (kept) => [
      ...[kept.reports, kept.rejected, await kept.statement()],
      ...[await kept.between(0, 2 * DAY), [...(await kept.tally())]],
    ],
  }));
