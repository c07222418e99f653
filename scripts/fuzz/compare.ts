/** Equality in every bit, for what operations give back: numbers, arrays, plain objects, or the error they end in. */

/** Outcome of a call: its result, or its error as text. */
export function outcome<A extends unknown[]>(call: (...args: A) => unknown, ...args: A): unknown {
  try {
    return call(...args);
  } catch (reason) {
    return String(reason);
  }
}

export function same(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || a === null) return Object.is(a, b); // tells 0 from −0
  if (typeof b !== "object" || b === null) return false;
  if (a instanceof Float64Array && b instanceof Float64Array) return sameDoubles(a, b);
  if (ArrayBuffer.isView(a) && ArrayBuffer.isView(b)) return sameBytes(a, b);
  if (Array.isArray(a) && Array.isArray(b)) return sameLists(a, b);
  const [x, y] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = Object.keys(x);
  return keys.length === Object.keys(y).length && keys.every((key) => same(x[key], y[key]));
}

function sameLists(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!same(a[i], b[i])) return false;
  return true;
}

/** Equal doubles have equal bits, but for zeros: those, and NaN, are compared as bytes. */
function sameDoubles(a: Float64Array, b: Float64Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++)
    if (a[i] !== b[i] || a[i] === 0) return sameBytes(a.subarray(i), b.subarray(i));
  return true;
}

const sameBytes = (a: ArrayBufferView, b: ArrayBufferView): boolean =>
  Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(Buffer.from(b.buffer, b.byteOffset, b.byteLength));

/** Something that is made once for each core. */
export type Two<T> = readonly [wasm: T, js: T];
export const twice = <T>(make: (core: "wasm" | "js") => T): Two<T> => [make("wasm"), make("js")];
