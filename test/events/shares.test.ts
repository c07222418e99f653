/** ε adds up, whatever the options: what each part spends by the scale of its own noise, and the shares that it has. */
import { describe, expect, test } from "vitest";
import type { Scale } from "../../src/core/tables/scale.js";
import {
  countScale,
  type EventSettings,
  eventsPerPerson,
  releaseScale,
} from "../../src/events/eventSettings.js";
import { resolveEvents } from "../../src/events/options.js";
import { divisorOfChoice } from "../../src/events/holdout.js";
import { SHARES } from "../../src/events/shares.js";
import { eventChoice } from "../../src/stream/holdout/choice.js";

const EPSILON = 0.75;

const kinds: Record<string, object> = {
  count: { of: "count" },
  sum: { of: "sum", max: 8, resolution: 1 },
  "sum from −32": { of: "sum", min: -32, max: 8, resolution: 1 },
  mean: { of: "mean", max: 8, resolution: 1 },
  "mean from −32": { of: "mean", min: -32, max: 8, resolution: 1 },
  histogram: { edges: [1, 2, 4] },
  "histogram with groups": { edges: { min: 1, max: 1e6, buckets: 256 } },
};
const people: Record<string, object> = {
  nobody: {},
  "3 events": { perPerson: 3 },
  "3 events, 1 an hour": { perPerson: { events: 3, perHour: 1 } },
  "a sum of 20": { perPerson: { sum: 20 } },
};
const thetas: Record<string, object> = { public: { threshold: 8 }, chosen: {} };
const levels = [["1h"], ["1h", "1d"], ["1m", "1h", "1d"]];

interface Combination {
  readonly name: string;
  readonly settings: EventSettings;
}

function* combinations(): Generator<Combination> {
  for (const [kind, own] of Object.entries(kinds))
    for (const [who, limit] of Object.entries(people))
      for (const [theta, choice] of Object.entries(thetas))
        for (const finished of [false, true])
          for (const list of levels) {
            const isSum = kind === "sum";
            const hasValues = "max" in own;
            if (who === "a sum of 20" && (!isSum || theta === "public")) continue; // refused
            if (theta === "public" && !hasValues) continue; // refused
            const options = { epsilon: EPSILON, every: list[0], levels: list, ...own, ...limit, ...choice };
            const settings = resolveEvents(options as never, finished);
            yield {
              name: [kind, who, theta, finished ? "finished" : "live", list.join("·")].join(", "),
              settings,
            };
          }
}

/** Sensitivity of a node's columns together to one event, or to one person's day, from the meaning of the columns. */
function movedBy({ of, grid, limit, buckets }: EventSettings, theta: number): number {
  if (limit?.sum !== undefined) return limit.sum;
  const most = limit?.events ?? 1;
  if (grid === undefined) return most * (buckets !== undefined && buckets.group > 1 ? 2 : 1);
  if (of === "mean") return most * (theta - grid.min);
  return most * Math.max(Math.abs(grid.min), Math.abs(theta));
}

/** The largest value that is not clamped, where θ is public, and what a private choice is taken to be. */
const THETA = 8;

const valueOf = ({ numerator, denominator }: Scale): number => Number(numerator) / Number(denominator);

/** ε of the three steps that choose θ, by the scales of their noise: an event moves every count of a step by one. */
function spentOnChoice(settings: EventSettings): number {
  const { epsilon, grid } = settings;
  const largest = Math.floor((grid!.max - grid!.min) / grid!.resolution);
  const ofStep = (share: number): number => {
    const {
      countWeight,
      scale,
      countScale: t,
    } = eventChoice(epsilon, divisorOfChoice(settings), share, 1, largest);
    expect(countWeight / valueOf(scale)).toBeCloseTo(1 / valueOf(t), 10);
    return eventsPerPerson(settings) / valueOf(t);
  };
  return ofStep(1) + ofStep(1) + ofStep(6);
}

/** ε that is spent on a day that is published, by the scales that noise is drawn at. @param broken levels left out of them */
function spent(settings: EventSettings, broken = 0): number {
  const { schedule, shares, grid, limit, finished } = settings;
  const theta = grid === undefined ? 1 : (limit?.sum ?? THETA - grid.min);
  const count = schedule.levels.length;
  const scale = (valueOf(releaseScale(settings, theta)) * (count - broken)) / count;
  const release = (count * movedBy(settings, THETA)) / scale;
  const counted = (most: number): number => most / valueOf(countScale(settings, most));
  const limited = shares.limited > 0 ? counted(1) : 0;
  const clipped = shares.clipped > 0 ? counted(eventsPerPerson(settings)) : 0;
  const chosen = finished && shares.threshold > 0 ? spentOnChoice(settings) : 0;
  return release + limited + clipped + chosen;
}

describe("over all combinations of options", () => {
  const all = [...combinations()];

  test("there are as many as there should be", () => {
    // 3 lists of levels, live and finished: 3 limits for 3 kinds without values, and for 4 with a public or a chosen θ;
    // and a person's sum.
    expect(all.length).toBe(3 * 2 * (3 * 3 + 4 * 3 * 2 + 1));
  });

  test("shares are whole 32nds that sum to 1", () => {
    for (const { name, settings } of all) {
      const parts = Object.values(settings.shares as unknown as Record<string, number>);
      expect(parts.every(Number.isInteger), name).toBe(true);
      expect(
        parts.reduce((sum, part) => sum + part, 0),
        name,
      ).toBe(SHARES);
    }
  });

  test("what is spent is ε, no more and no less", () => {
    for (const { name, settings } of all) expect(spent(settings), name).toBeCloseTo(EPSILON, 10);
  });

  test("a hold-out, whose events are in no day that is published, spends ε on the choice of θ", () => {
    const choosing = all.filter(({ settings: { grid, finished } }) => grid !== undefined && !finished);
    for (const { name, settings } of choosing)
      if (settings.grid!.threshold === undefined)
        expect(spentOnChoice(settings), name).toBeCloseTo(EPSILON, 10);
  });

  test("a scale that leaves a tenth of a level out would be seen in every one of them", () => {
    for (const { name, settings } of all) expect(spent(settings, 0.1), name).toBeGreaterThan(EPSILON * 1.02);
  });
});
