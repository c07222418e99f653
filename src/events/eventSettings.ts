/** Settings of a release of events: its options with every default filled in, and the numbers that follow from them. */
import type { CoreChoice } from "../core/choose.js";
import { MAX_SCALE_BITS, MIN_SCALE_BITS } from "../core/layout.js";
import type { Scale } from "../core/tables/scale.js";
import { noiseScale } from "../stream/release/forest.js";
import type { Parameters } from "../snapshot/snapshot.js";
import type { Calendar } from "./days/calendar.js";
import type { Distinct } from "./people/distinct.js";
import { durationText } from "./days/duration.js";
import type { Keep } from "./days/history.js";
import type { Discovery } from "./keys/keyDiscovery.js";
import type { PersonLimit } from "./people/people.js";
import { SHARES, type Shares } from "./shares.js";

/** When periods begin and end, and which events they take. */
export interface Schedule {
  /** Milliseconds, finest first. */
  readonly levels: readonly number[];
  readonly calendar: Calendar;
  readonly lateness: number;
  readonly skew: number;
  readonly clock: () => number;
}

/** How values become integers. */
export interface Grid {
  /** The lower bound, a multiple of the resolution. Values are shifted by it. */
  readonly min: number;
  readonly max: number;
  readonly resolution: number;
  /** θ in units of the values if it is public; undefined if it is chosen. */
  readonly threshold: number | undefined;
  /** Milliseconds of hold-out, at least. */
  readonly holdout: number;
}

export interface EventSettings {
  readonly of: "sum" | "count" | "mean" | "histogram";
  readonly name: string;
  readonly core: CoreChoice;
  readonly unsafeSeed: string | undefined;
  readonly epsilon: number;
  readonly schedule: Schedule;
  readonly limit: PersonLimit | undefined;
  /** Different people are counted, not their events: `of` is "count", and weeks or months may be in the place of days. */
  readonly distinct?: Distinct;
  /** Keys that nobody listed become public by votes. */
  readonly discovery?: Discovery;
  readonly keep: Keep;
  readonly shares: Shares;
  /** All events are there before the first number: θ is chosen from them, and none are held out. */
  readonly finished: boolean;
  /** The grid of values; undefined for counts and histograms. */
  readonly grid: Grid | undefined;
  /** The buckets of a histogram; undefined for everything else. */
  readonly buckets: { readonly edges: Float64Array; readonly group: number } | undefined;
  readonly columns: number;
}

/** Sensitivity of all columns of a release together to one event, in grid units. @param theta Θ: θ − min in grid units */
export function movedBy({ of, grid, buckets }: EventSettings, theta: number): number {
  if (grid === undefined) return buckets !== undefined && buckets.group > 1 ? 2 : 1;
  const min = Math.round(grid.min / grid.resolution);
  return of === "sum" ? Math.max(-min, Math.abs(min + theta)) : theta;
}

/** k: what the limit of a person multiplies the noise by; a person's sum bounds the values by itself. 1 before k is chosen. */
export const eventsPerPerson = ({ limit }: EventSettings): number => limit?.events ?? 1;

/**
 * The scale of the noise on every node: t = levels·Δ·k/(share of ε), in grid units. Δ is what one event moves the columns of
 * a level by, together.
 * @param theta θ − min in grid units, or a person's sum; 1 for counts
 */
export function releaseScale(settings: EventSettings, theta: number): Scale {
  const { schedule, epsilon, shares } = settings;
  const moved = movedBy(settings, theta) * eventsPerPerson(settings);
  return checkedScale(schedule.levels.length, moved, epsilon, shares.release);
}

/** `releaseScale` as a double, for error bars and plans. @param moved Δ, in any unit: the scale is in that unit */
export function releaseSpread(settings: EventSettings, moved: number): number {
  const { schedule, epsilon, shares } = settings;
  return scaleOf(schedule.levels.length, moved * eventsPerPerson(settings), epsilon, shares.release);
}

const scaleOf = (levels: number, moved: number, epsilon: number, share: number): number =>
  (levels * moved * SHARES) / (epsilon * share);

/** The scale of a count of a whole day with one share of 32 of ε. @param most what one person or event moves it by */
export const countScale = ({ epsilon }: EventSettings, most: number): Scale =>
  checkedScale(1, most, epsilon, 1);

/** `noiseScale`, with an error that names what a caller can change. */
function checkedScale(levels: number, moved: number, epsilon: number, share: number): Scale {
  const scale = scaleOf(levels, moved, epsilon, share);
  const [least, most] = [2 ** -MIN_SCALE_BITS, 2 ** MAX_SCALE_BITS];
  if (scale >= least && scale <= most) return noiseScale(levels, moved, epsilon, share);
  const wanted =
    scale < least
      ? `at most ${((levels * moved * SHARES) / (least * share)).toPrecision(3)}`
      : `at least ${((levels * moved * SHARES) / (most * share)).toPrecision(3)}, so that sums with noise stay exact`;
  throw new RangeError(
    `epsilon: expected ${wanted}, got ${epsilon}${scale > most && moved > 1 ? "; or lower θ or perPerson, or take a coarser resolution" : ""}`,
  );
}

/** ε of the sums per event: the release's share, divided by a person's events. */
export const epsilonPerEvent = (settings: EventSettings): number =>
  (settings.epsilon * settings.shares.release) / SHARES / eventsPerPerson(settings);

/** Does not depend on the k that is chosen. */
const limitParameter = ({ events, most, perHour, sum }: PersonLimit): string =>
  [most === undefined ? events : `chosen up to ${most}`, perHour, sum].map((n) => n ?? "-").join(" ");

/** Settings once k is chosen. */
export const withLimit = (settings: EventSettings, events: number): EventSettings => ({
  ...settings,
  limit: { ...settings.limit!, events },
});

/** Every setting that published numbers depend on, as text: what a snapshot is bound to. Public. */
export function eventParameters(settings: EventSettings): Parameters {
  const {
    of,
    name,
    epsilon,
    schedule,
    limit,
    distinct,
    discovery,
    grid,
    buckets,
    unsafeSeed,
    keep,
    finished,
  } = settings;
  const texts: Record<string, unknown> = {
    name,
    of,
    epsilon,
    levels: schedule.levels.map(durationText).join(" "),
    zone: schedule.calendar.zone,
    lateness: schedule.lateness,
    skew: schedule.skew,
    perPerson: limit === undefined ? "none" : limitParameter(limit),
    people: distinct && `${distinct.over} ${distinct.keys ?? "-"}`,
    discovery: discovery && `${discovery.share}/32 ${discovery.asked}`,
    min: grid === undefined || grid.min === 0 ? undefined : grid.min,
    max: grid?.max,
    resolution: grid?.resolution,
    threshold: grid === undefined ? undefined : (grid.threshold ?? "chosen"),
    holdout: finished ? "none: a finished file" : grid?.holdout,
    edges: buckets && Array.from(buckets.edges).join(" "),
    history: [keep.days, keep.hours, keep.finer].join(" "),
    seed: unsafeSeed,
  };
  const given = Object.entries(texts).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([key, value]) => [key, String(value)]));
}

/** Θ in grid units. */
export const unitsOf = (theta: number, resolution: number): number =>
  Math.max(1, Math.floor(theta / resolution + 0.5));
