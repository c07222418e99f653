/** Results that are kept: one line of JSON per run, written as soon as it is done, so that work can stop and go on. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { Dataset } from "../data/source.js";
import { given } from "../../src/core/given.js";
import { runInPool, share } from "../pool.js";
import { codeFingerprint } from "./fingerprint.js";
import { effortOf, type Job, type JobResult } from "./job.js";
import { runJob } from "./run.js";

export type Results = (job: Job) => JobResult;

export interface RunOptions {
  /** File of kept results; a run found there under the same parameters, by the same code, is not run again. */
  readonly file: string;
  /** Name of the code that runs. Default: its fingerprint. */
  readonly code?: string;
  /** 0: here, in this thread. Default: one per core. */
  readonly workers?: number;
  /** Told after every run: how many are done, and which share of the work that is, 0 to 1. */
  readonly progress?: (done: number, share: number) => void;
}

export async function runAll(
  jobs: readonly Job[],
  datasets: readonly Dataset[],
  { file, code = codeFingerprint(), workers, progress }: RunOptions,
): Promise<Results> {
  const kept = readKept(file);
  const keyOf = (job: Job) => `${code} ${JSON.stringify(job)}`;
  const missing = [...new Map(jobs.map((job) => [keyOf(job), job]))]
    .filter(([key]) => !kept.has(key))
    .map(([, job]) => job);
  const effort = missing.reduce((sum, job) => sum + effortOf(job), 0);
  let [count, spent] = [0, 0];
  const keep = (result: JobResult, index: number) => {
    const key = keyOf(missing[index]!);
    kept.set(key, result);
    appendFileSync(file, `${JSON.stringify([key, result])}\n`);
    progress?.(++count, (spent += effortOf(missing[index]!)) / effort);
  };
  const values = new Map(datasets.map(({ id, values }) => [id, values]));
  if (workers === 0)
    for (const [index, job] of missing.entries()) keep(await runJob(job, values.get(job.data)!), index);
  else {
    const script = new URL("./worker.js", import.meta.url);
    const workerData = new Map([...values].map(([id, data]) => [id, share(data)]));
    await runInPool(missing, { script, workerData, ...given({ workers }) }, keep);
  }
  return (job) => kept.get(keyOf(job))!;
}

/** A line that was cut off by the end of a process is not a result. */
function readKept(file: string): Map<string, JobResult> {
  const kept = new Map<string, JobResult>();
  if (!existsSync(file)) return kept;
  const text = readFileSync(file, "utf8");
  for (const line of text.split("\n")) {
    try {
      const [key, result] = JSON.parse(line) as [string, JobResult];
      kept.set(key, result);
    } catch {
      continue;
    }
  }
  if (text !== "" && !text.endsWith("\n")) appendFileSync(file, "\n");
  return kept;
}
