/** One opponent on one stream at one ε: runs, and how far its answers and published numbers are off. */
import type { System } from "../../src/stream/system.js";
import { prefixSums } from "../metrics.js";
import type { ValuesOf } from "../zoo/run.js";
import { bestTheta } from "./bestTheta.js";
import type { Theta } from "./list.js";
import { keptBytes } from "./memory.js";
import { makeFor, type OpponentJob, type Stream, trial } from "./trial.js";

/** One entry per run. */
export interface OpponentResult {
  /** Mean squared error of random ranges. */
  readonly mse: readonly number[];
  /** Mean of |error|/max(true sum, a thousandth of the sum of all values). */
  readonly relative: readonly number[];
  /** Mean squared difference between a published number and its value. */
  readonly perValue: readonly number[];
  readonly theta: readonly number[];
  /** To take all values. */
  readonly seconds: readonly number[];
  /** Bytes that are kept after the last value, what ranges need included; null where it was not measured. */
  readonly memory: number | null;
}

/** Runs a job; the last stream is kept for the jobs that follow. */
export function opponentRunner(valuesOf: ValuesOf): (job: OpponentJob) => OpponentResult {
  let last: (Stream & { key: string }) | undefined;
  return (job) => {
    const { stream, max, holdout, maxRange } = job;
    const key = `${job.data}, ${stream}, ${holdout}, ${maxRange}`;
    if (last?.key !== key) {
      const values = valuesOf(stream, holdout + maxRange);
      last = { key, max, holdout, values, truth: prefixSums(values.subarray(holdout)) };
    }
    const theta = job.theta === "rule" ? "rule" : bestTheta(job, last);
    const all = Array.from({ length: job.runs }, (_, run) => trial(job, last!, theta, run));
    return {
      mse: all.map(({ mse }) => mse),
      relative: all.map(({ relative }) => relative),
      perValue: all.map(({ perValue }) => perValue),
      theta: all.map(({ theta }) => theta),
      seconds: all.map(({ seconds }) => seconds),
      memory: job.memory ? keptBytes(() => filled(job, last!, theta)) : null,
    };
  };
}

/** A system after all values. */
function filled(job: OpponentJob, { values }: Stream, theta: Theta): System {
  const system = makeFor(job, theta, 0);
  system.pushMany(values);
  return system;
}
