/** The jobs of the figures, on their data sets. */
import type { Dataset } from "../data/source.js";
import { type KeptOptions, runKept } from "../kept.js";
import { share } from "../pool.js";
import { effortOf, type Job, type JobResult } from "./job.js";
import { runJob } from "./runJob.js";

export type Results = (job: Job) => JobResult;

export interface RunOptions extends Pick<
  KeptOptions<Job, JobResult>,
  "file" | "code" | "workers" | "progress"
> {
  /** The compiled jobWorker.ts. Default: the file beside this one. */
  readonly script?: URL;
}

export function runAll(
  jobs: readonly Job[],
  datasets: readonly Dataset[],
  options: RunOptions,
): Promise<Results> {
  const values = new Map(datasets.map(({ id, values }) => [id, values]));
  const { script = new URL("./jobWorker.js", import.meta.url) } = options;
  return runKept(jobs, {
    ...options,
    effort: effortOf,
    here: (job) => runJob(job, values.get(job.data)!),
    script,
    workerData: () => new Map([...values].map(([id, data]) => [id, share(data)])),
  });
}
