/** What following θ needs and no value decides: made once for streams with the same settings. */
import { lastMade } from "../core/lastMade.js";
import { geometricCandidates } from "./choice.js";
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

/** Makes what does not depend on θ before any value comes: tables of noise take a part of a millisecond each. */
export function prepareTables(settings: Settings): void {
  if (settings.follow) followRule(settings);
  if (settings.refine) refiningChoice(settings);
}
