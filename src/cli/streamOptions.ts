/** The options of a stream on the command line, shared by the commands that make one. */
import { given } from "../core/given.js";
import type { StreamOptions } from "../stream/options.js";
import type { CustomSmoother } from "../stream/predict/smoothers/custom.js";
import { PARAMETRIC, PLAIN, type SmootherChoice } from "../stream/predict/smoothers/index.js";
import { type Arguments, type Option, UsageError } from "./command.js";

/** The smoothers as an option names them. */
export const SMOOTHERS = [
  ...Object.keys(PLAIN),
  ...Object.entries(PARAMETRIC).map(([name, { flag }]) => `${name}:${flag}`),
]
  .join(", ")
  .replace(/, ([^,]*)$/, " or $1");

export const STREAM_FLAGS: Readonly<Record<string, Option>> = {
  epsilon: { value: "E", help: "privacy budget ε of the whole release (required)" },
  max: { value: "B", help: "public upper bound of a value (required)" },
  min: { value: "A", help: "public lower bound of a value, if it may be negative (0)" },
  holdout: { value: "M", help: "values that choose θ and are never published (65536)" },
  refine: { help: "choose θ once more from the first published values, for a short --holdout" },
  "max-range": { value: "R", help: "longest range you will ask for, in values (1048576)" },
  resolution: { value: "G", help: "round values to multiples of G (1, finer for small B)" },
  "skip-levels": { value: "S", help: "levels left to prediction: auto, paper or a number (auto)" },
  smoother: {
    value: "S",
    help: `${SMOOTHERS} (shrunk)`,
  },
  threshold: { value: "T", help: "a public θ; no hold-out is needed then (chosen privately)" },
  "unsafe-seed": { value: "S", help: "repeatable and NOT PRIVATE: for tests and papers" },
  paper: { help: "all choices as in the paper" },
};

/** @param epsilon the one of the options, unless another is tried */
export function streamOptions(args: Arguments, epsilon = args.required("epsilon")): StreamOptions {
  const options = {
    min: args.number("min"),
    holdout: args.number("holdout"),
    maxRange: args.number("max-range"),
    tuning: given({
      resolution: args.number("resolution"),
      skipLevels: skipLevelsOf(args),
      refine: args.has("refine") ? true : undefined,
    }),
    smoother: smootherOf(args.text("smoother")),
    threshold: args.number("threshold"),
    unsafeSeed: args.text("unsafe-seed"),
    variant: args.has("paper") ? ("paper" as const) : undefined,
  };
  return { epsilon, max: args.required("max"), ...given(options) };
}

export function skipLevelsOf(args: Arguments): "auto" | "paper" | number | undefined {
  const text = args.text("skip-levels");
  return text === "auto" || text === "paper" ? text : args.number("skip-levels");
}

export function smootherOf(text: string | undefined): Exclude<SmootherChoice, CustomSmoother> | undefined {
  if (text === undefined) return undefined;
  const [name, parameter, ...more] = text.split(":");
  const value = Number(parameter);
  if (parameter === undefined && Object.hasOwn(PLAIN, text)) return text as keyof typeof PLAIN;
  if (more.length === 0 && parameter && !Number.isNaN(value) && Object.hasOwn(PARAMETRIC, name!))
    return { [name!]: value } as Exclude<SmootherChoice, CustomSmoother | string>;
  throw new UsageError(`--smoother: expected ${SMOOTHERS}, got "${text}"`);
}
