/**
 * Adds up ε by composition. Releases of the same data add up (sequential composition). Parts of one data set are
 * disjoint, so one value is in one part at most and only the part with the largest sum counts (parallel composition):
 *
 *     spent(data) = Σ releases of all of it + max over parts of Σ releases of that part
 *
 * Amounts are exact: ε counts as the decimal number that it prints as, so ten times 0.1 is 1.
 */
import { checkPositive } from "../../core/checks.js";

/** Which noise the times that a release is charged for share. */
export type Periods = "own noise" | "shared noise";

/** One release and what it costs. */
export interface Charge {
  /** Which release; public. */
  readonly name: string;
  /** Which data it reads; public. */
  readonly data: string;
  /** Which of the disjoint parts of that data, or null for all of it; public. */
  readonly part: string | null;
  /** ε for one unit of the release. */
  readonly epsilon: number;
  /** Unit that the release protects at that ε, as its statement says. */
  readonly unit: string;
  /** How many units of the release belong to one unit of the odometer, at most. */
  readonly perUnit: number;
  /** How often ε was spent: reports of a device, periods, passes over the data. */
  readonly times: number;
  /** "own noise" if each of these times has noise that no other one has; by default they may share it. */
  readonly periods?: "own noise";
  /** δ for one unit of the release; by default 0. */
  readonly delta?: number;
}

/** Equal draws in exact numbers. */
export interface ExactDraws {
  /** In units of 10⁻³⁰, as `exact` gives it. */
  readonly epsilon: bigint;
  readonly times: bigint;
}

/** Decimal places that every sum is computed with: ε ≥ 10⁻¹² has at most 12 + 17 of them. */
const PLACES = 30;

const LEAST_EPSILON = 1e-12;
const MOST_EPSILON = 1e6;

export function checkEpsilon(name: string, value: unknown): number {
  const epsilon = checkPositive(name, value);
  if (epsilon >= LEAST_EPSILON && epsilon <= MOST_EPSILON) return epsilon;
  throw new RangeError(`${name}: expected ${LEAST_EPSILON} to ${MOST_EPSILON}, got ${epsilon}`);
}

/** The decimal number that a double prints as, in units of 10⁻³⁰. */
export function exact(value: number): bigint {
  const [mantissa, exponent = "0"] = String(value).split("e") as [string, string?];
  const [whole, fraction = ""] = mantissa.split(".") as [string, string?];
  return BigInt(whole + fraction) * 10n ** BigInt(PLACES - fraction.length + Number(exponent));
}

/** As a number, for people and for statements. */
export function rounded(amount: bigint): number {
  const digits = amount.toString().padStart(PLACES + 1, "0");
  return Number(`${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`);
}

/** ε that a release has cost one unit of the odometer. */
export function costOf({ epsilon, perUnit, times }: Charge): bigint {
  return exact(epsilon) * BigInt(perUnit) * BigInt(times);
}

/**
 * The draws of a release: noise of their own makes its times so many draws, shared noise makes them one. `perUnit` always
 * multiplies ε: units of one release may lie in one draw.
 */
export function drawsOf({ epsilon, perUnit, times, periods }: Charge): ExactDraws {
  const draw = exact(epsilon) * BigInt(perUnit);
  return periods === "own noise"
    ? { epsilon: draw, times: BigInt(times) }
    : { epsilon: draw * BigInt(times), times: 1n };
}

/** δ that a release has cost one unit of the odometer. A release with δ has one unit per unit. */
export const deltaOf = ({ delta = 0, times }: Charge): bigint => exact(delta) * BigInt(times);

/** ε that one unit of a data set has spent at most. @param cost of one charge: of ε, or of δ, which adds up in the same way */
export function spentOn(data: string, charges: Iterable<Charge>, cost = costOf): bigint {
  let whole = 0n;
  const parts = new Map<string, bigint>();
  for (const charge of charges) {
    if (charge.data !== data) continue;
    if (charge.part === null) whole += cost(charge);
    else parts.set(charge.part, (parts.get(charge.part) ?? 0n) + cost(charge));
  }
  let largest = 0n;
  for (const sum of parts.values()) if (sum > largest) largest = sum;
  return whole + largest;
}
