/** Batches of stream values, as callers hand them over: arrays of any kind, checked before anything is taken from them. */
import { checkFinite, checkInteger } from "./checks.js";

/** Arrays of numbers that a batch of values can come in. Values below 0 or above `max` are clamped, not refused. */
export type ValueBatch =
  | readonly number[]
  | Float64Array
  | Float32Array
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array;

/** Getters of typed arrays themselves: those of a subclass or of an instance are a caller's code. */
const typed = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(Float64Array.prototype) as Float64Array);
const [kindOf, lengthOf, bufferOf, offsetOf] = (
  [Symbol.toStringTag, "length", "buffer", "byteOffset"] as const
).map((name) => typed[name].get!) as [
  () => string | undefined,
  () => number,
  () => ArrayBuffer,
  () => number,
];

/**
 * A batch as a Float64Array of our own kind. One that came as such is not copied, and its values are not checked. All
 * other kinds are copied, each place is read once, and every value is a finite number.
 */
export function batchOf(values: ValueBatch): Float64Array {
  const kind = kindOf.call(values);
  if (kind === undefined) return copyArray(values as readonly number[]);
  if (kind === "BigInt64Array" || kind === "BigUint64Array")
    throw new TypeError(
      `values: expected numbers, got a ${kind}; convert it with Float64Array.from(values, Number)`,
    );
  if (kind !== "Float64Array") return checkFinite(new Float64Array(values));
  const length = lengthOf.call(values); // 0 if the buffer was detached
  return length === 0
    ? new Float64Array(0)
    : new Float64Array(bufferOf.call(values), offsetOf.call(values), length);
}

/**
 * A batch of stream values, all finite: the position is public, the value is not. The caller gets a copy, so that
 * another thread cannot change a value after it was checked.
 */
export function checkValues(values: ValueBatch): Float64Array {
  const batch = batchOf(values);
  return checkFinite(kindOf.call(values) === "Float64Array" ? new Float64Array(batch) : batch);
}

function copyArray(values: readonly number[]): Float64Array {
  if (!Array.isArray(values)) throw new TypeError("values: expected an array of numbers, plain or typed");
  const length: unknown = values.length; // once: a Proxy may say something else next time
  const copy = new Float64Array(checkInteger("values.length", length, 0, 2 ** 32));
  for (let i = 0; i < copy.length; i++) {
    const value: unknown = values[i];
    copy[i] = typeof value === "number" ? value : NaN;
  }
  return checkFinite(copy);
}
