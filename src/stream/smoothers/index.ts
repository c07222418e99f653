/** The list of smoothers. Adding one is a file of its own and a line here. */
import { checkInteger, checkPositive, ownOptions, shown } from "../../core/checks.js";
import { exponential } from "./exponential.js";
import { mean } from "./mean.js";
import { median } from "./median.js";
import { moving } from "./moving.js";
import { custom, type CustomSmoother } from "./custom.js";
import { recent } from "./recent.js";
import type { Smoother } from "./smoother.js";

export type { Smoother };

/** By name, with its parameter where it has one, or a function of your own. */
export type SmootherChoice =
  | "recent"
  | "mean"
  | "median"
  | { readonly moving: number }
  | { readonly exponential: number }
  | CustomSmoother;

/** The choice, checked and copied: nothing that happens to the caller's object or to Object.prototype later counts. */
export function checkSmoother(choice: unknown): SmootherChoice {
  if (choice === "recent" || choice === "mean" || choice === "median") return choice;
  if (typeof choice === "function") return choice as CustomSmoother;
  const given = typeof choice === "object" && choice !== null ? parametersOf(choice) : {};
  const { moving: width, exponential: alpha } = given;
  if (width !== undefined) checkInteger("smoother.moving", width, 1, 4096);
  else if (alpha === undefined)
    throw new TypeError(
      `smoother: expected "recent", "mean", "median", { moving: w }, { exponential: α } or a function, got ${shown(choice)}`,
    );
  else if (checkPositive("smoother.exponential", alpha) > 1)
    throw new RangeError(`smoother.exponential: expected 0 < α ≤ 1, got ${shown(alpha)}`);
  return given as SmootherChoice;
}

function parametersOf(choice: { readonly moving?: unknown; readonly exponential?: unknown }) {
  return ownOptions("smoother", choice, ["moving", "exponential"]);
}

/**
 * @param choice checked by {@link checkSmoother}
 * @param unit what turns a block sum in grid units into a mean in units of the stream
 */
export function makeSmoother(choice: SmootherChoice, unit: number): Smoother {
  if (choice === "recent") return recent();
  if (choice === "mean") return mean();
  if (choice === "median") return median();
  if (typeof choice === "function") return custom(choice, unit);
  return "moving" in choice ? moving(choice.moving) : exponential(choice.exponential);
}

/** The choice in words, for statements. */
export function smootherName(choice: SmootherChoice): string {
  if (typeof choice === "string") return choice;
  if (typeof choice === "function") return "own function";
  return "moving" in choice ? `moving (${choice.moving})` : `exponential (${choice.exponential})`;
}
