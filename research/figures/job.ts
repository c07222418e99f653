/** One run of one system on one data set: everything that decides its result, as JSON, so that results can be kept by it. */
import type { MethodName } from "../systems/index.js";
import type { AnswerKind } from "../../src/stream/answer/answer.js";
import type { SkipRule } from "../../src/stream/levels.js";
import type { Errors } from "../metrics.js";

interface AnyJob {
  /** `Dataset.id`. */
  readonly data: string;
  /** B. */
  readonly max: number;
  readonly seed: string;
  readonly run: number;
  readonly queries: number;
  /** m: values before the first one released. */
  readonly holdout: number;
  /** r: values released, and the longest range. */
  readonly maxRange: number;
  /** Also give the means of this many equal intervals. */
  readonly intervals?: number;
}

export interface CentralJob extends AnyJob {
  readonly kind: "central";
  readonly method: "tops" | MethodName;
  readonly epsilon: number;
  readonly variant: "default" | "paper";
  /** As the paper measures, or as we answer. */
  readonly answer: AnswerKind;
  readonly skipLevels?: SkipRule;
  readonly smoother?:
    "recent" | "mean" | "median" | { readonly moving: number } | { readonly exponential: number };
  /** A public θ. */
  readonly threshold?: number;
  /** A rule with an ε of its own chooses θ. */
  readonly rule?: Rule;
  /** Values are cut to this beforehand, truth included. */
  readonly clamp?: number;
}

/** Reads the hold-out; without one, the released values themselves (for study: that is not private). */
export type Rule =
  | { readonly name: "nm-e"; readonly epsilon: number; readonly noise: "laplace" | "exponential" }
  | { readonly name: "s-p" | "s-pak"; readonly epsilon: number }
  | { readonly name: "percentile"; readonly percentile: number };

export type LocalMethod = "SW" | "SW-W" | "default";

export interface LocalJob extends AnyJob {
  readonly kind: "local";
  readonly method: LocalMethod;
  /** ε of the reports that find θ, and of those that are released. */
  readonly learnEpsilon: number;
  readonly epsilon: number;
}

export type Job = CentralJob | LocalJob;

export interface JobResult extends Errors {
  readonly theta: number;
  /** Means of the released stream, one per interval. */
  readonly means?: readonly number[];
}

/** Methods with a noisy node for every value at least, by how much longer a run takes than one of ToPS. */
const EFFORT: Partial<Record<CentralJob["method"], number>> = {
  h2: 8,
  pak: 8,
  "nm-e+h2": 8,
  h16: 5,
  hc16: 5,
};

/** How long a job takes, roughly and in no unit: for the time left. */
export function effortOf(job: Job): number {
  return job.maxRange * (job.kind === "local" ? 10 : (EFFORT[job.method] ?? 1));
}
