/**
 * The channel that a device and its server agree on before the first report: ε and bound give the mechanism, the grid and how a value becomes
 * an input. A device trusts nobody: all of it is bounded here, before it is used.
 */
import { checkNumber } from "../core/checks.js";
import type { Mechanism, Quantiser } from "../core/tables/sectors.js";
import { dayWindow } from "./mechanisms.js";
import { gridOf, type Phase } from "./report.js";

/** How values become cells: the same on a device and on the server. */
export interface Channel {
  /** The phase of the paper's variant; undefined in the default one. */
  readonly phase?: Phase;
  readonly mechanism: Mechanism;
  readonly quantiser: Quantiser;
  readonly grid: number;
}

/**
 * A day's reports: value v is input ⌊v·2²⁰/θ⌋ of the window mechanism.
 * @param theta one of the public thresholds, so 2²⁰/θ is finite
 */
export function makeChannel(epsilon: number, theta: number): Channel {
  const mechanism = dayWindow(epsilon);
  const quantiser = { scale: (mechanism.top + 1) / theta, shift: 0 };
  return { mechanism, quantiser, grid: gridOf(undefined, epsilon, theta) };
}

/**
 * The public bound of a value. With these limits 2²⁰/θ is finite for the smallest θ, and so is the sum of 2⁴⁰ estimates
 * for the largest.
 */
export const checkMax = (max: unknown): number => checkNumber("max", max, 1e-250, 1e250);

/** θ = max·(m/32)·2⁻ᵏ, m = 16 … 32, k = 0 … 19: 321 thresholds from max·2⁻²⁰ to max, each within 1/16 of the next. */
const STEPS = 32;
const HALVINGS = 19;
/** How many thresholds exist for one `max`: all that a server can tell a device apart by. */
export const THRESHOLD_COUNT = (HALVINGS + 1) * (STEPS / 2) + 1;

/**
 * The public threshold nearest to θ > 0. Divisions, halvings and one product, all of IEEE 754 and so alike on every
 * platform; a power or a logarithm is not.
 */
export function nearestThreshold(theta: number, max: number): number {
  let share = Math.min(theta / max, 1);
  let unit = 1 / STEPS;
  for (let k = 0; k < HALVINGS && share <= 0.5; k++, share *= 2) unit /= 2;
  return max * (unit * Math.max(STEPS / 2, Math.round(share * STEPS)));
}

/** All of them as shares of `max`, rising. */
export const thresholdShares = (): Float64Array =>
  Float64Array.from({ length: THRESHOLD_COUNT }, (_, i) => {
    const half = STEPS / 2;
    return ((half + (i % half)) / STEPS) * 2 ** (Math.floor(i / half) - HALVINGS);
  });

/** A θ that the server sent: one of the public thresholds, or the device does not report. */
export function checkThreshold(theta: unknown, max: number): number {
  const checked = checkNumber("threshold", theta, max * 2 ** -20, max);
  const nearest = nearestThreshold(checked, max);
  if (checked !== nearest)
    throw new RangeError(
      `threshold: expected one of the ${THRESHOLD_COUNT} public thresholds for max = ${max}, got ${checked}; take ${nearest}`,
    );
  return checked;
}
