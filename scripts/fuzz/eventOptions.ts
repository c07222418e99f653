/** Random options of event streams, counters and histograms: usual ones, extreme ones, and some that are refused. */
import type { EventStreamOptions, HistogramOptions } from "../../src/index.js";
import type { Dice } from "./dice.js";
import { ownSmoother, randomEpsilon, randomMax } from "./options.js";

/** Milliseconds of a tick. */
export const TICK = 1000;
const ORIGIN = Date.UTC(2026, 2, 1, 10);

type Common = Omit<EventStreamOptions, "clock" | "max"> & { readonly origin: number };
type Random = Common & { readonly max?: number } & Partial<Pick<HistogramOptions, "edges">>;

export function randomEvents(dice: Dice): Random {
  const common = randomCommon(dice);
  const kind = dice.pick(["sum", "sum", "mean", "count", "histogram"] as const);
  if (kind === "histogram") return { ...common, edges: randomEdges(dice) };
  const smoother = { smoother: randomSmoother(dice) };
  if (kind === "count") return { ...common, ...smoother, of: kind };
  const max = randomMax(dice);
  const fixed = dice.chance(0.3);
  return {
    ...{ ...common, ...smoother, of: kind, max },
    ...(fixed ? { threshold: max * dice.pick([1, 0.5, dice.unit(), 1 / 256]) } : {}),
    holdout: TICK * (fixed ? dice.below(8) : 1 + dice.below(40)),
  };
}

function randomCommon(dice: Dice): Common {
  const fanout = dice.pick([2, 3, 4, 16]);
  const maxRange = TICK * Math.round(dice.scaled(fanout, 600));
  const skipLevels = dice.pick([undefined, 0, 1, 2]);
  const perPerson = { events: 1 + dice.below(4), every: TICK * dice.pick([1, 10, 60]), people: 4 };
  return {
    epsilon: randomEpsilon(dice),
    every: TICK,
    origin: ORIGIN,
    lateness: TICK * dice.below(3),
    skew: TICK * dice.below(6),
    perTick: dice.pick([1, 20, dice.scaled(0.01, 1e4)]),
    maxRange,
    tuning: { fanout, ...(skipLevels === undefined ? {} : { skipLevels }) },
    unsafeSeed: `fuzz ${dice.word()}`,
    ...(dice.chance(0.3) ? { history: dice.pick([2, 8]) * maxRange } : {}),
    ...(dice.chance(0.4) ? { perPerson } : {}),
  };
}

function randomSmoother(dice: Dice): NonNullable<EventStreamOptions["smoother"]> {
  if (dice.chance(0.05)) return ownSmoother;
  return dice.pick([
    ...(["recent", "mean", "median", "shrunk"] as const),
    ...[{ moving: 1 + dice.below(9) }, { exponential: 0.3 }, { period: TICK * (2 + dice.below(60)) }],
  ]);
}

/** Up to 64 buckets, so that some have groups; some lists of edges are refused. */
function randomEdges(dice: Dice): HistogramOptions["edges"] {
  if (dice.chance(0.5)) return { min: 0.5, max: 30, buckets: dice.pick([1, 4, 16, 64]) };
  const edges = Float64Array.from({ length: 1 + dice.below(9) }, () => dice.unit() * 30);
  return [...(dice.chance(0.95) ? edges.sort() : edges)];
}
