/**
 * EM with fewer updates (SQUAREM: Varadhan and Roland 2008). Two updates x → x₁ → x₂ show where EM is heading, and a jump goes
 * on that way: with r = x₁ − x and v = x₂ − 2x₁ + x,
 *
 *     x + 2a·r + a²·v,   a = |r|/|v|, from 1 (which is x₂) to 16
 *
 * Without an upper limit the jumps leave EM's path and end at another estimate. Up to 16 they stay so close to it that EM's own
 * rule stops at the same likelihood (research/notes/speed-kernels.md): stopping early is part of the estimate. A jump that loses likelihood
 * is taken back, so the likelihood never falls.
 */
import { type EmResult, gainOf, pauses, progress, type RunOptions, type Steps, stopRule } from "./em.js";

const FARTHEST = 16;
/** The first jumps are shorter, and the limit grows by this after each jump that reaches it. */
const GROWTH = 4;
/** A jump leaves every share at least this part of what EM has: no share falls to 0, from where EM cannot raise it. */
const LEAST_PART = 0.01;

/** @param start a distribution without zeros */
export async function acceleratedEstimate(
  steps: Steps,
  counts: Float64Array,
  start: Float64Array,
  run: RunOptions = {},
): Promise<EmResult> {
  const pause = pauses(run);
  const n = counts.length;
  const reports = counts.reduce((a, b) => a + b, 0);
  const estimates = new Float64Array(3 * n);
  const predicted = new Float64Array(2 * n);
  const [x, x1, x2] = [0, 1, 2].map((row) => estimates.subarray(row * n, (row + 1) * n)) as Three;
  const [predictedX, predictedX1] = [predicted.subarray(0, n), predicted.subarray(n)];
  /** The two updates before the jump: what is gone back to. */
  const before = { x2: new Float64Array(n), predictedX1: new Float64Array(n) };
  let jumped = false;
  let limit = GROWTH;
  x.set(start);
  for (let updates = 2; ; updates += 2) {
    steps(estimates, predicted);
    if (jumped && gainOf(counts, predictedX, before.predictedX1) < 0) {
      x.set(before.x2);
      limit = Math.max(1, limit / 2);
      jumped = false;
      continue;
    }
    const gain = gainOf(counts, predictedX1, predictedX);
    const now = { shares: x1, predicted: predictedX1 };
    const stopped = stopRule(updates, gain, x1, x, reports);
    if (stopped) return { ...progress(counts, updates, now), stopped };
    before.x2.set(x2);
    before.predictedX1.set(predictedX1);
    const length = jumpLength(x, x1, x2);
    jumped = length > 1;
    jump(x, x1, x2, Math.min(length, limit));
    if (length >= limit) limit = Math.min(GROWTH * limit, FARTHEST);
    await pause(() => progress(counts, updates, { shares: before.x2, predicted: before.predictedX1 }));
  }
}

type Three = [Float64Array, Float64Array, Float64Array];

/** |r|/|v|, at least 1. */
function jumpLength(x: Float64Array, x1: Float64Array, x2: Float64Array): number {
  let [rr, vv] = [0, 0];
  for (let j = 0; j < x.length; j++) {
    const r = x1[j]! - x[j]!;
    const v = x2[j]! - x1[j]! - r;
    rr += r * r;
    vv += v * v;
  }
  return rr > vv ? Math.sqrt(rr / vv) : 1;
}

/** x ← x + 2a·r + a²·v, kept positive, divided by its sum. */
function jump(x: Float64Array, x1: Float64Array, x2: Float64Array, a: number): void {
  let sum = 0;
  for (let j = 0; j < x.length; j++) {
    const r = x1[j]! - x[j]!;
    const v = x2[j]! - x1[j]! - r;
    x[j] = Math.max(x[j]! + 2 * a * r + a * a * v, LEAST_PART * x2[j]!);
    sum += x[j]!;
  }
  for (let j = 0; j < x.length; j++) x[j]! /= sum;
}
