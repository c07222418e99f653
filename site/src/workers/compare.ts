/** One of the Workers behind "Compare": has the data, takes one run at a time. */
import {
  type EvaluateOptions,
  type Experiment,
  prepare,
  runTrial,
  type TrialResult,
} from "../../../research/evaluate.js";
import { exampleStream } from "brume/research";
import { METHODS } from "../methods.js";
import type { Source } from "./protocol.js";

export interface Comparison extends Pick<EvaluateOptions, "max" | "queries" | "seed" | "skipLevels"> {
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
export type FromCompare = { readonly run: Run; readonly result: TrialResult } | { readonly failed: string };

let comparison: Comparison | undefined;
let data: Float64Array | undefined;
const experiments = new Map<string, Experiment>();

addEventListener("message", ({ data: message }: MessageEvent<ToCompare>) => {
  try {
    if ("begin" in message) begin(message.begin);
    else postMessage({ run: message.run, result: runOnce(message.run) } satisfies FromCompare);
  } catch (error) {
    postMessage({ failed: (error as Error).message } satisfies FromCompare);
  }
});

function begin(asked: Comparison): void {
  comparison = asked;
  data = asked.source.kind === "example" ? exampleStream(asked.source.seed) : asked.source.values;
}

function runOnce({ method, epsilon, run }: Run): TrialResult {
  const { system, variant } = METHODS[method]!;
  let experiment = experiments.get(variant);
  if (experiment === undefined) {
    const { source: _, ...options } = comparison!;
    experiment = prepare({
      ...options,
      data: data!,
      variant,
      epsilons: [epsilon],
      methods: [system],
      tile: true,
    });
    experiments.set(variant, experiment);
  }
  return runTrial(experiment, { method: system, epsilon, run });
}
