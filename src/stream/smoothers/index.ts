/** The list of smoothers. Adding one is a file of its own and a line here. */
import { checkInteger, checkPositive } from "../../core/checks.js";
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

/** @param unit what turns a block sum in grid units into a mean in units of the stream */
export function makeSmoother(choice: SmootherChoice, unit: number): Smoother {
  if (choice === "recent") return recent();
  if (choice === "mean") return mean();
  if (choice === "median") return median();
  if (typeof choice === "function") return custom(choice, unit);
  if (typeof choice === "object" && choice !== null && "moving" in choice)
    return moving(checkInteger("smoother.moving", choice.moving, 1, 4096));
  if (typeof choice === "object" && choice !== null && "exponential" in choice) {
    const alpha = checkPositive("smoother.exponential", choice.exponential);
    if (alpha > 1) throw new RangeError(`smoother.exponential: expected 0 < α ≤ 1, got ${alpha}`);
    return exponential(alpha);
  }
  throw new TypeError(
    `smoother: expected "recent", "mean", "median", { moving: w }, { exponential: α } or a function, got ${JSON.stringify(choice)}`,
  );
}

/** The choice in words, for accounts. */
export function smootherName(choice: SmootherChoice): string {
  if (typeof choice === "string") return choice;
  if (typeof choice === "function") return "own function";
  return "moving" in choice ? `moving (${choice.moving})` : `exponential (${choice.exponential})`;
}
