/** Options of an aggregator of days, with checks and defaults. */
import { shown } from "../core/checks.js";
import type { CoreChoice } from "../core/choose.js";
import { Calendar } from "../events/days/calendar.js";
import { FARTHEST } from "../events/days/duration.js";
import { checkMax, checkThreshold } from "./channel.js";
import { checkLocalEpsilon } from "./mechanisms.js";

export interface AggregatorOptions {
  /** ε of every report. */
  readonly epsilon: number;
  /** Public upper bound of a value. */
  readonly max: number;
  /**
   * The bound of the first days, θ: values above it are clamped to it. One of the public thresholds. Default: `max`. A good
   * guess helps more than anything else, since noise is in proportion to θ.
   */
  readonly threshold?: number;
  /** Whether θ follows the reports, from day to day. Default true; false keeps it. */
  readonly follow?: boolean;
  /** Whose days: an IANA name such as "Europe/Berlin". Default "UTC". */
  readonly zone?: string;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly clock?: () => number;
  /** Where kernels run. Default "auto". */
  readonly core?: CoreChoice;
}

export const AGGREGATOR_OPTIONS = [
  ...(["epsilon", "max", "threshold", "follow", "zone", "clock", "core"] as const),
] satisfies (keyof AggregatorOptions)[];

/** Options of former versions, and what to do instead. */
const FORMER: Readonly<Record<string, string>> = {
  holdout: "reports count from the first one; give threshold to start lower",
  maxRange: "θ serves 30 days of reports; omit it",
  history: "days are kept for 400 days; omit it",
  tuning: 'omit it, or set variant: "paper"',
  every: "θ and answers go by days; omit it",
};

/** @param given what the caller wrote */
export function refuseFormer(call: string, given: object): void {
  for (const [name, successor] of Object.entries(FORMER))
    if (Object.hasOwn(given, name)) throw new TypeError(`${call}: ${name}: expected none; ${successor}`);
}

export interface LocalSettings {
  readonly epsilon: number;
  readonly max: number;
  /** θ of the first days. */
  readonly start: number;
  readonly follow: boolean;
  readonly calendar: Calendar;
  readonly clock: () => number;
}

/** @param options own properties only */
export function localSettings(options: AggregatorOptions): LocalSettings {
  const epsilon = checkLocalEpsilon("epsilon", options.epsilon);
  const max = checkMax(options.max);
  const { follow = true, threshold } = options;
  if (typeof follow !== "boolean")
    throw new TypeError(`follow: expected true or false, got ${shown(follow)}`);
  return {
    epsilon,
    max,
    start: threshold === undefined ? max : checkThreshold(threshold, max),
    follow,
    calendar: new Calendar(options.zone ?? "UTC"),
    clock: checkedClock(options.clock ?? Date.now),
  };
}

function checkedClock(clock: () => number): () => number {
  if (typeof clock !== "function")
    throw new TypeError(`clock: expected a function that gives milliseconds, got ${shown(clock)}`);
  return () => {
    const now: unknown = clock();
    if (typeof now === "number" && Math.abs(now) <= FARTHEST) return now;
    throw new TypeError(`clock: expected milliseconds since 1970, got ${shown(now)}; nothing was changed`);
  };
}
