/** Values and devices for tests of the local model. */
import { uniformBelow } from "../../research/uniform.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { reporter } from "../../src/local/anyCoreReporter.js";

/** Uniform numbers in (0, 1). */
export function uniforms(length: number, seed: string): Float64Array {
  const drawn = new Float64Array(length);
  uniformBelow(subStream(unsafeKey(seed), Purpose.baseline, 0, 0), 2 ** 32, drawn);
  return drawn.map((u) => (u + 0.5) / 2 ** 32);
}

/** Skewed values: mean about 20, a few above 100. */
export const skewed = (length: number, seed: string): Float64Array =>
  uniforms(length, seed).map((u) => -20 * Math.log(u));

/** Packed reports of values, ε = 1 and max = 1000 unless said otherwise. */
export function reportsOf(
  values: Float64Array | readonly number[],
  seed: string,
  { threshold, epsilon = 1, max = 1000 }: { threshold?: number; epsilon?: number; max?: number } = {},
): Uint8Array {
  const phase =
    threshold === undefined ? ({ phase: "learn" } as const) : ({ phase: "release", threshold } as const);
  return reporter({ variant: "paper", epsilon, max, unsafeSeed: seed, ...phase }).reportMany(values);
}
