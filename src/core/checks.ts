/**
 * One function per kind of argument. Parameters are public and are quoted; stream values are private and never
 * are. `TypeError` for the wrong kind, `RangeError` for the wrong size.
 */
import { given } from "./given.js";

/** Formats a public parameter as short text for a message. Takes symbols and BigInts too. */
export function shown(value: unknown): string {
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  return typeof value === "string"
    ? JSON.stringify(value)
    : `a value of type ${value === null ? "null" : typeof value}`;
}

/** A finite number in (0, ∞). */
export function checkPositive(name: string, value: unknown): number {
  if (typeof value !== "number")
    throw new TypeError(`${name}: expected a number above 0, got ${shown(value)}`);
  if (!(value > 0 && value < Infinity))
    throw new RangeError(`${name}: expected a finite number above 0, got ${value}`);
  return value;
}

/** A number in [least, most]. */
export function checkNumber(name: string, value: unknown, least: number, most: number): number {
  if (typeof value !== "number") throw new TypeError(`${name}: expected a number, got ${shown(value)}`);
  if (!(value >= least && value <= most))
    throw new RangeError(`${name}: expected a number from ${least} to ${most}, got ${value}`);
  return value;
}

/** A whole number in [least, most]. */
export function checkInteger(name: string, value: unknown, least: number, most: number): number {
  if (typeof value !== "number") throw new TypeError(`${name}: expected a whole number, got ${shown(value)}`);
  if (!Number.isInteger(value) || value < least || value > most)
    throw new RangeError(`${name}: expected a whole number from ${least} to ${most}, got ${value}`);
  return value;
}

/** The probability of an interval: above 0, below 1. */
export function checkConfidence(value: unknown): number {
  if (!(typeof value === "number" && value > 0 && value < 1))
    throw new RangeError(`confidence: expected a number between 0 and 1, got ${shown(value)}`);
  return value;
}

/** One of a list of words. */
export function checkChoice<T extends string>(name: string, value: unknown, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === value);
  if (found === undefined)
    throw new TypeError(
      `${name}: expected ${choices.map((word) => `"${word}"`).join(", ")}, got ${shown(value)}`,
    );
  return found;
}

/** A string. */
export function checkText(name: string, value: unknown): string {
  if (typeof value !== "string")
    throw new TypeError(`${name}: expected a string, got a value of type ${typeof value}`);
  return value;
}

/**
 * The options that were given, each read once: own properties only, so a field that someone put on `Object.prototype`
 * is no option. A misspelt option is an error, not a default.
 */
export function ownOptions<T extends object>(name: string, options: T, known: readonly string[]): T {
  if (typeof options !== "object" || (options as unknown) === null)
    throw new TypeError(`${name}: expected an object of options, got ${shown(options)}`);
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw new TypeError(`${name}: unknown option "${unknown}"; expected ${known.join(", ")}`);
  return given(options, known as (keyof T)[]) as T;
}

/**
 * Positions [from, to) that were published and are still kept. Like a slice, a range may be empty.
 * @param call the method that was asked, for the message
 * @param option what keeps more positions
 */
export function checkRange(
  call: string,
  from: number,
  to: number,
  { length, oldest }: { readonly length: number; readonly oldest: number },
  option: string,
): void {
  const asked = `${call}(${shown(from)}, ${shown(to)})`;
  checkInteger(`${asked}: from`, from, 0, Number.MAX_SAFE_INTEGER);
  checkInteger(`${asked}: to`, to, from, Number.MAX_SAFE_INTEGER);
  if (to > length) throw new RangeError(`${asked}: only ${length} values published so far`);
  if (from < oldest && from < to)
    throw new RangeError(
      `${asked}: positions before ${oldest} are no longer kept; a larger ${option} would keep more`,
    );
}

/** A stream value: private, so the message says nothing about it. */
export function checkValue(value: number): number {
  return Number.isFinite(value) ? value : refuseValue();
}

/** Throws for a stream value that is no finite number. */
export function refuseValue(): never {
  throw new TypeError("value: expected a finite number");
}

/** Throws for a call from inside another call on the same stream. */
export function refuseReentry(): never {
  throw new Error(
    "stream: expected no call while another call on it runs (from its smoother, its clock, or a getter of a batch); nothing was changed, make the call after the other one returns",
  );
}

/** Gives the values back if all are finite numbers. */
export function checkFinite(values: Float64Array): Float64Array {
  for (let i = 0; i < values.length; i++)
    if (!Number.isFinite(values[i]))
      throw new TypeError(`values[${i}]: expected a finite number; nothing of this batch was taken`);
  return values;
}
