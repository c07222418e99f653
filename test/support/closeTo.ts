/** Numbers that may differ in their last digits: engines round exp and log differently. */
import { expect } from "vitest";

/** A matcher of the structure of `wanted`: numbers that are not whole match within a relative error. */
export function closeTo(wanted: unknown, error: number): unknown {
  if (typeof wanted === "number")
    return Number.isInteger(wanted) ? wanted : expect.toSatisfy((x) => isClose(x, wanted, error));
  if (Array.isArray(wanted)) return wanted.map((part) => closeTo(part, error));
  if (typeof wanted !== "object" || wanted === null) return wanted;
  return Object.fromEntries(Object.entries(wanted).map(([name, part]) => [name, closeTo(part, error)]));
}

const isClose = (x: unknown, wanted: number, error: number): boolean =>
  typeof x === "number" && Math.abs(x - wanted) <= error * Math.max(1, Math.abs(wanted));
