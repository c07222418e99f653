/** Runs systems on data that is known, and measures how far their answers are off. */
import { METHOD_NAMES, METHODS, system, type MethodName, type SystemOptions } from "./systems/index.js";
import { HIERARCHIES } from "./systems/hierarchies.js";
import type { AnswerKind } from "../src/stream/answer/answer.js";
import type { StreamOptions, Tuning } from "../src/stream/options.js";
import { checkChoice, checkInteger } from "../src/core/checks.js";
import { given } from "../src/core/given.js";
import {
  type Errors,
  errorsOver,
  meanAndSd,
  type MeanAndSd,
  median,
  prefixSums,
  randomRanges,
  tile,
} from "./metrics.js";

export type SystemName = "tops" | MethodName;
export const SYSTEM_NAMES: readonly SystemName[] = ["tops", ...METHOD_NAMES];

export interface EvaluateOptions {
  /** The true stream: hold-out first. */
  readonly data: Float64Array;
  /** B. */
  readonly max: number;
  readonly epsilons: readonly number[];
  readonly methods: readonly SystemName[];
  /** Runs per method and ε. Default 10. */
  readonly repeat?: number;
  /** Random ranges per run. Default 200. */
  readonly queries?: number;
  /** Default 65 536. */
  readonly holdout?: number;
  /** Values released after the hold-out, and the longest range. Default 2²⁰. */
  readonly maxRange?: number;
  /** Extend data that is too short by appending it mirrored. Default false: too short is an error. */
  readonly tile?: boolean;
  /** Makes noise and ranges repeatable. */
  readonly seed?: string;
  /** How ranges are answered. Default: what the system does by itself. */
  readonly answer?: AnswerKind;
  /** Passed on to every system. */
  readonly variant?: "default" | "paper";
  /** A public θ for every system; "default", for systems of comparison: chosen by the rule of `privateStream`. */
  readonly threshold?: number | "default";
  /** Passed on to the systems that predict. */
  readonly skipLevels?: NonNullable<Tuning["skipLevels"]>;
  readonly smoother?: Exclude<NonNullable<StreamOptions["smoother"]>, (...args: never[]) => unknown>;
  readonly core?: NonNullable<StreamOptions["core"]>;
}

/** One run of one system. */
export interface Trial {
  readonly method: SystemName;
  readonly epsilon: number;
  readonly run: number;
}

export interface TrialResult extends Errors {
  readonly theta: number;
  /** To take all values, hold-out included. */
  readonly seconds: number;
}

export interface EvaluationRow {
  readonly method: SystemName;
  readonly epsilon: number;
  readonly mse: MeanAndSd;
  readonly mae: MeanAndSd;
  readonly mmse: MeanAndSd;
  readonly mmae: MeanAndSd;
  readonly theta: { readonly min: number; readonly median: number; readonly max: number };
  /** Median over runs. */
  readonly seconds: number;
}

export interface Evaluation {
  readonly settings: Omit<Experiment, "values" | "prefix">;
  readonly results: readonly EvaluationRow[];
}

/** The options with their defaults, and what all runs share. */
export interface Experiment
  extends Omit<Required<EvaluateOptions>, "data" | Optional>, Pick<EvaluateOptions, Optional> {
  /** Hold-out and released values. */
  readonly values: Float64Array;
  /** Sums of the released values as they came, not clamped. */
  readonly prefix: Float64Array;
}
type Optional = "seed" | "answer" | "variant" | "threshold" | "skipLevels" | "smoother" | "core";

/** Checks everything but what the systems check themselves. */
export function prepare(asked: EvaluateOptions): Experiment {
  const options = given(asked) as EvaluateOptions;
  const { data, ...rest } = options;
  const holdout = checkInteger("holdout", options.holdout ?? 65536, 0, 2 ** 32);
  const maxRange = checkInteger("maxRange", options.maxRange ?? 2 ** 20, 2, 2 ** 32);
  const repeat = checkInteger("repeat", options.repeat ?? 10, 1, 10 ** 6);
  const queries = checkInteger("queries", options.queries ?? 200, 1, 10 ** 7);
  for (const method of options.methods) checkChoice("methods", method, SYSTEM_NAMES);
  const needed = holdout + maxRange;
  const tiled = options.tile ?? false;
  if (!tiled && data.length < needed)
    throw new RangeError(
      `data: expected at least holdout + maxRange = ${needed} values, got ${data.length}; lower one of them or ask for tile`,
    );
  const values = data.length < needed ? tile(data, needed) : data.subarray(0, needed);
  const prefix = prefixSums(values.subarray(holdout));
  return given({ ...rest, holdout, maxRange, repeat, queries, tile: tiled, values, prefix }) as Experiment;
}

/** All runs, those of one method and ε together. */
export function trials({ methods, epsilons, repeat }: Experiment): Trial[] {
  return methods.flatMap((method) =>
    epsilons.flatMap((epsilon) => Array.from({ length: repeat }, (_, run) => ({ method, epsilon, run }))),
  );
}

export function runTrial(experiment: Experiment, trial: Trial): TrialResult {
  const { values, prefix, maxRange, queries, seed, answer } = experiment;
  const publisher = system(optionsFor(experiment, trial));
  const start = performance.now();
  publisher.pushMany(values);
  const seconds = (performance.now() - start) / 1000;
  const ranges = randomRanges(`${seed ?? "brume"}, ranges of run ${trial.run}`, maxRange, queries);
  const asked = given({ answer });
  const errors = errorsOver(ranges, prefix, (from, to) => publisher.range(from, to, asked).sum);
  return { ...errors, theta: publisher.statement().threshold ?? NaN, seconds };
}

/** Only what was asked for, and only where it means something. */
function optionsFor(experiment: Experiment, { method, epsilon, run }: Trial): SystemOptions {
  const { max, holdout, maxRange, seed, variant, threshold, skipLevels, smoother, core } = experiment;
  const predicts = method === "tops" || HIERARCHIES[METHODS[method].hierarchy].skips;
  return {
    method,
    epsilon,
    max,
    holdout,
    maxRange,
    ...(seed === undefined ? {} : { unsafeSeed: `${seed}, ${method}, ${epsilon}, run ${run}` }),
    ...given({ variant, threshold, core }),
    ...(predicts ? { ...given({ smoother }), tuning: given({ skipLevels }) } : {}),
    ...(method === "percentile" ? { notPrivate: true } : {}),
  } as SystemOptions; // too many methods for the compiler to try each
}

/** @param results in the order of `trials` */
export function summarise(experiment: Experiment, results: readonly TrialResult[]): Evaluation {
  const { values, prefix, ...settings } = experiment;
  const { repeat, methods, epsilons } = experiment;
  const groups = methods.flatMap((method) => epsilons.map((epsilon) => ({ method, epsilon })));
  return {
    settings,
    results: groups.map(({ method, epsilon }, i) => {
      const runs = results.slice(i * repeat, (i + 1) * repeat);
      const thetas = runs.map(({ theta }) => theta);
      return {
        method,
        epsilon,
        mse: meanAndSd(runs.map(({ mse }) => mse)),
        mae: meanAndSd(runs.map(({ mae }) => mae)),
        mmse: meanAndSd(runs.map(({ mmse }) => mmse)),
        mmae: meanAndSd(runs.map(({ mmae }) => mmae)),
        theta: { min: Math.min(...thetas), median: median(thetas), max: Math.max(...thetas) },
        seconds: median(runs.map(({ seconds }) => seconds)),
      };
    }),
  };
}

/** All runs, one after the other, here. */
export function evaluate(options: EvaluateOptions): Evaluation {
  const experiment = prepare(options);
  return summarise(
    experiment,
    trials(experiment).map((trial) => runTrial(experiment, trial)),
  );
}
