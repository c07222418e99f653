/** Equality in every bit, for what operations give back: numbers, arrays, plain objects, or the error they end in. */

/** What came of a call: its result, or its error as text. */
export function outcome(call: () => unknown): unknown {
  try {
    return call();
  } catch (reason) {
    return String(reason);
  }
}

export function same(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || a === null) return Object.is(a, b); // tells 0 from −0
  if (typeof b !== "object" || b === null) return false;
  if (ArrayBuffer.isView(a) && ArrayBuffer.isView(b)) return sameBytes(a, b);
  const [x, y] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = Object.keys(x);
  return keys.length === Object.keys(y).length && keys.every((key) => same(x[key], y[key]));
}

const sameBytes = (a: ArrayBufferView, b: ArrayBufferView): boolean =>
  Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(Buffer.from(b.buffer, b.byteOffset, b.byteLength));
