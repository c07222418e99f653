/**
 * Failing calls on an aggregator of reports in a store (openEventsFaults.test.ts has streams of events). If reports count twice,
 * answers are wrong; if θ changes after it was told, devices report to two grids. What must be impossible: to tell that a
 * failed call was ever made.
 */
import { describe } from "vitest";
import { aggregator, type DurablePaperAggregator, openAggregator } from "../../src/index.js";
import { key } from "../durable/support.js";
import { everyFaultOf } from "../support/keptFaults.js";
import { reportsOf, skewed } from "../support/localValues.js";

const LOCAL = { variant: "paper", epsilon: 1, max: 100, holdout: 60, maxRange: 64 } as const;
const learn = reportsOf(skewed(60, "faults"), "learn", { max: LOCAL.max });
const tallied = aggregator(LOCAL);
tallied.learn(learn.subarray(0, 8 * 20));
const theta = await (async () => {
  const one = aggregator(LOCAL);
  one.learn(learn);
  return one.threshold();
})();
const release = reportsOf(skewed(40, "more"), "release", { max: LOCAL.max, threshold: theta });

describe("an aggregator", () =>
  everyFaultOf<DurablePaperAggregator>({
    open: (store) => openAggregator({ ...LOCAL, name: "a", store, key }),
    calls: [
      (kept) => kept.merge(tallied.tally()),
      (kept) => kept.learn(learn.subarray(8 * 20)),
      (kept) => kept.threshold(),
      (kept) => kept.release(release.subarray(0, 8 * 30)),
      (kept) => kept.release(release.subarray(8 * 30)),
    ],
    said: async (kept) => [
      ...[kept.learned, kept.released, kept.rejected, await kept.statement()],
      ...[await kept.range(5, 35), await kept.total(), [...(await kept.tally())]],
    ],
  }));
