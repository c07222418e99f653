/**
 * SQUAREM (Varadhan and Roland 2008, scheme S3): two EM updates show the direction and the curvature, one jump saves
 * many. It comes closer to the maximum of the likelihood than plain EM when that stops, so it gives *another*, rougher
 * estimate: an option, never the default.
 */
import { begin, type Estimate, logLikelihood, type Steps, type RunOptions } from "./em.js";

/** Like `estimate`; `updates` counts EM updates done, of which a jump takes four or five. */
export async function acceleratedEstimate(
  steps: Steps,
  counts: Float64Array,
  watching: RunOptions = {},
): Promise<Estimate> {
  const n = counts.length;
  const { estimates, stop, pause } = begin(counts, 4, watching);
  const predicted = new Float64Array(3 * n);
  const jump = new Float64Array(2 * n);
  const jumpPredicted = new Float64Array(n);
  const row = (k: number) => estimates.subarray(k * n, (k + 1) * n);
  let last = -Infinity;
  for (let updates = 0; ;) {
    steps(estimates, predicted);
    updates += 3;
    const second = logLikelihood(counts, predicted.subarray(2 * n));
    const stopped = stop(updates, second - last, row(2), row(0));
    if (stopped) return { shares: row(2).slice(), updates, logLikelihood: second, stopped };
    last = second;
    extrapolate(row(0), row(1), row(2), jump.subarray(0, n));
    steps(jump, jumpPredicted);
    updates++;
    // Only a jump that gains over the plain updates is taken, so the likelihood never falls.
    const better = logLikelihood(counts, jumpPredicted) >= second;
    estimates.set(better ? jump.subarray(n) : row(3), 0);
    await pause(() => ({ updates, logLikelihood: second, shares: row(2).slice() }));
  }
}

/** out = f₀ − 2αr + α²v, r = f₁ − f₀, v = (f₂ − f₁) − r, α = −max(1, ‖r‖/‖v‖); where that is not positive, f₂. */
function extrapolate(f0: Float64Array, f1: Float64Array, f2: Float64Array, out: Float64Array): void {
  let rr = 0;
  let vv = 0;
  for (let j = 0; j < out.length; j++) {
    const r = f1[j]! - f0[j]!;
    const v = f2[j]! - f1[j]! - r;
    rr += r * r;
    vv += v * v;
  }
  const alpha = vv > 0 ? -Math.max(1, Math.sqrt(rr / vv)) : -1;
  let sum = 0;
  for (let j = 0; j < out.length; j++) {
    const r = f1[j]! - f0[j]!;
    const v = f2[j]! - f1[j]! - r;
    const value = f0[j]! - 2 * alpha * r + alpha * alpha * v;
    sum += out[j] = value > 0 ? value : f2[j]!;
  }
  for (let j = 0; j < out.length; j++) out[j]! /= sum;
}
