/** Runs of one system on one stream at one ε: how far random ranges are off, and how often intervals hold the truth. */
import { prefixSums, randomRanges } from "../metrics.js";
import { valueStream } from "../../src/stream/holdoutStream.js";
import type { Statement } from "../../src/stream/statement.js";
import { quantise } from "../../src/core/quantise.js";

/** "still" is the default with a θ that does not follow the stream. */
export type ZooSystem = "default" | "paper" | "still";

/** Input of every measurement on one stream at one ε. */
export interface StreamJob {
  /** Version of the zoo, or for a file the digest of its values. */
  readonly data: string | number;
  readonly stream: string;
  readonly max: number;
  readonly epsilon: number;
  readonly seed: string;
  readonly runs: number;
  readonly queries: number;
  readonly holdout: number;
  readonly maxRange: number;
}

export interface ZooJob extends StreamJob {
  readonly system: ZooSystem;
}

/** One entry per run. */
export interface ZooResult {
  /** Mean squared error of the system's own answers to random ranges, and of sums of what was published. */
  readonly answers: readonly number[];
  readonly published: readonly number[];
  readonly theta: readonly number[];
  /** How often θ changed. */
  readonly changes: readonly number[];
  readonly skipLevels: readonly number[];
  /** Share of 95 % intervals that hold the sum of the values clamped to θ, and the true sum. */
  readonly clampedCoverage: readonly number[];
  readonly trueCoverage: readonly number[];
  /** Share of ranges in which what clamping hides lies in its interval; 0 where a system gives none. */
  readonly hiddenCoverage: readonly number[];
}

export type ValuesOf = (stream: string, length: number) => Float64Array;

/** Sums before each position: of values clamped to the θ of their time and on the grid, and of what they had above it. */
interface Clamped {
  readonly cut: Float64Array;
  readonly hidden: Float64Array;
}
type ClampedSums = (statement: Pick<Statement, "thresholds" | "resolution">) => Clamped;

/** Runs a job; the last stream and the sums over it are kept for the jobs that follow. */
export function zooRunner(valuesOf: ValuesOf): (job: ZooJob) => ZooResult {
  let last: { key: string; values: Float64Array; truth: Float64Array; clamped: Map<string, Clamped> };
  return (job) => {
    const { stream, holdout, maxRange, runs } = job;
    const key = `${stream}, ${holdout}, ${maxRange}`;
    if (last?.key !== key) {
      const values = valuesOf(stream, holdout + maxRange);
      last = { key, values, truth: prefixSums(values.subarray(holdout)), clamped: new Map() };
    }
    const { values, truth, clamped } = last;
    const clampedSums: ClampedSums = ({ thresholds, resolution }) => {
      const name = JSON.stringify(thresholds);
      let sums = clamped.get(name);
      if (sums === undefined) {
        if (clamped.size > 20) clamped.clear(); // 16 MiB each
        let next = 0;
        const thetas = values.subarray(holdout).map((_, i) => {
          if (thresholds[next + 1] !== undefined && thresholds[next + 1]!.from <= i) next++;
          return thresholds[next]!.threshold;
        });
        const cut = thetas.map((theta, i) => quantise(values[holdout + i]!, theta, resolution) * resolution);
        const hidden = thetas.map((theta, i) => Math.max(0, values[holdout + i]! - theta));
        clamped.set(name, (sums = { cut: prefixSums(cut), hidden: prefixSums(hidden) }));
      }
      return sums;
    };
    const all = Array.from({ length: runs }, (_, run) => oneRun(job, run, values, truth, clampedSums));
    const column = (k: number) => all.map((row) => row[k]!);
    return {
      answers: column(0),
      published: column(1),
      theta: column(2),
      changes: column(3),
      skipLevels: column(4),
      clampedCoverage: column(5),
      trueCoverage: column(6),
      hiddenCoverage: column(7),
    };
  };
}

function oneRun(
  { system, epsilon, max, seed, queries, holdout, maxRange }: ZooJob,
  run: number,
  values: Float64Array,
  truth: Float64Array,
  clampedSums: ClampedSums,
): number[] {
  // Following or not, the same seed: both have the same hold-out, and their ratio shows what following does.
  const unsafeSeed = `${seed}, ${system === "still" ? "default" : system}, ${epsilon}, run ${run}`;
  const stream = valueStream({
    ...{ epsilon, max, holdout, maxRange, unsafeSeed },
    ...(system === "still" ? { tuning: { follow: false } } : { variant: system }),
  });
  stream.pushMany(values);
  const statement = stream.statement();
  const { threshold, thresholds, skipLevels } = statement;
  const clamped = clampedSums(statement);
  let [answers, published, inClamped, inTrue, inHidden] = [0, 0, 0, 0, 0];
  // The same ranges for every system: their ratio is less noisy than either error.
  for (const { from, to } of randomRanges(`${seed}, ranges of run ${run}`, maxRange, queries)) {
    const exact = truth[to]! - truth[from]!;
    const { sum, low, high, hidden } = stream.range(from, to);
    answers += (sum - exact) ** 2 / queries;
    published += (stream.range(from, to, { answer: "published" }).sum - exact) ** 2 / queries;
    const cut = clamped.cut[to]! - clamped.cut[from]!;
    const took = clamped.hidden[to]! - clamped.hidden[from]!;
    inClamped += Number(low <= cut && cut <= high) / queries;
    inTrue += Number(low <= exact && exact <= high) / queries;
    if (hidden !== undefined) inHidden += Number(hidden.low <= took && took <= hidden.high) / queries;
  }
  return [answers, published, threshold!, thresholds.length - 1, skipLevels, inClamped, inTrue, inHidden];
}
