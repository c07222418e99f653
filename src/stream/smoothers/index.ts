/** The list of smoothers. Adding one is a file of its own and a line here. */
import { checkInteger, checkPositive, ownOptions, shown } from "../../core/checks.js";
import { exponential } from "./exponential.js";
import { mean } from "./mean.js";
import { median } from "./median.js";
import { moving } from "./moving.js";
import { custom, type CustomSmoother } from "./custom.js";
import { recent } from "./recent.js";
import { shrunk } from "./shrunk.js";
import type { Smoother, SmootherContext } from "./smoother.js";

export type { Smoother, SmootherContext };

/** By name, with its parameter where it has one, or a function of your own. */
export type SmootherChoice =
  | "shrunk"
  | { readonly period: number }
  | "recent"
  | "mean"
  | "median"
  | { readonly moving: number }
  | { readonly exponential: number }
  | CustomSmoother;

const NAMES = ["shrunk", "recent", "mean", "median"] as const;
/** A period has at most this many values: one estimate is kept for every block of it. */
const LONGEST_PERIOD = 2 ** 24;

/** The choice, checked and copied: nothing that happens to the caller's object or to Object.prototype later counts. */
export function checkSmoother(choice: unknown): SmootherChoice {
  const name = NAMES.find((known) => known === choice);
  if (name !== undefined) return name;
  if (typeof choice === "function") return choice as CustomSmoother;
  const given = typeof choice === "object" && choice !== null ? parametersOf(choice) : {};
  const { moving: width, exponential: alpha, period } = given;
  if (width !== undefined) checkInteger("smoother.moving", width, 1, 4096);
  else if (period !== undefined) checkInteger("smoother.period", period, 2, LONGEST_PERIOD);
  else if (alpha === undefined)
    throw new TypeError(
      `smoother: expected "shrunk", "recent", "mean", "median", { period: n }, { moving: w }, { exponential: α } or a function, got ${shown(choice)}`,
    );
  else if (checkPositive("smoother.exponential", alpha) > 1)
    throw new RangeError(`smoother.exponential: expected 0 < α ≤ 1, got ${shown(alpha)}`);
  return given as SmootherChoice;
}

function parametersOf(choice: {
  readonly moving?: unknown;
  readonly exponential?: unknown;
  readonly period?: unknown;
}) {
  return ownOptions("smoother", choice, ["moving", "exponential", "period"]);
}

/** @param choice checked by {@link checkSmoother} */
export function makeSmoother(choice: SmootherChoice, context: SmootherContext): Smoother {
  if (choice === "shrunk") return shrunk(context, 0);
  if (choice === "recent") return recent();
  if (choice === "mean") return mean();
  if (choice === "median") return median();
  if (typeof choice === "function") return custom(choice, context);
  if ("period" in choice) return shrunk(context, choice.period);
  return "moving" in choice ? moving(choice.moving) : exponential(choice.exponential);
}

/** The choice in words, for statements. */
export function smootherName(choice: SmootherChoice): string {
  if (typeof choice === "string") return choice;
  if (typeof choice === "function") return "own function";
  if ("period" in choice) return `shrunk, with a period of ${choice.period} values`;
  return "moving" in choice ? `moving (${choice.moving})` : `exponential (${choice.exponential})`;
}
