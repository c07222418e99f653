/** Plans the error of a release of events before any data: everything follows from public parameters. */
import { noiseQuantile } from "../stream/answer/answer.js";
import { laplaceVariance, NO_SPREAD } from "../stream/answer/variance.js";
import { rankSpread } from "./answer/buckets.js";
import { DAY } from "./days/calendar.js";
import { DayPeriods } from "./days/dayPeriods.js";
import { type Duration, durationText, parseDuration } from "./days/duration.js";
import { overWord } from "./people/distinct.js";
import { spreadOf } from "./days/history.js";
import { epsilonPerEvent, eventsPerPerson, type EventSettings, releaseSpread } from "./eventSettings.js";
import { type AnyEventOptions, resolveEvents } from "./options.js";

/** The error of one question. */
export interface PlannedError {
  /** "1h", "1d", "7d". */
  readonly period: string;
  /** Standard error of a whole period of that length. */
  readonly standardError: number;
  /** Half the width of its 95 % interval. */
  readonly reach: number;
  /** Standard error of plain Laplace noise on that question alone, with all of ε. */
  readonly plain: number;
  /** Histograms only: noise in the number of events below the median, which decides where a percentile is. */
  readonly rankError?: number;
}

export interface EventPlan {
  /** ε of the whole release. */
  readonly epsilon: number;
  /** Share of ε that one event gets for the sums; over k if k is chosen. */
  readonly epsilonPerEvent: number;
  /** The finest period. */
  readonly every: string;
  /** The periods that noise is made for, finest first. */
  readonly levels: readonly string[];
  /** The time zone of the periods. */
  readonly zone: string;
  /** How long after the start the first number comes, at most. */
  readonly firstNumberAfter: string;
  /** The unit of the errors: "events", "θ", "a person's sum" or "events of a bucket"; times k if k is chosen. */
  readonly errorsOf: string;
  /** One error per level, and for 7 and 30 days. */
  readonly errors: readonly PlannedError[];
}

const RANGES: readonly Duration[] = ["7d", "30d"];

/** @param ranges further lengths, beside the levels, that errors are told for */
export function planEvents(options: AnyEventOptions, ranges: readonly Duration[] = RANGES): EventPlan {
  const settings = resolveEvents(options);
  if (settings.distinct !== undefined) return planPeople(settings);
  const { schedule, grid, epsilon, limit } = settings;
  const { levels, calendar, lateness } = schedule;
  const lengths = [...levels, ...ranges.map((range) => parseDuration("range", range))];
  const held =
    limit?.most !== undefined
      ? 2 * DAY
      : grid !== undefined && grid.threshold === undefined
        ? grid.holdout + DAY
        : 0;
  const whole = [...new Set(lengths)].filter((length) => length % levels[0]! === 0).sort((a, b) => a - b);
  return {
    epsilon,
    epsilonPerEvent: epsilonPerEvent(settings),
    every: durationText(levels[0]!),
    levels: levels.map(durationText),
    zone: calendar.zone,
    firstNumberAfter: durationText(held + 2 * levels[0]! + lateness),
    errorsOf: unitOf(settings),
    errors: whole.map((length) => errorOf(settings, length)),
  };
}

/** One number per period: a sum of periods counts people again, so no longer range has an error of its own. */
function planPeople(settings: EventSettings): EventPlan {
  const { epsilon, distinct, schedule } = settings;
  const { over } = distinct!;
  const longest = { "1d": 2 * DAY, "1w": 14 * DAY, "1mo": 62 * DAY }[over];
  return {
    epsilon,
    epsilonPerEvent: epsilonPerEvent(settings),
    every: over,
    levels: [over],
    zone: schedule.calendar.zone,
    firstNumberAfter: durationText(longest + schedule.lateness),
    errorsOf: `different people of a ${overWord(over)}`,
    errors: [{ ...errorOf(settings, DAY), period: over }],
  };
}

function unitOf({ buckets, grid, limit }: EventSettings): string {
  const times = limit?.most === undefined ? "" : "k · ";
  if (buckets !== undefined) return `${times}events of a bucket`;
  if (grid === undefined) return `${times}events`;
  return limit?.sum === undefined ? `${times}θ` : "a person's sum";
}

/** The error of a range of whole periods from midnight. */
function errorOf(settings: EventSettings, length: number): PlannedError {
  const { schedule, epsilon, buckets } = settings;
  const { levels } = schedule;
  const { shape } = new DayPeriods({ start: 0, end: DAY }, levels);
  const [days, rest] = [Math.floor(length / DAY), length % DAY];
  const [day, part] = [
    spreadOf(shape).of(0, shape.sizes[0]!),
    rest === 0 ? NO_SPREAD : spreadOf(shape).of(0, rest / levels[0]!),
  ];
  // In units of k, or of θ, the noise has no grid.
  const scale = releaseSpread(settings, buckets !== undefined && buckets.group > 1 ? 2 : 1);
  const counts = settings.grid === undefined && settings.limit?.most === undefined;
  const node = counts ? laplaceVariance(scale) : 2 * scale ** 2;
  const variance = (days * day.variance + part.variance) * node;
  const fourth = (days * day.fourth + part.fourth) * (node ** 2 + (counts ? node / 3 : 0));
  const plain = eventsPerPerson(settings) / epsilon;
  const standardError = Math.sqrt(variance);
  const n = (buckets?.edges.length ?? 0) + 1;
  return {
    period: durationText(length),
    standardError,
    reach: noiseQuantile(0.95, { variance, fourth }) * standardError + (counts ? 0.5 : 0),
    plain: Math.sqrt(counts ? laplaceVariance(plain) : 2 * plain ** 2),
    ...(buckets === undefined
      ? {}
      : {
          rankError: standardError * Math.sqrt(rankSpread(n, buckets.group, Math.floor(n / 2), 0.5).variance),
        }),
  };
}

/** ε lies in here; beyond, a plan makes no sense. */
const [LEAST, MOST] = [1e-6, 64];

/**
 * The smallest ε from which on the error is at most `target`, to a thousandth; undefined if there is none up to 64. For value
 * streams blocks get longer as ε falls, so an error may fall again further down: the search goes down step by step.
 */
export function solveEpsilon(target: number, errorAt: (epsilon: number) => number): number | undefined {
  let high = MOST;
  if (errorAt(high) > target) return undefined;
  while (high > LEAST && errorAt(high / 1.05) <= target) high /= 1.05;
  let low = high / 1.05;
  while (high / low > 1.001) {
    const middle = Math.sqrt(low * high);
    if (errorAt(middle) > target) low = middle;
    else high = middle;
  }
  return high;
}
