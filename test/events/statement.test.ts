/** What a release of events says about itself, word by word. */
import { expect, test } from "vitest";
import { privateHistogram } from "../../src/events/open.js";
import { resolveEventStream } from "../../src/events/options.js";
import { explainEvents, streamStatement } from "../../src/events/statement.js";
import { counter, exact, summed, TEN } from "../support/eventStreams.js";

const LEAKS = "  - against anyone who can read the memory of this process or its snapshots";

test("a counter", () => {
  expect(counter({ lateness: "2s" }).statement()).toMatchObject({
    ...{ system: "ToPS over ticks, count", unit: "one event", epsilon: 64, epsilonPerEvent: 64, delta: 0 },
    ...{ private: false, every: "1s", origin: "2026-03-01T10:00:00.000Z", lateness: "2s", perPerson: null },
    ...{ threshold: null, holdoutTicks: 0, fanout: 4, levels: 2, block: "1s", published: 0 },
    noiseScales: { counts: 2 / 64 },
  });
  expect(counter().explain()).toBe(
    [
      "This stream is NOT PRIVATE (it was made from a seed).",
      "A tick is 1s, counted from 2026-03-01T10:00:00.000Z; it takes events until 0s after its end.",
      "There is a new estimate every 1s; 2 levels of fan-out 4 carry noise.",
      "Noise on every node: discrete Laplace, sampled exactly; counts: scale 0.03125.",
      "Every event is in one tick, ticks of the hold-out and published ticks are disjoint, and so are forests: ε in all.",
      `Randomness: ${counter().statement().randomness}. Core: ${counter().statement().core}.`,
      "Not protected:",
      "  - a person with many events: k events of one person are protected at kε; perPerson bounds k",
      "  - an event that is moved or replaced: a removal and an addition, so 2ε",
      LEAKS,
    ].join("\n"),
  );
});

test("a mean, before and after θ is chosen, for people", () => {
  const settings = resolveEventStream({
    ...{ epsilon: 3, every: "1m", origin: TEN, max: 1000, of: "mean", holdout: "16m" },
    ...{ maxRange: "16m", tuning: { fanout: 4, skipLevels: 0 }, perPerson: { events: 2, every: "1h" } },
  });
  const before = streamStatement(settings, NaN, "js", 0);
  expect(before).toMatchObject({
    ...{ threshold: null, holdoutTicks: 16, noiseScales: { sums: null, counts: 2 / 0.75 }, private: true },
    ...{ definition: "person-level differential privacy, per hour", epsilonPerEvent: 1.5, block: "1m" },
    ...{ perPerson: { events: 2, every: "1h" }, core: "js" },
    neighbours: "streams that differ in all events of one person within one hour, added or removed",
  });
  const after = streamStatement(settings, 120, "js", 5);
  expect(after).toMatchObject({ threshold: 120, noiseScales: { sums: (2 * 120) / 0.75 }, published: 5 });
  const lines = (statement: typeof before) => explainEvents(statement).split("\n");
  expect(lines(after)).toEqual([
    "This stream is published under person-level differential privacy, per hour with ε = 3.",
    "Protected: one person, per hour. Adding or removing it changes the probability of any output by at most a factor e^ε = 20.0855. How many events there were, and when within a tick, is protected too.",
    "The first 2 events of each person count in a period of 1h; later ones are dropped. Each event gets ε = 1.5.",
    "A tick is 1m, counted from 2026-03-01T10:00:00.000Z; it takes events until 0s after its end.",
    "The first 16 ticks are held out and never published.",
    "Values above θ = 120 count as θ.",
    "There is a new estimate every 1m; 2 levels of fan-out 4 carry noise.",
    "Noise on every node: discrete Laplace, sampled exactly; sums: scale 320; counts: scale 2.66667.",
    "Sums and counts are two releases of the same events, at half of ε each; hold-out and published ticks are disjoint: ε in all.",
    `Randomness: ${after.randomness}. Core: js.`,
    "Not protected:",
    "  - a person over several periods: n periods (one hour each) are protected at nε",
    LEAKS,
  ]);
  expect(lines(before).find((line) => line.startsWith("Noise"))).toBe(
    "Noise on every node: discrete Laplace, sampled exactly; sums: θ is not chosen yet; counts: scale 2.66667.",
  );
  expect(lines(before).some((line) => line.startsWith("Values above"))).toBe(false);
  expect(after.randomness).not.toBe(summed().statement().randomness);
});

test("histograms, with groups and without", () => {
  const { tuning, ...rest } = exact;
  const made = (edges: readonly number[] | { min: number; max: number; buckets: number }) =>
    privateHistogram({ ...rest, tuning: { ...tuning, skipLevels: 1 }, clock: () => TEN, edges });
  const plain = made([1, 2, 3]);
  expect(plain.statement()).toMatchObject({
    ...{
      system: "ToPS over ticks, histogram of 4 buckets",
      private: false,
      threshold: null,
      holdoutTicks: 0,
    },
    ...{ block: "4s", noiseScales: { counts: plain.statement().levels / 64 }, published: 0 },
    composition: "Every event is in one bucket of one tick, and forests are disjoint: ε in all.",
  });
  plain.advance(TEN + 9000);
  expect(plain.statement().published).toBe(8); // two blocks of four ticks
  const { edges: _, unsafeSeed: __, ...secret } = { ...rest, edges: 0 };
  expect(privateHistogram({ ...secret, tuning: { fanout: 4 }, edges: [1, 2] }).statement().private).toBe(
    true,
  );
  expect(made({ min: 1, max: 9, buckets: 128 }).statement().composition).toBe(
    "Every event is in one bucket and in one group of 10 buckets, at half of ε each, and forests are disjoint: ε in all.",
  );
});
