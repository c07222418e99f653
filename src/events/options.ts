/** Options of event streams, checked, with every default filled in. Nothing here has seen an event. */
import { checkChoice, checkPositive, ownOptions, shown } from "../core/checks.js";
import type { CoreChoice } from "../core/choose.js";
import { columnCount, type Edges, groupSize, resolveEdges } from "./answer/buckets.js";
import { Calendar, type Day, DAY, HOUR, resolveLevels } from "./days/calendar.js";
import { MOST_COLUMNS } from "./days/dayNoise.js";
import { type Duration, durationText, FARTHEST, parseDuration } from "./days/duration.js";
import type { EventSettings, Grid } from "./eventSettings.js";
import type { Keep } from "./days/history.js";
import { calendarOver, PEOPLE_OPTIONS, type PeopleOptions, resolveDistinct } from "./people/distinct.js";
import { type Discover, resolveDiscover } from "./keys/keyDiscovery.js";
import { type PerPerson, type PersonLimit, resolvePerPerson } from "./people/people.js";
import { sharesOf } from "./shares.js";

/** Options that streams of events, counters and histograms have in common. */
export interface EventOptions {
  /** ε of the whole release, for one event, or for one person and day with `perPerson`. Smaller is more private. */
  readonly epsilon: number;
  /** How often a number is published, the finest period: it divides a second, a minute or an hour, or is "1h" or "1d". */
  readonly every: Duration;
  /**
   * The periods you ask about. The first is `every`, each divides the next, none is longer than a day; each gets the same
   * share of ε. Default: `every`, then "1s", "1m", "1h" and "1d" as far as they are longer.
   */
  readonly levels?: readonly Duration[];
  /** Whose hours and days: an IANA name such as "Europe/Berlin". Default "UTC". Public. */
  readonly zone?: string;
  /** Protects people with many events: a person's first k events of the zone's day count. A number is `{ events: k }`. */
  readonly perPerson?: number | PerPerson;
  /** How far back answers go. */
  readonly history?: HistoryOptions;
  /** How long after its end a period still takes events. Default 0. Later events are dropped. Public. */
  readonly lateness?: Duration;
  /** How far ahead of the clock the time of an event may be. Default "1m". Events beyond it are dropped. Public. */
  readonly skew?: Duration;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly clock?: () => number;
  /**
   * The day of the zone that a time lies in, for logs that are replayed on other machines. Default: by the platform's
   * time-zone database.
   */
  readonly days?: (time: number) => Day;
  /** Which stream this is, bound into its snapshots. Default "". Public. */
  readonly name?: string;
  /** Where kernels run. Default "auto". */
  readonly core?: CoreChoice;
  /** A seed that makes the release repeatable and NOT private: for tests, benchmarks and papers. */
  readonly unsafeSeed?: string;
}

export interface HistoryOptions {
  /** How long whole days are kept. Default "400d". */
  readonly days?: Duration;
  /** How long periods of an hour and more are kept. Default "35d". */
  readonly hours?: Duration;
  /** How long finer periods are kept. Default "2d". */
  readonly finer?: Duration;
}

export interface EventStreamOptions extends EventOptions {
  /** The statistic: the sum of values, how many events there are, or the mean value of an event. Default "sum". */
  readonly of?: "sum" | "count" | "mean";
  /** The public lower bound of a value; smaller ones are clamped. Default 0. Give it if values may be negative. */
  readonly min?: number;
  /** The public upper bound of a value; larger ones are clamped. Needed unless events are only counted. */
  readonly max?: number;
  /** θ, a public number that you know without looking at the data. Default: chosen privately from the hold-out. */
  readonly threshold?: "noisy-max" | number;
  /** How long events are held out to choose θ, at least: to the first midnight after it. Default "1d" without a threshold. */
  readonly holdout?: Duration;
  /** Values are rounded to multiples of it. Default: the largest power of two, at most 1, that divides `max` into 2¹⁶ steps or more. */
  readonly resolution?: number;
}

/** Options of a stream that counts events: all but those about values. */
export type CounterOptions = Omit<
  EventStreamOptions,
  "of" | "min" | "max" | "threshold" | "holdout" | "resolution"
>;

export interface HistogramOptions extends EventOptions {
  /** The public edges of the buckets, or `{ min, max, buckets }` for edges that grow by a factor. Default 64 buckets. */
  readonly edges: Edges;
}

export const EVENT_OPTIONS: readonly string[] = [
  ...["epsilon", "every", "levels", "zone", "perPerson", "history", "lateness", "skew", "clock"],
  ...["days", "name", "core", "unsafeSeed"],
];
export const EVENT_STREAM_OPTIONS = [
  ...EVENT_OPTIONS,
  "of",
  "min",
  "max",
  "threshold",
  "holdout",
  "resolution",
];
export const HISTOGRAM_OPTIONS = [...EVENT_OPTIONS, "edges"];

/** Options of earlier versions, and what takes their place. */
const FORMER: Readonly<Record<string, string>> = {
  perTick: "nothing: every number is measured, so no guess of the rate is needed",
  finest: "every, the finest period that has a number",
  maxRange: "nothing: noise ends with the day, and answers may span any number of days",
  origin: 'zone: periods begin at midnight of a time zone, "UTC" by default',
  smoother: "nothing: no number is predicted",
  tuning: "levels for the shape of the noise, resolution for the grid of values",
};

const MOST_THETA = 2 ** 30;
/** Memory for the numbers of one day of a histogram. */
const MOST_BYTES = 2 ** 29;
const GRID_STEPS = 2 ** 16;

export function resolveEventStream(asked: EventStreamOptions, finished = false): EventSettings {
  refuseFormer(asked);
  const options = ownOptions("options", asked, EVENT_STREAM_OPTIONS);
  const of = checkChoice("of", options.of ?? "sum", ["sum", "count", "mean"]);
  if (of === "count") return countSettings(options, finished);
  const limit = resolvePerPerson(options.perPerson);
  if (of === "mean") refuseSumLimit(of, limit);
  const grid = resolveGrid(options, limit);
  const chosen = grid.threshold === undefined;
  if (limit?.most !== undefined) checkChosenLimit(chosen, finished);
  return {
    ...common(options),
    of,
    limit,
    grid,
    shares: sharesOf({ people: limit !== undefined, chosen, finished }),
    finished,
    buckets: undefined,
    columns: of === "mean" ? 2 : 1,
  };
}

/** Resolves the options of a counter alone, so that bundles with a counter leave out how values are read. */
export function resolveCounter(asked: CounterOptions): EventSettings {
  refuseFormer(asked);
  return countSettings(ownOptions("options", { ...asked, of: "count" }, EVENT_STREAM_OPTIONS), false);
}

function countSettings(options: EventStreamOptions, finished: boolean): EventSettings {
  const limit = resolvePerPerson(options.perPerson);
  refuseSumLimit("count", limit);
  refuseValueOptions(options);
  if (limit?.most !== undefined) checkChosenLimit(false, finished);
  return {
    ...common(options),
    of: "count",
    limit,
    grid: undefined,
    shares: sharesOf({ people: limit !== undefined, chosen: false, finished }),
    finished,
    buckets: undefined,
    columns: 1,
  };
}

function refuseSumLimit(of: "count" | "mean", limit: PersonLimit | undefined): void {
  if (limit?.sum !== undefined)
    throw new TypeError(`perPerson.sum: expected none for a ${of}; give perPerson.events instead`);
}

/** Only one of θ and k is chosen, and k from a day that is not published. */
function checkChosenLimit(theta: boolean, finished: boolean): void {
  if (theta)
    throw new TypeError(
      'perPerson.events: expected a number beside a θ that is chosen, got "choose"; give a public threshold, or a number of events',
    );
  if (finished)
    throw new TypeError(
      'perPerson.events: expected a number for a finished file, got "choose"; brume plan FILE --per-person 1,2,5 says what each drops',
    );
}

export function resolveHistogram(asked: HistogramOptions, finished = false): EventSettings {
  refuseFormer(asked);
  const options = ownOptions("options", asked, HISTOGRAM_OPTIONS);
  const limit = resolvePerPerson(options.perPerson);
  if (limit?.sum !== undefined)
    throw new TypeError("perPerson.sum: expected none for a histogram; give perPerson.events instead");
  if (limit?.most !== undefined) checkChosenLimit(false, finished);
  const edges = resolveEdges(options.edges);
  const group = groupSize(edges.length + 1);
  const columns = columnCount(edges.length + 1, group);
  if (columns > MOST_COLUMNS)
    throw new RangeError(`edges: expected at most ${MOST_COLUMNS} buckets, got ${columns}`);
  const shared = common(options);
  const bytes = 8 * columns * Math.ceil((25 * HOUR) / shared.schedule.levels[0]!);
  if (bytes > MOST_BYTES)
    throw new RangeError(
      `edges: the numbers of a day, ${columns} columns every ${durationText(shared.schedule.levels[0]!)}, take ${bytes} bytes, at most 2^29 are supported; take fewer buckets or a longer every`,
    );
  return {
    ...shared,
    of: "histogram",
    limit,
    grid: undefined,
    shares: sharesOf({ people: limit !== undefined, chosen: false }),
    finished: false,
    buckets: { edges, group },
    columns,
  };
}

/** Options of a counter of different people. */
export function resolvePeople(asked: PeopleOptions): EventSettings {
  refuseFormer(asked);
  const distinct = resolveDistinct(asked);
  const options = ownOptions("options", asked, PEOPLE_OPTIONS);
  const shared = common({ ...options, every: DAY, levels: [DAY] });
  const { calendar } = shared.schedule;
  return {
    ...shared,
    schedule: { ...shared.schedule, calendar: calendarOver(calendar, distinct.over) },
    of: "count",
    limit: { events: distinct.keys ?? 1, perHour: undefined, sum: undefined, people: distinct.room },
    distinct,
    grid: undefined,
    shares: sharesOf({ people: distinct.keys !== undefined, chosen: false }),
    finished: false,
    buckets: undefined,
    columns: 1,
  };
}

/** Settings of a metric whose keys are found by votes, which take a share of its ε. */
export function withDiscovery(settings: EventSettings, asked: Discover, call: string): EventSettings {
  const { limit, distinct, grid, epsilon, keep } = settings;
  if (limit === undefined)
    throw new TypeError(
      `${call}: expected perPerson beside it; votes are of people, and events of one person could make a key public that nobody else used`,
    );
  if (grid !== undefined && grid.threshold === undefined)
    throw new TypeError(`${call}: expected a public threshold beside it, got none; give threshold`);
  if (distinct !== undefined && distinct.over !== "1d")
    throw new TypeError(`${call}: expected over: "1d" beside it, got ${JSON.stringify(distinct.over)}`);
  if (limit.most !== undefined)
    throw new TypeError(
      `${call}: expected a number as perPerson.events beside it, got "choose"; a day that chooses k has no ε left for votes`,
    );
  const discovery = resolveDiscover(asked, epsilon, call);
  if (discovery.forget > keep.days)
    throw new RangeError(
      `${call}.forget: expected at most history.days = ${durationText(keep.days)}, got ${durationText(discovery.forget)}`,
    );
  const people = settings.shares.limited > 0;
  return { ...settings, discovery, shares: sharesOf({ people, chosen: false, discovery: discovery.share }) };
}

/** Options of anything that takes events. */
export type AnyEventOptions = EventStreamOptions | HistogramOptions | PeopleOptions;

/** Kinds of options that take events: the names they have, and how they are resolved. */
const KINDS = {
  people: { names: PEOPLE_OPTIONS, resolve: resolvePeople },
  histogram: { names: HISTOGRAM_OPTIONS, resolve: resolveHistogram },
  events: { names: EVENT_STREAM_OPTIONS, resolve: resolveEventStream },
} as const;

/** Options with `of: "people"` count different people, `edges` make a histogram, and all others a stream of events. */
export function eventKind(options: AnyEventOptions): keyof typeof KINDS {
  if (Object.hasOwn(options, "of") && (options as PeopleOptions).of === "people") return "people";
  return Object.hasOwn(options, "edges") ? "histogram" : "events";
}

/** Names of the options of a kind. */
export const optionsOf = (options: AnyEventOptions): readonly string[] => KINDS[eventKind(options)].names;

/**
 * Resolves the options of any kind.
 * @param finished all events are there before the first number
 */
export const resolveEvents = (options: AnyEventOptions, finished = false): EventSettings =>
  KINDS[eventKind(options)].resolve(options as never, finished);

function common(options: EventOptions) {
  const levels = resolveLevels(options.every, options.levels);
  return {
    name: options.name ?? "",
    core: options.core ?? "auto",
    unsafeSeed: options.unsafeSeed,
    epsilon: checkPositive("epsilon", options.epsilon),
    schedule: {
      levels,
      calendar: new Calendar(options.zone ?? "UTC", options.days),
      lateness: parseDuration("lateness", options.lateness ?? 0, 0),
      skew: parseDuration("skew", options.skew ?? "1m", 0),
      clock: checkedClock(options.clock ?? Date.now),
    },
    keep: resolveHistory(options.history ?? {}),
  } as const;
}

function refuseFormer(options: object): void {
  if (typeof options !== "object" || (options as object | null) === null) return; // `ownOptions` says so
  const name = Object.keys(FORMER).find((former) => Object.hasOwn(options, former));
  if (name !== undefined) throw new TypeError(`${name}: no longer an option; use ${FORMER[name]}`);
}

function refuseValueOptions(options: EventStreamOptions): void {
  for (const name of ["min", "max", "threshold", "holdout", "resolution"] as const)
    if (options[name] !== undefined)
      throw new TypeError(`${name}: expected none where events are only counted; every event counts 1`);
}

function resolveGrid(options: EventStreamOptions, limit: PersonLimit | undefined): Grid {
  const lowest = checkLowest(options.min ?? 0, limit);
  const max = lowest === 0 ? checkPositive("max", options.max) : checkAbove("max", options.max, lowest);
  const resolution =
    options.resolution === undefined
      ? defaultResolution(limit?.sum ?? max - lowest)
      : checkPositive("resolution", options.resolution);
  const min = Math.floor(lowest / resolution) * resolution;
  const largest = limit?.sum ?? Math.max(max - min, -min, max);
  // Written so that not-a-number is refused: at the ends of the range of doubles a resolution is 0 or infinite.
  if (!(largest >= resolution && largest / resolution <= MOST_THETA))
    throw new RangeError(
      `resolution: expected 1 to 2^30 steps up to ${largest}, got ${largest / resolution}; take another resolution`,
    );
  // A person's sum bounds all of a person's values: no θ is needed.
  const asked = limit?.sum === undefined ? options.threshold : max;
  if (limit?.sum !== undefined && options.threshold !== undefined)
    throw new TypeError(
      "threshold: expected none beside perPerson.sum, which bounds a person's values already",
    );
  if (asked !== undefined && typeof asked !== "number") checkChoice("threshold", asked, ["noisy-max"]);
  const threshold =
    typeof asked !== "number"
      ? undefined
      : lowest === 0
        ? checkPositive("threshold", asked)
        : checkAbove("threshold", asked, lowest);
  if (threshold !== undefined && threshold > max)
    throw new RangeError(`threshold: expected at most max = ${max}, got ${threshold}`);
  if (threshold !== undefined && options.holdout !== undefined)
    throw new TypeError("holdout: expected none with a public threshold; the first period is published");
  return { min, max, resolution, threshold, holdout: parseDuration("holdout", options.holdout ?? "1d", 0) };
}

function checkLowest(min: unknown, limit: PersonLimit | undefined): number {
  if (typeof min !== "number" || !Number.isFinite(min))
    throw new RangeError(`min: expected a finite number, got ${shown(min)}`);
  if (min !== 0 && limit?.sum !== undefined)
    throw new TypeError("min: expected none beside perPerson.sum, which bounds a sum of values from 0 on");
  return min;
}

function checkAbove(name: string, value: unknown, min: number): number {
  if (typeof value === "number" && Number.isFinite(value) && value > min) return value;
  throw new RangeError(`${name}: expected a finite number above min = ${min}, got ${shown(value)}`);
}

/** The largest power of two that divides `max` into 2¹⁶ steps or more; at most 1, so that whole numbers stay exact, while 2³⁰ steps allow. */
function defaultResolution(max: number): number {
  const fine = 2 ** Math.floor(Math.log2(max / GRID_STEPS));
  return Math.max(Math.min(1, fine), 2 ** Math.ceil(Math.log2(max / MOST_THETA)));
}

function resolveHistory(asked: HistoryOptions): Keep {
  const own = ownOptions("history", asked, ["days", "hours", "finer"]);
  const days = parseDuration("history.days", own.days ?? 400 * DAY, DAY);
  const hours = parseDuration("history.hours", own.hours ?? Math.min(days, 35 * DAY), 0);
  const finer = parseDuration("history.finer", own.finer ?? Math.min(hours, 2 * DAY), 0);
  if (finer > hours || hours > days)
    throw new RangeError(
      "history: expected days to be kept at least as long as hours, and hours as long as finer periods",
    );
  return { days, hours, finer };
}

function checkedClock(clock: () => number): () => number {
  if (typeof clock !== "function")
    throw new TypeError(
      `clock: expected a function that gives milliseconds, got a value of type ${typeof clock}`,
    );
  return () => {
    const now: unknown = clock();
    if (typeof now === "number" && Math.abs(now) <= FARTHEST) return now;
    throw new TypeError(`clock: expected milliseconds since 1970, got ${shown(now)}; nothing was changed`);
  };
}
