/** Jobs on all cores of a machine: Node's worker threads, each taking the next job when it is done with one. */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";

export interface PoolOptions {
  /** Default: one per core. */
  readonly workers?: number;
  /** Compiled; posts one result for every job it is sent. */
  readonly script: URL;
  /** Given to every thread once. */
  readonly workerData: unknown;
}

/** @param done told of each result as it comes, in no particular order */
export async function runInPool<Job, Result>(
  jobs: readonly Job[],
  { workers = availableParallelism(), script, workerData }: PoolOptions,
  done: (result: Result, index: number) => void,
): Promise<void> {
  let next = 0;
  const work = (worker: Worker) =>
    new Promise<void>((resolve, reject) => {
      let current = -1;
      const advance = () => {
        if (next >= jobs.length) return resolve();
        current = next++;
        worker.postMessage(jobs[current]);
      };
      worker.on("error", reject);
      worker.on("message", (result: Result) => {
        done(result, current);
        advance();
      });
      advance();
    });
  const pool = Array.from(
    { length: Math.min(workers, jobs.length) },
    () => new Worker(script, { workerData }),
  );
  try {
    await Promise.all(pool.map(work));
  } finally {
    await Promise.all(pool.map((worker) => worker.terminate()));
  }
}

/** A copy that threads can read without copying it again. */
export function share(values: Float64Array): Float64Array {
  const copy = new Float64Array(new SharedArrayBuffer(values.byteLength));
  copy.set(values);
  return copy;
}
