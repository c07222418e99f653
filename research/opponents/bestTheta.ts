/**
 * The public θ that is best for one opponent on one stream, known to nobody who has not seen the data: the most that any choice of
 * θ could do for it.
 */
import { prefixSums, randomRanges } from "../metrics.js";
import { makeOpponent, OPPONENTS } from "./list.js";
import { type OpponentJob, type Stream, trial } from "./trial.js";

/** Ranges that θ is judged by; others measure the error. */
const JUDGED = 200;
/** Candidates for θ, each √2 times the next. */
const STEPS = 40;

export function bestTheta(job: OpponentJob, stream: Stream): number {
  return OPPONENTS[job.opponent].additive ? byVariance(job, stream) : byTrial(job, stream);
}

/** Noise of variance V·θ² and what clamping to θ takes away, squared: both are known, so nothing is run. */
function byVariance(job: OpponentJob, stream: Stream): number {
  const variance = unitVariance(job);
  const losses = clampingLosses(job, stream).map(({ theta, loss }) => ({
    theta,
    loss: loss + variance * theta ** 2,
  }));
  return losses.reduce((best, one) => (one.loss < best.loss ? one : best)).theta;
}

/** By stream: what clamping to each candidate takes away from a range, squared, in the mean. */
const clamping = new WeakMap<Stream, { theta: number; loss: number }[]>();

function clampingLosses(job: OpponentJob, stream: Stream): { theta: number; loss: number }[] {
  const kept = clamping.get(stream);
  if (kept !== undefined) return kept;
  const { max, holdout, values, truth } = stream;
  const ranges = randomRanges(`${job.seed}, ranges that judge θ`, job.maxRange, JUDGED);
  const losses: { theta: number; loss: number }[] = [];
  for (let step = 0; step < STEPS; step++) {
    const theta = max * 2 ** (-step / 2);
    if (theta < resolutionOf(max)) break;
    const clamped = prefixSums(values.subarray(holdout).map((value) => Math.min(value, theta)));
    let loss = 0;
    for (const { from, to } of ranges)
      loss += (truth[to]! - truth[from]! - (clamped[to]! - clamped[from]!)) ** 2 / JUDGED;
    losses.push({ theta, loss });
  }
  clamping.set(stream, losses);
  return losses;
}

/** The grid of the default: no θ is below it. */
function resolutionOf(max: number): number {
  let resolution = 1;
  while (max / resolution < 256) resolution /= 2;
  return resolution;
}

/** Variance of a random range for θ = 1, by opponent and ε: the noise scales with θ. */
const variances = new Map<string, number>();

function unitVariance({ opponent, epsilon, maxRange, holdout, seed }: OpponentJob): number {
  const key = `${opponent}, ${epsilon}, ${maxRange}, ${holdout}`;
  let variance = variances.get(key);
  if (variance === undefined) {
    const theta = 1024;
    const system = makeOpponent(opponent, theta, {
      ...{ epsilon, max: theta, holdout, maxRange, unsafeSeed: "variance" },
    });
    system.pushMany(new Float64Array(holdout + maxRange));
    variance = 0;
    for (const { from, to } of randomRanges(`${seed}, ranges that judge θ`, maxRange, JUDGED))
      variance += (system.range(from, to).standardError / theta) ** 2 / JUDGED;
    variances.set(key, variance);
  }
  return variance;
}

/** Quantiles of the values that are tried first, one run each. */
const QUANTILES = [0.5, 0.9, 0.99, 0.999, 1];
/** No number of a run that measures. */
const TRIAL = 1_000_000;

function byTrial(job: OpponentJob, stream: Stream): number {
  if (job.opponent === "zeros") return stream.max; // reads nothing
  const sorted = stream.values.slice(stream.holdout).sort();
  const least = resolutionOf(stream.max);
  const at = (share: number) => sorted[Math.ceil(share * (sorted.length - 1))]!;
  const candidates = new Set([least, ...QUANTILES.map(at).filter((theta) => theta > least)]);
  const tried = (theta: number) => ({ theta, mse: trial(job, stream, theta, TRIAL).mse });
  let best = [...candidates].map(tried).reduce((best, one) => (one.mse < best.mse ? one : best));
  // From there in steps of √2, up and down, as long as the error falls.
  for (const factor of [Math.SQRT2, Math.SQRT1_2])
    for (let theta = best.theta * factor; theta >= least && theta <= stream.max; theta *= factor) {
      const one = tried(theta);
      if (one.mse >= best.mse) break;
      best = one;
    }
  return best.theta;
}
