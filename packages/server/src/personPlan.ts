/** The ε of a person who is there on every day of a month or a year: the sum, and beside it ε at a small δ. */
import type { EqualDraws, Over } from "brume";
import { composedEpsilon } from "brume/node";

/** A metric that protects people. */
export interface DailySpending {
  /** For one person and day. */
  readonly epsilon: number;
  /** Whether its days, from now on, have noise of their own. */
  readonly ownNoise: boolean;
  /** A person counts once in a day (default), a week or a month: all days of it have one draw. */
  readonly over?: Over | undefined;
  /** For one person and day: that of keys that are discovered. Default 0. */
  readonly delta?: number;
}

export interface PlannedDays {
  readonly days: number;
  /** ε: the days add up. */
  readonly epsilon: number;
  /** δ of keys that are discovered, which adds up too. */
  readonly delta: number;
  /** The ε of the releases at a δ > 0, by optimal composition. */
  readonly approximate: { readonly epsilon: number; readonly delta: number };
}

const DAYS = [1, 30, 365];
const DELTA = 1e-9;

/** Plans are asked for with every statement and change with the config: the last one is kept. */
let last: { readonly key: string; readonly plan: readonly PlannedDays[] } | undefined;

/**
 * The days from today on.
 * @param spentToday all of today's ε: metrics that were removed today are in it
 */
export function personPlan(metrics: readonly DailySpending[], spentToday: number): readonly PlannedDays[] {
  const key = JSON.stringify([metrics, spentToday]);
  if (last?.key !== key) last = { key, plan: DAYS.map((days) => planned(metrics, spentToday, days)) };
  return last.plan;
}

function planned(metrics: readonly DailySpending[], spentToday: number, days: number): PlannedDays {
  const daily = metrics.reduce((sum, { epsilon }) => sum + epsilon, 0);
  const removed = spentToday > daily * (1 + 1e-12) ? decimal(spentToday - daily) : 0;
  const draws: EqualDraws[] = [
    ...metrics.map(({ epsilon, ownNoise, over = "1d" }) =>
      ownNoise ? { epsilon, times: PERIODS[over](days) } : { epsilon: decimal(epsilon * days), times: 1 },
    ),
    ...(removed > 0 ? [{ epsilon: removed, times: 1 }] : []),
  ];
  const epsilon = decimal(draws.reduce((sum, draw) => sum + draw.epsilon * draw.times, 0));
  // What votes for keys spend adds up beside the δ of the composition.
  const votes = decimal(days * metrics.reduce((sum, { delta = 0 }) => sum + delta, 0));
  return {
    days,
    epsilon,
    delta: votes,
    approximate: { epsilon: composedEpsilon(draws, DELTA), delta: decimal(DELTA + votes) },
  };
}

const MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Periods that so many days in a row lie in, at most. */
const PERIODS: Readonly<Record<Over, (days: number) => number>> = {
  "1d": (days) => days,
  "1w": (days) => 1 + Math.ceil((days - 1) / 7),
  "1mo": (days) =>
    Math.max(
      ...MONTHS.map((_, first) => {
        let count = 1; // the days begin with the last one of a month
        for (let left = days - 1; left > 0; left -= MONTHS[(first + count++) % 12]!);
        return count;
      }),
    ),
};

/** The decimal number that a product or sum of decimals stands for: 0.1 + 0.2 is 0.3. */
const decimal = (value: number): number => Number(value.toPrecision(15));
