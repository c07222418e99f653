/** One of the Workers behind the comparison: has the data, takes one run at a time. */
import {
  type EvaluateOptions,
  exampleStream,
  type Experiment,
  prepare,
  runTrial,
  type TrialResult,
} from "brume/research";
import { METHODS } from "../paper/methods.js";
import type { Source } from "./protocol.js";

export interface Comparison extends Pick<EvaluateOptions, "max" | "queries" | "seed"> {
  readonly source: Source;
  readonly holdout: number;
  readonly maxRange: number;
}

/** One method at one ε, once. */
export interface Run {
  readonly method: string;
  readonly epsilon: number;
  readonly run: number;
}

export type ToCompare = { readonly begin: Comparison } | { readonly run: Run };
export type FromCompare =
  /** @param mean of the true values that are published */
  { readonly run: Run; readonly result: TrialResult; readonly mean: number } | { readonly failed: string };

let comparison: Comparison | undefined;
let data: Float64Array | undefined;
const experiments = new Map<string, Experiment>();

addEventListener("message", ({ data: message }: MessageEvent<ToCompare>) => {
  try {
    if ("begin" in message) begin(message.begin);
    else postMessage(runOnce(message.run) satisfies FromCompare);
  } catch (error) {
    postMessage({ failed: (error as Error).message } satisfies FromCompare);
  }
});

function begin(asked: Comparison): void {
  comparison = asked;
  data = asked.source.kind === "example" ? exampleStream(asked.source.seed) : asked.source.values;
}

function runOnce(run: Run): FromCompare {
  const { system, variant, theta } = METHODS[run.method]!;
  let experiment = experiments.get(`${variant}, ${theta}`);
  if (experiment === undefined) {
    const { source: _, ...options } = comparison!;
    experiment = prepare({
      ...options,
      data: data!,
      variant,
      epsilons: [run.epsilon],
      methods: [system],
      tile: true,
      ...(theta === "rule" ? { threshold: "default" } : {}),
    });
    experiments.set(`${variant}, ${theta}`, experiment);
  }
  const result = runTrial(experiment, { method: system, epsilon: run.epsilon, run: run.run });
  return { run, result, mean: experiment.prefix[experiment.maxRange]! / experiment.maxRange };
}
