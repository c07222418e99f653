/** One run of one opponent: how far its answers and its published numbers are off. */
import { type Range, randomRanges } from "../metrics.js";
import type { StreamJob } from "../zoo/run.js";
import { makeOpponent, type OpponentName, type Theta } from "./list.js";

export interface OpponentJob extends StreamJob {
  readonly opponent: OpponentName;
  /** "best": public, and best for this opponent on this stream. "rule": chosen from the hold-out. */
  readonly theta: "best" | "rule";
  /** Whether kept bytes are measured as well, which takes a while. */
  readonly memory: boolean;
}

export interface Stream {
  readonly max: number;
  readonly holdout: number;
  /** Hold-out and published values. */
  readonly values: Float64Array;
  /** Prefix sums of the values after the hold-out. */
  readonly truth: Float64Array;
}

/** Ranges of a run, equal for every opponent: the ratio of two errors is less noisy than either. */
const rangesOf = ({ seed, maxRange, queries }: OpponentJob, run: number): Range[] =>
  randomRanges(`${seed}, ranges of run ${run}`, maxRange, queries);

export function makeFor(
  { opponent, epsilon, max, holdout, maxRange, seed }: OpponentJob,
  theta: Theta,
  run: number,
) {
  const unsafeSeed = `${seed}, ${opponent}, ${epsilon}, run ${run}`;
  return makeOpponent(opponent, theta, { epsilon, max, holdout, maxRange, unsafeSeed });
}

export function trial(job: OpponentJob, { values, truth, holdout }: Stream, theta: Theta, run: number) {
  const system = makeFor(job, theta, run);
  const start = performance.now();
  const published = system.pushMany(values);
  const seconds = (performance.now() - start) / 1000;
  const ranges = rangesOf(job, run);
  const least = truth[truth.length - 1]! / 1000;
  let [mse, relative, perValue] = [0, 0, 0];
  for (const { from, to } of ranges) {
    const exact = truth[to]! - truth[from]!;
    const error = Math.abs(system.range(from, to).sum - exact);
    mse += error ** 2 / ranges.length;
    relative += error / Math.max(exact, least) / ranges.length;
  }
  for (let i = 0; i < published.length; i++)
    perValue += (published[i]! - values[holdout + i]!) ** 2 / published.length;
  return { mse, relative, perValue, seconds, theta: system.statement().threshold ?? 0 };
}
