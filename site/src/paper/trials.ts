/** Runs of the comparison on one stream: in the page's Workers, and in the script that freezes results. */
import { type EvaluateOptions, type Experiment, prepare, runTrial, type TrialResult } from "brume-research";
import { METHODS } from "./methods.js";

export interface Comparison extends Pick<EvaluateOptions, "max" | "queries" | "seed"> {
  readonly holdout: number;
  readonly maxRange: number;
}

/** One method at one ε, once. */
export interface Run {
  readonly method: string;
  readonly epsilon: number;
  readonly run: number;
}

export class Trials {
  readonly #comparison: Comparison;
  readonly #data: Float64Array;
  readonly #experiments = new Map<string, Experiment>();

  constructor(comparison: Comparison, data: Float64Array) {
    this.#comparison = comparison;
    this.#data = data;
  }

  /**
   * A θ above the public bound would only add noise, so every system gets min(θ, bound): that reads nothing but θ.
   * @returns the errors, and the mean of the true values that are published
   */
  once({ method, epsilon, run }: Run): { result: TrialResult; mean: number } {
    const { system, variant, theta } = METHODS[method]!;
    const { max } = this.#comparison;
    const own = this.#experiment(variant, theta === "rule" ? "default" : undefined, epsilon);
    let result = runTrial(own, { method: system, epsilon, run });
    if (result.theta > max)
      result = runTrial(this.#experiment(variant, max, epsilon), { method: system, epsilon, run });
    return { result, mean: own.prefix[own.maxRange]! / own.maxRange };
  }

  #experiment(
    variant: "default" | "paper",
    threshold: number | "default" | undefined,
    epsilon: number,
  ): Experiment {
    const key = `${variant}, ${threshold}`;
    let experiment = this.#experiments.get(key);
    if (experiment === undefined) {
      experiment = prepare({
        ...this.#comparison,
        data: this.#data,
        variant,
        epsilons: [epsilon],
        methods: [],
        tile: true,
        ...(threshold === undefined ? {} : { threshold }),
      });
      this.#experiments.set(key, experiment);
    }
    return experiment;
  }
}
