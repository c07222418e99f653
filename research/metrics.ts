/** How far answers are off, and over which ranges: the setting of the paper's experiments. */
import seedrandom from "seedrandom";

export interface Range {
  readonly from: number;
  readonly to: number;
}

/** Ranges [from, to) of 1 … r values, every one as likely: two different cuts among r + 1. */
export function randomRanges(seed: string, r: number, count: number): Range[] {
  const uniform = seedrandom(seed);
  const cut = (cuts: number) => Math.floor(uniform() * cuts);
  return Array.from({ length: count }, () => {
    const a = cut(r + 1);
    const other = cut(r);
    const b = other < a ? other : other + 1;
    return { from: Math.min(a, b), to: Math.max(a, b) };
  });
}

/** `length` values from shorter data: the data, then the data mirrored, and so on. */
export function tile(data: Float64Array, length: number): Float64Array {
  const n = data.length;
  if (n === 0 && length > 0) throw new RangeError("data: expected at least one value, got none");
  const tiled = new Float64Array(length);
  for (let i = 0; i < length; i++) {
    const k = i % (2 * n);
    tiled[i] = data[k < n ? k : 2 * n - 1 - k]!;
  }
  return tiled;
}

/** prefix[k]: sum of the first k values. */
export function prefixSums(values: Float64Array): Float64Array {
  const prefix = new Float64Array(values.length + 1);
  for (let i = 0; i < values.length; i++) prefix[i + 1] = prefix[i]! + values[i]!;
  return prefix;
}

export interface Errors {
  /** Mean squared and mean absolute error of sums. */
  readonly mse: number;
  readonly mae: number;
  /** Errors of means, that is of sums divided by the length of their range. */
  readonly mmse: number;
  readonly mmae: number;
}

/**
 * @param prefix prefix sums of the true values
 * @param answer the estimated sum over a range
 */
export function errorsOver(
  ranges: readonly Range[],
  prefix: Float64Array,
  answer: (from: number, to: number) => number,
): Errors {
  let [mse, mae, mmse, mmae] = [0, 0, 0, 0];
  for (const { from, to } of ranges) {
    const error = Math.abs(answer(from, to) - (prefix[to]! - prefix[from]!));
    const perValue = error / (to - from);
    mse += error ** 2 / ranges.length;
    mae += error / ranges.length;
    mmse += perValue ** 2 / ranges.length;
    mmae += perValue / ranges.length;
  }
  return { mse, mae, mmse, mmae };
}

export interface MeanAndSd {
  readonly mean: number;
  /** Standard deviation of one run; 0 for a single one. */
  readonly sd: number;
}

export function meanAndSd(values: readonly number[]): MeanAndSd {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, sd: values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : 0 };
}

export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}
