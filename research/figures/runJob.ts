/** A job's result: how far random ranges are off, and means over time where they are asked for. */
import { errorsOver, randomRanges } from "../metrics.js";
import { runCentral } from "./central.js";
import type { Job, JobResult } from "./job.js";
import { runLocal } from "./local.js";
import { streamOf } from "./jobStream.js";

/** @param data the whole data set; data that is too short is continued by its mirror image */
export async function runJob(job: Job, data: Float64Array): Promise<JobResult> {
  const { maxRange, queries, intervals } = job;
  const stream = streamOf(job, data);
  const { theta, sum } =
    job.kind === "central" ? runCentral(job, stream) : await runLocal(job, stream.values);
  const ranges = randomRanges(`${job.seed}, ranges of run ${job.run}`, maxRange, queries);
  const errors = errorsOver(ranges, stream.truth, sum);
  return {
    ...errors,
    theta,
    ...(intervals === undefined ? {} : { means: meansOf(sum, maxRange, intervals) }),
  };
}

/** Means of `intervals` equal parts of 0 … length. */
export function meansOf(
  sum: (from: number, to: number) => number,
  length: number,
  intervals: number,
): number[] {
  const cut = (i: number) => Math.floor((i * length) / intervals);
  return Array.from({ length: intervals }, (_, i) => sum(cut(i), cut(i + 1)) / (cut(i + 1) - cut(i)));
}
