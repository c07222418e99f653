/** Tables for following θ, which no value decides: made once for streams with the same settings. */
import { lastMade } from "../../core/lastMade.js";
import type { Core } from "../../core/core.js";
import { choiceTables, geometricCandidates } from "../holdout/choice.js";
import { type FollowRule, makeFollowRule } from "./follow.js";
import { candidateGrid } from "../grid.js";
import type { Settings } from "../options.js";
import { refiningChoice } from "./refining.js";

const ruleFor = lastMade((epsilon: number, largest: number, step: number) =>
  makeFollowRule(epsilon, geometricCandidates(largest, step)),
);

export function followRule(settings: Settings): FollowRule {
  const { largest, step } = candidateGrid(settings.grid);
  return ruleFor(settings.privacy.epsilon, largest, step);
}

/** The largest Θ that a tree may have. */
export const largestTheta = (settings: Settings, first: number): number =>
  settings.privacy.follow ? candidateGrid(settings.grid).largest : first;

/** Makes tables of noise that do not depend on θ before any value comes: they take a part of a millisecond each. */
export function prepareTables(settings: Settings, core: Core): void {
  if (settings.privacy.follow) followRule(settings).scale.words(core.fillDigit);
  if (settings.privacy.refine) choiceTables(refiningChoice(settings), core);
}
