/**
 * How many reports a device may make: so many per period, so many in all. One report costs ε, so the device of one person
 * spends at most reports·ε per period. A clock that is wrong can only delay a report: a period ends when the clock has
 * passed the end that was stored with it.
 */
import { checkInteger, checkText, ownOptions } from "../core/checks.js";
import { type Duration, parseDuration, periodText } from "../events/days/duration.js";

export interface BudgetOptions {
  /** Reports per period. */
  readonly reports: number;
  /** Length of a period: "1d", "1h", or milliseconds. Periods are counted from 1970 in UTC, so days end at midnight UTC. */
  readonly every: Duration;
  /** Reports in all periods together. Default: no limit of its own. */
  readonly lifetime?: number;
}

/** Limits of a device's budget, validated. */
export interface Limits {
  readonly reports: number;
  /** Milliseconds. */
  readonly every: number;
  readonly lifetime: number;
}

/** Budget that a device has spent, as it is stored. */
export interface Spent {
  /** End of the running period, in milliseconds since 1970. */
  readonly until: number;
  /** Reports in the running period, and in all. */
  readonly reports: number;
  readonly total: number;
}

export const NOTHING_SPENT: Spent = { until: 0, reports: 0, total: 0 };

const MOST_REPORTS = 2 ** 20;

export function limitsOf(options: BudgetOptions): Limits {
  const { reports, every, lifetime } = ownOptions("budget", options, ["reports", "every", "lifetime"]);
  return {
    reports: checkInteger("budget.reports", reports, 1, MOST_REPORTS),
    every: parseDuration("budget.every", every, 1000),
    lifetime:
      lifetime === undefined
        ? Infinity
        : checkInteger("budget.lifetime", lifetime, 1, Number.MAX_SAFE_INTEGER),
  };
}

export function reportsLeft(limits: Limits, spent: Spent, now: number): number {
  const running = now >= spent.until ? 0 : spent.reports;
  return Math.max(0, Math.min(limits.reports - running, limits.lifetime - spent.total));
}

/** Charges one more report and returns the new spending; undefined when no report is left. */
export function charge(limits: Limits, spent: Spent, now: number): Spent | undefined {
  if (reportsLeft(limits, spent, now) === 0) return undefined;
  const total = spent.total + 1;
  if (now < spent.until) return { ...spent, reports: spent.reports + 1, total };
  return { until: (Math.floor(now / limits.every) + 1) * limits.every, reports: 1, total };
}

const MOST_ORIGINS = 256;

/**
 * How many origins a page is served from; undefined if it does not say. A page at an origin that is not listed is refused:
 * it would have a budget that the statement leaves out.
 * @param here where the page is
 */
export function originsOf(origins: readonly string[] | undefined, here: string): number | undefined {
  if (origins === undefined) return undefined;
  if (!Array.isArray(origins) || origins.length === 0 || origins.length > MOST_ORIGINS)
    throw new RangeError(`origins: expected a list of 1 to ${MOST_ORIGINS} origins, got something else`);
  const listed = new Set(
    Array.from(origins as readonly string[], (one) => new URL(checkText("origins", one)).origin),
  );
  if (listed.has("null"))
    throw new RangeError("origins: expected addresses that have an origin, such as https://shop.example");
  if (!listed.has(here))
    throw new RangeError(
      `origins: expected ${[...listed].join(", ")}, got a page at ${here}; list every origin, or report from one`,
    );
  return listed.size;
}

/** Privacy loss of all reports of a device together. */
export function promiseOf(
  { reports, every, lifetime }: Limits,
  epsilon: number,
  origins: number | undefined,
): {
  readonly unit: string;
  readonly epsilonPerReport: number;
  readonly epsilon: number;
  readonly lifetimeEpsilon: number | null;
} {
  const times = origins ?? 1;
  return {
    unit: `one device${origins === undefined ? " and origin" : ""}, per ${periodText(every)}`,
    epsilonPerReport: epsilon,
    epsilon: times * reports * epsilon,
    lifetimeEpsilon: lifetime === Infinity ? null : times * lifetime * epsilon,
  };
}
