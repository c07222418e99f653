/** Evaluates on all cores of a machine. */
import {
  type EvaluateOptions,
  type Evaluation,
  prepare,
  summarise,
  type TrialResult,
  trials,
} from "./evaluate.js";
import { given } from "../src/core/given.js";
import { runInPool, share } from "./pool.js";

export interface WorkerOptions {
  /** Default: one per core. */
  readonly workers?: number;
  /** Told after every run. */
  readonly progress?: (done: number, of: number) => void;
  /** The compiled research/evaluateWorker.ts. */
  readonly script?: URL;
}

export async function evaluateInWorkers(
  options: EvaluateOptions,
  settings: WorkerOptions = {},
): Promise<Evaluation> {
  const { progress, script = new URL("./evaluateWorker.js", import.meta.url), ...pool } = given(settings);
  const experiment = prepare(options);
  const list = trials(experiment);
  const results: TrialResult[] = new Array<TrialResult>(list.length);
  const workerData = { ...options, data: share(experiment.values), tile: false };
  let done = 0;
  await runInPool(list, { ...pool, script, workerData }, (result: TrialResult, index) => {
    results[index] = result;
    progress?.(++done, list.length);
  });
  return summarise(experiment, results);
}
