/**
 * A value's integer, one value at a time. The batch kernels (js/ingest.ts, assembly/ingest.ts) do the same operations
 * in the same order, so one push at a time and any way of cutting a stream into batches give the same bits.
 */

/**
 * x = ⌊min(max(v, 0), θ)/g + ½⌋: an integer from 0 to Θ = θ/g, for Θ ≤ 2⁵² (beyond, + ½ would round).
 * No branch here depends on the value; what engines make of min and max is in docs/side-channels.md.
 * @param value finite; −0 and subnormals give 0
 */
export function quantise(value: number, theta: number, resolution: number): number {
  return Math.floor(Math.min(Math.max(value, 0), theta) / resolution + 0.5);
}

/** Throws for a batch that has a value which is no finite number. The position is public, the value is not. */
export function refuse(values: Float64Array): never {
  const bad = values.findIndex((value) => !Number.isFinite(value));
  throw new TypeError(`values[${bad}]: expected a finite number; nothing of this batch was taken`);
}
