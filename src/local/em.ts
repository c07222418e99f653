/**
 * The distribution behind a histogram of Square Wave reports: expectation maximisation from the uniform start until
 * it stops gaining. Stopping early is part of the estimate: it regularises.
 */
import { ownOptions, shown } from "../core/checks.js";
import { predictor } from "../core/js/squareWave.js";
import type { Transition } from "../core/tables/transition.js";

/** Runs predicted.length/n updates; `SquareWave.emSteps` of a core, with its tables and counts filled in. */
export type Steps = (estimates: Float64Array, predicted: Float64Array) => void;

export interface Progress {
  readonly updates: number;
  readonly logLikelihood: number;
  /** The estimate of that likelihood, yours to keep: share of the values in each input bin; sums to 1. */
  readonly shares: Float64Array;
}

export interface EmResult extends Progress {
  /** Which rule ended it: too little gain, too little change, or too many updates. */
  readonly stopped: "likelihood" | "change" | "limit";
}

export interface RunOptions {
  /** Called now and then, between updates. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Aborting rejects with the signal's reason and changes nothing. */
  readonly signal?: AbortSignal | undefined;
}

/** Log-likelihood gained by one update below which it stops, from the third update on. */
const LEAST_GAIN = 1e-3;
const MOST_UPDATES = 10_000;
/**
 * More than two log-likelihoods and the bound are off by rounding, per report: sums of 1024 terms, each term at most
 * |ln p| < 32 a report (p > e^(−ε)/2¹¹, ε ≤ 24), at 2⁻⁵³ of the sum a term: 3·1024·32·2⁻⁵³ ≈ 10⁻¹¹.
 */
const ROUNDING = 2e-11;
/** Updates per call of a core: the tables are copied once for all of them. */
const BATCH = 16;
/** Milliseconds after which other work gets a turn. */
const TURN = 12;

/** Σ counts·ln(predicted): logarithms differ between engines and cores, so they are taken here and nowhere else. */
export function logLikelihood(counts: Float64Array, predicted: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < counts.length; i++) sum += counts[i]! * Math.log(predicted[i]!);
  return sum;
}

/** The log-likelihood of any distribution over the bins. The js core's passes, bit for bit those of the other one. */
export function likelihoods(transition: Transition, counts: Float64Array): (shares: Float64Array) => number {
  const predict = predictor(transition);
  return (shares) => logLikelihood(counts, predict(shares));
}

/**
 * Log-likelihood gained by an update, or a lower bound on it where that is enough to go on: ln x ≥ 1 − 1/x, so it is at
 * least Σ counts·(1 − before/now). The bound is close, and logarithms are needed for the last updates only.
 */
export function gainOf(counts: Float64Array, now: Float64Array, before: Float64Array): number {
  let least = 0;
  let reports = 0;
  for (let i = 0; i < counts.length; i++) {
    least += counts[i]! * (1 - before[i]! / now[i]!);
    reports += counts[i]!;
  }
  if (least > LEAST_GAIN + ROUNDING * reports) return least;
  return logLikelihood(counts, now) - logLikelihood(counts, before);
}

/** The rule that says stop after `updates` updates, if one does; |f − last|₁ < 1/m ends what m reports cannot show. */
export function stopRule(
  updates: number,
  gain: number,
  estimate: Float64Array,
  last: Float64Array,
  reports: number,
): EmResult["stopped"] | undefined {
  if (updates > 2 && Math.abs(gain) < LEAST_GAIN) return "likelihood";
  if (!changes(estimate, last, 1 / reports)) return "change";
  return updates >= MOST_UPDATES ? "limit" : undefined;
}

/** |a − b|₁ > least; mostly the first few terms are enough to know. */
function changes(a: Float64Array, b: Float64Array, least: number): boolean {
  let change = 0;
  for (let j = 0; j < a.length; j++) if ((change += Math.abs(a[j]! - b[j]!)) > least) return true;
  return false;
}

/** Plain EM (or EMS: the steps decide). An estimate's likelihood is known when the next update reads it. */
export async function estimate(steps: Steps, counts: Float64Array, run: RunOptions = {}): Promise<EmResult> {
  const pause = pauses(run);
  const n = counts.length;
  const reports = counts.reduce((a, b) => a + b, 0);
  const estimates = new Float64Array((BATCH + 1) * n).fill(1 / n, 0, n);
  const predicted = new Float64Array(BATCH * n);
  let before = { shares: new Float64Array(n), predicted: new Float64Array(n) };
  for (let updates = 0; ;) {
    steps(estimates, predicted);
    for (let row = 0; row < BATCH; row++, updates++) {
      const part = [row * n, (row + 1) * n] as const;
      const now = { shares: estimates.subarray(...part), predicted: predicted.subarray(...part) };
      if (updates > 0) {
        const gain = gainOf(counts, now.predicted, before.predicted);
        const stopped = stopRule(updates, gain, now.shares, before.shares, reports);
        if (stopped) return { ...progress(counts, updates, now), stopped };
      }
      before = now;
    }
    before = { shares: before.shares.slice(), predicted: before.predicted.slice() };
    estimates.copyWithin(0, BATCH * n);
    await pause(() => progress(counts, updates, before));
  }
}

export function progress(
  counts: Float64Array,
  updates: number,
  now: { shares: Float64Array; predicted: Float64Array },
) {
  return { updates, logLikelihood: logLikelihood(counts, now.predicted), shares: now.shares.slice() };
}

/** Reports progress and lets other work run, at most once per {@link TURN}; throws what the signal says. */
export function pauses(run: RunOptions): (now?: () => Progress) => Promise<void> {
  const { onProgress, signal } = ownOptions("run", run, ["onProgress", "signal"]);
  if (onProgress !== undefined && typeof onProgress !== "function")
    throw new TypeError(`onProgress: expected a function, got ${shown(onProgress)}`);
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new TypeError(`signal: expected an AbortSignal, got ${shown(signal)}`);
  signal?.throwIfAborted();
  let last = performance.now();
  return async (now) => {
    if (performance.now() - last < TURN) return;
    if (now) onProgress?.(now());
    await new Promise((resume) => setTimeout(resume));
    signal?.throwIfAborted();
    last = performance.now();
  };
}
