/** Random options of event streams, counters and histograms: usual ones, extreme ones, and some that are refused. */
import type { EventStreamOptions, HistogramOptions } from "../../src/events/options.js";
import type { PerPerson } from "../../src/events/people/people.js";
import type { Dice } from "./dice.js";
import { randomEpsilon, randomMax } from "./options.js";

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];

/** Periods that are published, and levels above them. Histograms skip the finest: many columns of seconds take long. */
const EVERY: readonly (readonly [every: number, above: readonly number[]])[] = [
  [SECOND, [MINUTE, HOUR, DAY]],
  [10 * SECOND, [MINUTE, HOUR, DAY]],
  [MINUTE, [10 * MINUTE, HOUR, DAY]],
  [MINUTE, [15 * MINUTE, DAY]],
  [15 * MINUTE, [HOUR, 12 * HOUR, DAY]],
  [15 * MINUTE, [HOUR]],
  [HOUR, [6 * HOUR, DAY]],
  [HOUR, [DAY]],
  [HOUR, [2 * HOUR, DAY]],
  [DAY, []],
];

/** Local midnights next to a change of the clocks, and a few that are not. */
const MIDNIGHTS: readonly (readonly [zone: string, midnight: number])[] = [
  ["UTC", Date.UTC(2026, 2, 1)],
  ["Europe/Berlin", Date.UTC(2026, 2, 28, 23)], // 23 hours follow
  ["Europe/Berlin", Date.UTC(2026, 9, 24, 22)], // 25 hours follow
  ["Europe/Berlin", Date.UTC(2026, 9, 25, 23)],
  ["America/New_York", Date.UTC(2026, 2, 8, 5)],
  ["Asia/Kolkata", Date.UTC(2026, 5, 30, 18, 30)],
  ["Australia/Lord_Howe", Date.UTC(2026, 3, 4, 13)], // 24½ hours follow
  ["America/Santiago", Date.UTC(2026, 8, 6, 4)], // begins at 01:00
];

export type RandomEvents = Omit<EventStreamOptions, "every" | "max"> & {
  readonly every: number;
  readonly max?: number;
} & Partial<Pick<HistogramOptions, "edges">>;

/** @returns options, and when the stream begins: a few periods before a midnight, so that days end */
export function randomEvents(dice: Dice): { readonly options: RandomEvents; readonly start: number } {
  const kind = dice.pick(["sum", "sum", "mean", "count", "histogram"] as const);
  const [every, above] = dice.pick(kind === "histogram" ? EVERY.slice(2) : EVERY);
  const levels = [every, ...above.filter(() => dice.chance(0.7))];
  const [zone, midnight] = dice.pick(MIDNIGHTS);
  const start = midnight - Math.round(Math.min(20 * HOUR, every * dice.scaled(0.1, 80)));
  const common = {
    epsilon: randomEpsilon(dice),
    every,
    zone,
    lateness: Math.round(every * dice.pick([0, 0, 1, 2 * dice.unit()])),
    skew: Math.round(every * dice.pick([0, 1, 6 * dice.unit()])),
    unsafeSeed: `fuzz ${dice.word()}`,
    ...(dice.chance(0.9) ? { levels: dice.chance(0.97) ? levels : levels.reverse() } : {}),
    ...(dice.chance(0.3) ? { history: { days: DAY * (1 + dice.below(4)), hours: DAY, finer: 0 } } : {}),
    ...(dice.chance(0.4) ? { perPerson: randomLimit(dice) } : {}),
  };
  if (kind === "count") return { start, options: { ...common, of: kind } };
  if (kind === "histogram")
    return { start, options: { ...common, edges: randomEdges(dice, every < 15 * MINUTE ? 8 : 200) } };
  return { start, options: { ...common, ...randomValues(dice, kind, every) } };
}

/** Random options of sums and means: bounds, a public θ, or the hold-out of a chosen one. */
function randomValues(dice: Dice, of: "sum" | "mean", every: number) {
  const max = randomMax(dice);
  if (dice.chance(0.15)) {
    const perPerson = { sum: max * dice.pick([1, 3, dice.unit()]), people: 4 };
    return { of, max, perPerson }; // refused for means
  }
  if (dice.chance(0.4)) return { of, max, threshold: max * dice.pick([1, 0.5, dice.unit(), 1 / 256]) };
  // A chosen θ needs 40/ε events before a midnight.
  const enough = dice.chance(0.9) ? { epsilon: dice.scaled(0.3, 10) } : {};
  return { of, max, ...enough, holdout: dice.pick([0, every, Math.round(every * 30 * dice.unit())]) };
}

/** k, given or chosen from the first whole day; beside a θ that is chosen the latter is refused. */
function randomLimit(dice: Dice): PerPerson {
  const events = 1 + dice.below(4);
  if (dice.chance(0.15)) return { events: "choose", most: 2 * events, people: 4 };
  return { events, people: 4, ...(dice.chance(0.4) ? { perHour: 1 + dice.below(events) } : {}) };
}

/** Some lists of edges are refused; more than 64 buckets have groups. */
function randomEdges(dice: Dice, most: number): HistogramOptions["edges"] {
  if (dice.chance(0.5)) return { min: 0.5, max: 30, buckets: dice.pick([1, 4, Math.min(16, most), most]) };
  const edges = Float64Array.from({ length: 1 + dice.below(9) }, () => dice.unit() * 30);
  return [...(dice.chance(0.95) ? edges.sort() : edges)];
}
