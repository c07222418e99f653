/** Expectation maximisation for the Square Wave mechanism: twin of assembly/squareWave.ts. */
import type { SquareWave } from "../core.js";
import type { Transition } from "../tables/transition.js";

/** prefix[x] = sum of x's block of k before x, suffix[at + x] = sum of it from x on; returns the last block's sum. */
function blockSums(
  source: Float64Array,
  length: number,
  k: number,
  prefix: Float64Array,
  suffix: Float64Array,
  at: number,
): number {
  let before = 0;
  for (let start = 0; start < length; start += k) {
    const end = Math.min(start + k, length);
    let from = 0;
    before = 0;
    for (let up = start, down = end - 1; up < end; up++, down--) {
      prefix[up] = before;
      before += source[up]!;
      from += source[down]!;
      suffix[at + down] = from;
    }
  }
  return before;
}

/** Row `row` of a resampling: four taps on `source`. */
function resample(source: Float64Array, starts: Uint32Array, taps: Float64Array, row: number): number {
  const at = starts[row]! | 0; // stays a machine integer
  const tap = row << 2;
  return (
    taps[tap]! * source[at]! +
    taps[tap + 2]! * source[at + 2]! +
    (taps[tap + 1]! * source[at + 1]! + taps[tap + 3]! * source[at + 3]!)
  );
}

/** windows[t] = sum of f over the k bins before t, for t = 0 … n + k. */
function windowsBefore(
  f: Float64Array,
  k: number,
  prefix: Float64Array,
  suffix: Float64Array,
  windows: Float64Array,
): void {
  const n = f.length;
  suffix.fill(0, 0, k);
  const rest = blockSums(f, n, k, prefix, suffix, k);
  suffix[n + k] = 0;
  const blockEnd = Math.ceil(n / k) * k;
  for (let x = n; x <= n + k; x++) prefix[x] = x < blockEnd ? rest : 0;
  for (let t = 0; t <= n + k; t++) windows[t] = suffix[t]! + prefix[t]!;
  windows.fill(0, n + k + 1);
}

/** Divides by the sum, taken over even and odd places as the kernel's two lanes do. */
function normalise(f: Float64Array): void {
  let even = 0;
  let odd = 0;
  for (let i = 0; i < f.length; i += 2) {
    even += f[i]!;
    odd += f[i + 1]!;
  }
  const sum = even + odd;
  for (let i = 0; i < f.length; i++) f[i] = f[i]! / sum;
}

/** f ← [1, 2, 1]/4 f, with (2, 1)/3 and (1, 2)/3 at the borders, divided by its sum. */
function smoothen(f: Float64Array): void {
  const last = f.length - 1;
  let left = f[0]!;
  f[0] = (2 * left + f[1]!) / 3;
  for (let i = 1; i < last; i++) {
    const middle = f[i]!;
    f[i] = (left + 2 * middle + f[i + 1]!) / 4;
    left = middle;
  }
  f[last] = (left + 2 * f[last]!) / 3;
  normalise(f);
}

/** M f alone: shares of reports per output bin. The array that it gives is used again by the next call. */
export function predictor(transition: Transition): (f: Float64Array) => Float64Array {
  const { bins: n, window: k, level, starts, taps } = transition;
  const [windows, prefix, suffix] = [0, 1, 2].map(() => new Float64Array(n + k + 8)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const predicted = new Float64Array(n);
  return (f) => {
    windowsBefore(f, k, prefix, suffix, windows);
    for (let i = 0; i < n; i++) predicted[i] = level[i]! + resample(windows, starts, taps, i);
    return predicted;
  };
}

export const emSteps: SquareWave["emSteps"] = (transition, counts, smooth, estimates, predicted) => {
  const { bins: n, window: k, level, starts, taps, backStarts, backTaps } = transition;
  const windows = new Float64Array(n + k + 8);
  const prefix = new Float64Array(n + k + 8);
  const suffix = new Float64Array(n + k + 8);
  const ratios = new Float64Array(n + 4);
  for (let start = 0; start < predicted.length; start += n) {
    const f = estimates.subarray(start, start + n);
    windowsBefore(f, k, prefix, suffix, windows);
    let even = 0;
    let odd = 0;
    for (let i = 0; i < n; i++) {
      const p = level[i]! + resample(windows, starts, taps, i);
      const ratio = counts[i]! / p;
      predicted[start + i] = p;
      ratios[i] = ratio;
      if (i % 2 === 0) even += level[i]! * ratio;
      else odd += level[i]! * ratio;
    }
    const constant = even + odd;
    for (let t = 0; t < n + k; t++) windows[t] = resample(ratios, backStarts, backTaps, t);
    blockSums(windows, n + k, k, prefix, suffix, 0);
    const next = estimates.subarray(start + n, start + 2 * n);
    for (let j = 0; j < n; j++) next[j] = f[j]! * (constant + (suffix[j]! + prefix[j + k]!));
    normalise(next);
    if (smooth) smoothen(next);
  }
};
