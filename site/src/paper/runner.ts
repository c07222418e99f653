/** Runs a comparison in a few Workers and collects its rows. */
import type { TrialResult } from "brume-research";
import type { FromCompare, ToCompare } from "../workers/compare.js";
import type { Source } from "../workers/protocol.js";
import type { Comparison, Run } from "./trials.js";

/** One method at one ε, over all its runs. */
export interface Row {
  readonly method: string;
  readonly epsilon: number;
  readonly runs: number;
  readonly mse: number;
  readonly mae: number;
  /** Mean error of a range's mean, as a share of the mean value. */
  readonly relative: number;
  /** Half a 95 % interval of `mse` and of `relative`. */
  readonly mseError: number;
  readonly relativeError: number;
  readonly theta: number;
  readonly seconds: number;
}

export interface RunnerEvents {
  row(row: Row): void;
  progress(done: number, of: number): void;
  failed(message: string): void;
}

const MOST_WORKERS = 4;

export class Runner {
  readonly #events: RunnerEvents;
  #workers: Worker[] = [];
  #queue: Run[] = [];
  #results = new Map<string, TrialResult[]>();
  #done = 0;
  #of = 0;

  constructor(events: RunnerEvents) {
    this.#events = events;
  }

  /** ε by ε, so that all curves grow together and a stopped comparison still shows every method. */
  start(
    comparison: Comparison,
    source: Source,
    methods: readonly string[],
    epsilons: readonly number[],
    repeat: number,
  ): void {
    this.stop();
    for (const epsilon of epsilons)
      for (const method of methods)
        for (let run = 0; run < repeat; run++) this.#queue.push({ method, epsilon, run });
    this.#of = this.#queue.length;
    const workers = Math.min(MOST_WORKERS, Math.max(1, navigator.hardwareConcurrency - 1), this.#of);
    for (let i = 0; i < workers; i++) this.#startWorker({ begin: comparison, source }, repeat);
    this.#events.progress(0, this.#of);
  }

  stop(): void {
    for (const worker of this.#workers) worker.terminate();
    this.#workers = [];
    this.#queue = [];
    this.#results = new Map();
    this.#done = 0;
  }

  #startWorker(begin: ToCompare, repeat: number): void {
    const worker = new Worker(new URL("../workers/compare.ts", import.meta.url), { type: "module" });
    const tell = (message: ToCompare) => worker.postMessage(message);
    const next = () => {
      const run = this.#queue.shift();
      if (run !== undefined) tell({ run });
    };
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.stop();
      this.#events.failed("The comparison could not be loaded. Run it again.");
    });
    worker.addEventListener("message", ({ data }: MessageEvent<FromCompare>) => {
      if ("failed" in data) {
        this.stop();
        return this.#events.failed(data.failed);
      }
      this.#take(data.run, data.result, data.mean, repeat);
      next();
    });
    this.#workers.push(worker);
    tell(begin);
    next();
  }

  #take({ method, epsilon }: Run, result: TrialResult, mean: number, repeat: number): void {
    const key = `${method} ${epsilon}`;
    const runs = [...(this.#results.get(key) ?? []), result];
    this.#results.set(key, runs);
    this.#done++;
    if (runs.length === repeat) this.#events.row(rowOf(method, epsilon, runs, mean));
    this.#events.progress(this.#done, this.#of);
  }
}

/** @param mean of the true values that are published */
export function rowOf(method: string, epsilon: number, runs: readonly TrialResult[], mean: number): Row {
  const mse = spreadOf(runs.map((run) => run.mse));
  const relative = spreadOf(runs.map((run) => run.mmae / (mean || 1)));
  return {
    method,
    epsilon,
    runs: runs.length,
    mse: mse.mean,
    mseError: mse.error,
    relative: relative.mean,
    relativeError: relative.error,
    mae: spreadOf(runs.map((run) => run.mae)).mean,
    theta: median(runs.map((run) => run.theta)),
    seconds: median(runs.map((run) => run.seconds)),
  };
}

/** Quantiles 0.975 of Student's t, by degrees of freedom from 1 on. */
const STUDENT = [
  12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145,
];
/** Their limit, with what is left of it at that many degrees of freedom. */
const student = (degrees: number): number => STUDENT[degrees - 1] ?? 1.96 + 2.6 / degrees;

/** Mean, and half the width of its 95 % interval, of two numbers or more. */
export function spreadOf(numbers: readonly number[]): { mean: number; error: number } {
  const mean = numbers.reduce((a, b) => a + b) / numbers.length;
  const degrees = numbers.length - 1;
  const variance = numbers.reduce((sum, x) => sum + (x - mean) ** 2, 0) / degrees;
  return { mean, error: student(degrees) * Math.sqrt(variance / numbers.length) };
}

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[numbers.length >> 1]!;
