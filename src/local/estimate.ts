/**
 * The distribution behind a histogram of Square Wave reports: expectation maximisation from the uniform start until
 * it stops gaining. Stopping early is part of the estimate: it regularises.
 */

/** Runs predicted.length/n updates; `SquareWave.emSteps` of a core, with its tables and counts filled in. */
export type Steps = (estimates: Float64Array, predicted: Float64Array) => void;

export interface Progress {
  readonly updates: number;
  readonly logLikelihood: number;
  /** The estimate of that likelihood, yours to keep: share of the values in each input bin; sums to 1. */
  readonly shares: Float64Array;
}

export interface Estimate extends Progress {
  /** Which rule ended it: too little gain, too little change, or too many updates. */
  readonly stopped: "likelihood" | "change" | "limit";
}

export interface Watching {
  /** Called now and then, between updates. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Aborting rejects with the signal's reason and changes nothing. */
  readonly signal?: AbortSignal | undefined;
}

/** Log-likelihood gained by one update below which it stops, from the third update on. */
const LEAST_GAIN = 1e-3;
const MOST_UPDATES = 10_000;
/** Updates per call of a core: the tables are staged once for all of them. */
const BATCH = 16;
/** Milliseconds after which other work gets a turn. */
const TURN = 12;

/** Σ counts·ln(predicted): logarithms differ between engines and cores, so they are taken here and nowhere else. */
export function logLikelihood(counts: Float64Array, predicted: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < counts.length; i++) sum += counts[i]! * Math.log(predicted[i]!);
  return sum;
}

/** The rule that says stop after `updates` updates, if one does; |f − last|₁ < 1/m ends what m reports cannot show. */
export function stopRule(
  updates: number,
  gain: number,
  estimate: Float64Array,
  last: Float64Array,
  reports: number,
): Estimate["stopped"] | undefined {
  if (updates > 2 && Math.abs(gain) < LEAST_GAIN) return "likelihood";
  let change = 0;
  for (let j = 0; j < estimate.length; j++) change += Math.abs(estimate[j]! - last[j]!);
  if (change <= 1 / reports) return "change";
  return updates >= MOST_UPDATES ? "limit" : undefined;
}

/** Plain EM (or EMS: the steps decide). An estimate's likelihood is known when the next update reads it. */
export async function estimate(
  steps: Steps,
  counts: Float64Array,
  watching: Watching = {},
): Promise<Estimate> {
  const n = counts.length;
  const reports = counts.reduce((a, b) => a + b, 0);
  const estimates = new Float64Array((BATCH + 1) * n).fill(1 / n, 0, n);
  const predicted = new Float64Array(BATCH * n);
  const pause = pauses(watching);
  let before = new Float64Array(n);
  let likelihood = -Infinity;
  for (let updates = 0; ;) {
    steps(estimates, predicted);
    for (let row = 0; row < BATCH; row++, updates++) {
      const now = estimates.subarray(row * n, (row + 1) * n);
      const reached = logLikelihood(counts, predicted.subarray(row * n, (row + 1) * n));
      const stopped = updates > 0 && stopRule(updates, reached - likelihood, now, before, reports);
      if (stopped) return { shares: now.slice(), updates, logLikelihood: reached, stopped };
      likelihood = reached;
      before = now;
    }
    before = before.slice();
    estimates.copyWithin(0, BATCH * n);
    await pause({ updates, logLikelihood: likelihood, shares: before });
  }
}

/** Reports progress and lets other work run, at most once per {@link TURN}; throws what the signal says. */
export function pauses({ onProgress, signal }: Watching): (progress: Progress) => Promise<void> {
  signal?.throwIfAborted();
  let last = performance.now();
  return async (progress) => {
    if (performance.now() - last < TURN) return;
    onProgress?.(progress);
    await new Promise((resume) => setTimeout(resume));
    signal?.throwIfAborted();
    last = performance.now();
  };
}
