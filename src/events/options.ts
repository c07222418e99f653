/** Options of event streams, checked, with every default filled in. Nothing here has seen an event. */
import { checkChoice, checkInteger, checkPositive, ownOptions } from "../core/checks.js";
import type { CoreChoice } from "../core/choose.js";
import { given } from "../core/given.js";
import { exactRational } from "../core/tables/fixedPoint.js";
import { levelCount } from "../stream/levels.js";
import { resolveSettings, type Settings } from "../stream/options.js";
import { type Parameters, parametersOf } from "../stream/snapshot.js";
import type { SmootherChoice } from "../stream/smoothers/index.js";
import { meanVariance } from "../stream/variance.js";
import { type Duration, durationText, parseDuration } from "./duration.js";
import { type PerPerson, type PersonLimit, resolvePerPerson } from "./people.js";
import { resolveSchedule, type Schedule, type TickOptions } from "./ticks.js";

/** What streams of events and histograms have in common. */
export interface EventOptions extends TickOptions {
  /** ε of the whole release, for one event, or for one person and period with `perPerson`. Smaller is more private. */
  readonly epsilon: number;
  /** Protects people with many events: the first k events of each person and period count. */
  readonly perPerson?: PerPerson;
  /** A public guess of how many events a tick has; decides how long a block is. A wrong guess costs accuracy only. Default 1. */
  readonly perTick?: number;
  /** The longest that a block may be: there is an estimate at least this often. Default: the length of least error. */
  readonly finest?: Duration;
  /** The longest range that a query is expected to span. Default 2²⁰ ticks. */
  readonly maxRange?: Duration;
  /** How far back `between` can look: at least twice `maxRange`. Default: the running forest of noise and the one before it. */
  readonly history?: Duration;
  /** Which stream this is, bound into its snapshots. Default "". Public. */
  readonly name?: string;
  /** What few streams need to set. */
  readonly tuning?: EventTuning;
  /** Where kernels run. Default "auto". */
  readonly core?: CoreChoice;
  /** A seed that makes the release repeatable and NOT private: for tests, benchmarks and papers. */
  readonly unsafeSeed?: string;
}

export interface EventTuning {
  /** b, children per node: 2 to 64. Default 16. */
  readonly fanout?: number;
  /** s: a block has b^s ticks. Default: by `perTick` and `finest`. */
  readonly skipLevels?: number;
  /** g, values are rounded to multiples of it before noise. Default: 1, or finer where `max` is below 256. */
  readonly resolution?: number;
}

export interface EventStreamOptions extends EventOptions {
  /** What is published: the sum of values (default), how many events there are, or the mean value of an event. */
  readonly of?: "sum" | "count" | "mean";
  /** The public upper bound of a value; larger ones are clamped. Needed unless events are only counted. */
  readonly max?: number;
  /** θ: chosen privately from the hold-out (default), or a public number that you know without looking at the data. */
  readonly threshold?: "noisy-max" | number;
  /** How long events are held out first, to choose θ. Default 4096/perTick ticks; 0 with a fixed threshold or a count. */
  readonly holdout?: Duration;
  /**
   * How the next block is predicted from published ones. Default "shrunk"; `{ period: "1d" }` also looks at the block one
   * period before. No effect on privacy.
   */
  readonly smoother?: Exclude<SmootherChoice, { readonly period: number }> | { readonly period: Duration };
}

export const EVENT_OPTIONS: readonly string[] = [
  ...["epsilon", "every", "origin", "lateness", "skew", "clock", "perPerson", "perTick", "finest"],
  ...["maxRange", "history", "name", "tuning", "core", "unsafeSeed"],
];
/** All options of a stream of events. */
export const EVENT_STREAM_OPTIONS = [...EVENT_OPTIONS, "of", "max", "threshold", "holdout", "smoother"];

const TUNING = ["fanout", "skipLevels", "resolution"];

/** What a tick sums: values in units of the grid, or events. */
export interface Column {
  readonly counts: boolean;
  /** Settings of the forest that publishes it; its ε is the share of one event in this column. */
  readonly stream: Settings;
}

export interface TickSettings {
  readonly schedule: Schedule;
  readonly limit: PersonLimit | undefined;
  /** ε as the caller gave it. */
  readonly epsilon: number;
  /** The share of one event: ε, or at most ε/k. */
  readonly eventEpsilon: number;
  readonly perTick: number;
  /** The limit of a person is applied before events come here: a hub does it once for all its keys. */
  readonly limitedBefore: boolean;
}

export interface EventSettings extends TickSettings {
  readonly of: "sum" | "count" | "mean";
  readonly threshold: "noisy-max" | number;
  /** Ticks that choose θ, and ticks after them that give the first prediction. */
  readonly choosing: number;
  readonly warming: number;
  readonly columns: readonly Column[];
}

/** A block saturates at this many grid units, far above anything real: estimates stay exact integers plus a fraction. */
export const BLOCK_CAP = 2 ** 40;
const MOST_THETA = 2 ** 30;
/** How many events choose θ, if the guess of their number is right. */
export const HOLDOUT_EVENTS = 4096;

export function resolveEventStream(asked: EventStreamOptions): EventSettings {
  const options = withTuning(ownOptions("options", asked, EVENT_STREAM_OPTIONS));
  const of = checkChoice("of", options.of ?? "sum", ["sum", "count", "mean"]);
  const ticks = resolveTicks(options);
  // The sum and the count of a mean are two releases of the same events: half of ε each.
  const epsilon = of === "mean" ? ticks.eventEpsilon / 2 : ticks.eventEpsilon;
  const columns: Column[] = [];
  if (of === "count") refuseValueOptions(options);
  else {
    const max = checkPositive("max", options.max);
    const theta = typeof options.threshold === "number" ? options.threshold : max; // the largest that may be chosen
    columns.push({ counts: false, stream: forestOf(options, ticks, epsilon, max, theta, options.tuning) });
  }
  if (of !== "sum") {
    const skipLevels = columns[0]?.stream.skipped ?? options.tuning?.skipLevels;
    const tuning = given({ fanout: options.tuning?.fanout, skipLevels, resolution: 1 });
    columns.push({ counts: true, stream: forestOf(options, ticks, epsilon, 1, 1, tuning) });
  }
  const threshold = of === "count" ? 1 : (options.threshold ?? "noisy-max");
  if (typeof threshold !== "number") checkChoice("threshold", threshold, ["noisy-max"]);
  return { ...ticks, of, threshold, columns, ...holdout(options, ticks, threshold) };
}

/** The same options with own properties alone, under `tuning` too. */
export function withTuning<T extends EventOptions>(options: T): T {
  const tuning = ownOptions("tuning", options.tuning ?? {}, TUNING);
  return Object.assign(Object.create(null) as T, options, { tuning });
}

export function resolveTicks(options: EventOptions): TickSettings {
  const schedule = resolveSchedule(options);
  const limit = resolvePerPerson(options.perPerson, schedule.every);
  const epsilon = checkPositive("epsilon", options.epsilon);
  return {
    schedule,
    limit,
    epsilon,
    eventEpsilon: shareOf(epsilon, limit?.events ?? 1),
    perTick: checkPositive("perTick", options.perTick ?? 1),
    limitedBefore: false,
  };
}

/** The settings of one forest over ticks. A tick takes the place of a value. */
export function forestOf(
  options: EventOptions & Pick<EventStreamOptions, "smoother">,
  { schedule, perTick }: TickSettings,
  epsilon: number,
  max: number,
  theta: number,
  tuning: EventTuning = {},
): Settings {
  const { every } = schedule;
  const fanout = checkInteger("tuning.fanout", tuning.fanout ?? 16, 2, 64);
  const maxRange = ticksIn("maxRange", options.maxRange ?? every * 2 ** 20, every);
  const settings = resolveSettings({
    epsilon,
    max,
    threshold: theta,
    holdout: 0,
    maxRange,
    tuning: {
      fanout,
      skipLevels: tuning.skipLevels ?? blockLevels(epsilon, maxRange, fanout, perTick, options.finest, every),
      ...given({ resolution: tuning.resolution }),
    },
    ...given({
      smoother: smootherOf(options.smoother, every),
      history: options.history === undefined ? undefined : ticksIn("history", options.history, every),
      name: options.name,
      core: options.core,
      unsafeSeed: options.unsafeSeed,
    }),
  });
  if (max / settings.resolution > MOST_THETA)
    throw new RangeError(
      `max: expected at most 2^30 steps of the resolution ${settings.resolution}, got ${max / settings.resolution}; take a coarser tuning.resolution`,
    );
  return settings;
}

/** A period is given as a duration, and counted in ticks. */
function smootherOf(choice: EventStreamOptions["smoother"], every: number): SmootherChoice | undefined {
  if (typeof choice !== "object" || (choice as unknown) === null || !Object.hasOwn(choice, "period"))
    return choice as SmootherChoice | undefined;
  const { period } = choice as { readonly period: Duration };
  return { ...choice, period: ticksIn("smoother.period", period, every) };
}

/** How far the mean of a block strays from its prediction, as a part of the total of a tick: what real streams showed. */
const DRIFT = 1 / 64;

/**
 * s of least expected error: noise of a random range, C_s/ε², and a block predicted off by a part of its total,
 * b^(2s)·(ρ/64)², with ρ the guess of a tick's total in units of θ. At least two levels carry noise.
 */
export function blockLevels(
  epsilon: number,
  maxRange: number,
  fanout: number,
  perTick: number,
  finest: Duration | undefined,
  every: number,
): number {
  const levels = levelCount(maxRange, fanout);
  const longest = finest === undefined ? Infinity : parseDuration("finest", finest) / every;
  if (longest < 1)
    throw new RangeError(
      `finest: expected at least one tick of ${durationText(every)}, got ${durationText(longest * every)}`,
    );
  const cost = (s: number): number =>
    meanVariance(maxRange, fanout, levels - s, s) / epsilon ** 2 + (fanout ** s * DRIFT * perTick) ** 2;
  let best = 0;
  for (let s = 1; s <= levels - 2 && fanout ** s <= longest; s++) if (cost(s) < cost(best)) best = s;
  return best;
}

/** A duration in whole ticks. */
function ticksIn(name: string, value: Duration, every: number): number {
  const length = parseDuration(name, value, 0);
  if (length % every !== 0)
    throw new RangeError(
      `${name}: expected a whole number of ticks of ${durationText(every)}, got ${durationText(length)}`,
    );
  return length / every;
}

function holdout(
  options: EventStreamOptions,
  { schedule, perTick }: TickSettings,
  threshold: "noisy-max" | number,
): Pick<EventSettings, "choosing" | "warming"> {
  const fixed = threshold !== "noisy-max";
  const usual = fixed ? 0 : Math.max(16, Math.ceil(HOLDOUT_EVENTS / perTick));
  const total = options.holdout === undefined ? usual : ticksIn("holdout", options.holdout, schedule.every);
  if (fixed) return { choosing: 0, warming: total };
  if (total < 1)
    throw new RangeError("holdout: expected at least one tick to choose θ from, got 0; or give a threshold");
  return { choosing: total - Math.floor(total / 8), warming: Math.floor(total / 8) };
}

function refuseValueOptions(options: EventStreamOptions): void {
  for (const name of ["max", "threshold", "holdout"] as const)
    if (options[name] !== undefined)
      throw new TypeError(`${name}: expected none where events are only counted; every event counts 1`);
}

/** The largest double that is at most ε/k, compared as exact fractions: k shares never add up to more than ε. */
export function shareOf(epsilon: number, k: number): number {
  const whole = exactRational(epsilon);
  const fits = (share: number): boolean => {
    const part = exactRational(share);
    return part.numerator * BigInt(k) * whole.denominator <= whole.numerator * part.denominator;
  };
  let share = epsilon / k;
  while (!fits(share)) share *= 1 - Number.EPSILON / 2;
  return share;
}

/** Every setting that published numbers depend on, as text: what a snapshot is bound to. Public. */
export function tickParameters(
  { schedule, limit, epsilon, perTick }: TickSettings,
  stream: Settings,
  more: Record<string, string | number>,
): Parameters {
  const ticks = {
    every: schedule.every,
    lateness: schedule.lateness,
    skew: schedule.skew,
    budget: epsilon,
    perTick,
    perPerson: limit === undefined ? "none" : `${limit.events} every ${limit.every}`,
    ...more,
  };
  const texts = Object.entries(ticks).map(([name, value]) => [name, String(value)]);
  return { ...parametersOf(stream), ...(Object.fromEntries(texts) as Parameters) };
}
