/** Jobs on all cores whose results are kept: one line of JSON per job, written when it is done, so that work can stop and resume. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { given } from "../src/core/given.js";
import { codeFingerprint } from "./figures/fingerprint.js";
import { runInPool } from "./pool.js";

export interface KeptOptions<Job, Result> {
  /** File of kept results; a job found there, done by the same code, is not done again. */
  readonly file: string;
  /** Name of the code that runs. Default: its fingerprint. */
  readonly code?: string;
  /** 0: here, in this thread. Default: one per core. */
  readonly workers?: number;
  /** Told after every job: how many are done, and which share of the work that is, 0 to 1. */
  readonly progress?: (done: number, share: number) => void;
  /** How long a job takes, in no unit: for the time left. */
  readonly effort: (job: Job) => number;
  /** A job in this thread. */
  readonly here: (job: Job) => Result | Promise<Result>;
  /** The compiled script of a thread, and what each thread is given once. */
  readonly script: URL;
  readonly workerData: () => unknown;
}

/** @returns the result of each of these jobs; jobs are plain JSON, and equal JSON is the same job */
export async function runKept<Job, Result>(
  jobs: readonly Job[],
  options: KeptOptions<Job, Result>,
): Promise<(job: Job) => Result> {
  const { file, code = codeFingerprint(), workers, progress, effort: effortOf } = options;
  const kept = readKept<Result>(file);
  const keyOf = (job: Job) => `${code} ${JSON.stringify(job)}`;
  const missing = [...new Map(jobs.map((job) => [keyOf(job), job]))]
    .filter(([key]) => !kept.has(key))
    .map(([, job]) => job);
  const effort = missing.reduce((sum, job) => sum + effortOf(job), 0);
  let [count, spent] = [0, 0];
  const keep = (result: Result, index: number) => {
    const key = keyOf(missing[index]!);
    kept.set(key, result);
    appendFileSync(file, `${JSON.stringify([key, result])}\n`);
    progress?.(++count, (spent += effortOf(missing[index]!)) / effort);
  };
  if (workers === 0) for (const [index, job] of missing.entries()) keep(await options.here(job), index);
  else if (missing.length > 0)
    await runInPool(
      missing,
      { script: options.script, workerData: options.workerData(), ...given({ workers }) },
      keep,
    );
  return (job) => kept.get(keyOf(job))!;
}

/** A line that was cut off by the end of a process is not a result. */
function readKept<Result>(file: string): Map<string, Result> {
  const kept = new Map<string, Result>();
  if (!existsSync(file)) return kept;
  const text = readFileSync(file, "utf8");
  for (const line of text.split("\n")) {
    try {
      const [key, result] = JSON.parse(line) as [string, Result];
      kept.set(key, result);
    } catch {
      continue;
    }
  }
  if (text !== "" && !text.endsWith("\n")) appendFileSync(file, "\n");
  return kept;
}
