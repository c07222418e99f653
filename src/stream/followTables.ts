/** What following θ needs and no value decides: made once for streams with the same settings. */
import { lastMade } from "../core/lastMade.js";
import type { Core } from "../core/core.js";
import { choiceTables, geometricCandidates } from "./choice.js";
import { type FollowRule, makeFollowRule } from "./follow.js";
import type { Settings } from "./options.js";
import { refiningChoice } from "./refine.js";

const ruleFor = lastMade((epsilon: number, largest: number) =>
  makeFollowRule(epsilon, geometricCandidates(largest)),
);

const largestOf = ({ max, resolution }: Settings): number => Math.floor(max / resolution);

export const followRule = (settings: Settings): FollowRule => ruleFor(settings.epsilon, largestOf(settings));

/** The largest Θ that a tree may have. */
export const largestTheta = (settings: Settings, first: number): number =>
  settings.follow ? largestOf(settings) : first;

/** Makes tables of noise that do not depend on θ before any value comes: they take a part of a millisecond each. */
export function prepareTables(settings: Settings, core: Core): void {
  if (settings.follow) followRule(settings).scale.words(core.fillDigit);
  if (settings.refine) choiceTables(refiningChoice(settings), core);
}
