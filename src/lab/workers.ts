/** The same evaluation on all cores of a machine: Node's worker threads, each taking the next run. */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import {
  type EvaluateOptions,
  type Evaluation,
  prepare,
  summarise,
  type Trial,
  type TrialResult,
  trials,
} from "./evaluate.js";

export interface WorkerOptions {
  /** Default: one per core. */
  readonly workers?: number;
  /** Told after every run. */
  readonly progress?: (done: number, of: number) => void;
  /** The compiled src/lab/worker.ts. */
  readonly script?: URL;
}

export async function evaluateInWorkers(
  options: EvaluateOptions,
  settings: WorkerOptions = {},
): Promise<Evaluation> {
  const {
    workers = availableParallelism(),
    progress,
    script = new URL("./worker.js", import.meta.url),
  } = settings;
  const experiment = prepare(options);
  const list = trials(experiment);
  const results: TrialResult[] = new Array<TrialResult>(list.length);
  const shared = { ...options, data: share(experiment.values), tile: false };
  let next = 0;
  let done = 0;

  const work = (worker: Worker) =>
    new Promise<void>((resolve, reject) => {
      let current = -1;
      const advance = () => {
        if (next >= list.length) return resolve();
        current = next++;
        worker.postMessage(list[current] satisfies Trial | undefined);
      };
      worker.on("error", reject);
      worker.on("message", (result: TrialResult) => {
        results[current] = result;
        progress?.(++done, list.length);
        advance();
      });
      advance();
    });

  const pool = Array.from(
    { length: Math.min(workers, list.length) },
    () => new Worker(script, { workerData: shared }),
  );
  try {
    await Promise.all(pool.map(work));
  } finally {
    await Promise.all(pool.map((worker) => worker.terminate()));
  }
  return summarise(experiment, results);
}

/** A copy that threads can read without copying it again. */
function share(values: Float64Array): Float64Array {
  const copy = new Float64Array(new SharedArrayBuffer(values.byteLength));
  copy.set(values);
  return copy;
}
