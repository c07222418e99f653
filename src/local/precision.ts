/** Precision of a number of reports, before the first one comes. */
import { normalQuantile } from "../core/normal.js";
import { checkInteger } from "../core/checks.js";
import { checkLocalEpsilon, dayWindow } from "./mechanisms.js";
import { estimateOf, varianceOf } from "./moments.js";

/** Load times of pages have a mean of about this share of the bound that holds nearly all of them. */
const TYPICAL = 0.19;

/**
 * Half the width of the mean's 95 % interval as a share of the mean, for values spread as load times of pages are, from the second
 * day on, when θ fits them.
 */
export function localPrecision(epsilon: number, reports: number): number {
  const mechanism = dayWindow(checkLocalEpsilon("epsilon", epsilon));
  const n = checkInteger("reports", reports, 1, Number.MAX_SAFE_INTEGER);
  const z = normalQuantile(0.95);
  const farthest = estimateOf(mechanism, mechanism.cells - 1);
  const reach = z * Math.sqrt(n * varianceOf(mechanism, TYPICAL)) + (farthest * z * z) / 6;
  return reach / (n * TYPICAL);
}
