/** How the ε of a tree is shared: by its nodes, the count of following (follow.ts) and a second choice of θ (refine.ts). */
import { COUNT_PARTS } from "./follow.js";
import type { Settings } from "./options.js";
import { REFINE_PARTS } from "./refine.js";
import { ALL_PARTS } from "./epochs.js";

/** How many 32nds of ε the nodes of a tree have. */
export const nodeParts = ({ follow }: Pick<Settings, "follow">): number =>
  follow ? ALL_PARTS - COUNT_PARTS : ALL_PARTS;

/** Parts of ε for the nodes of the first tree, which may leave a share to the second choice of θ. */
export const firstParts = (settings: Pick<Settings, "follow" | "refine">): number =>
  nodeParts(settings) - (settings.refine ? REFINE_PARTS : 0);

/** The share of ε that the nodes of a tree have. @param parts how many 32nds */
export const nodeEpsilon = (
  settings: Pick<Settings, "follow" | "epsilon">,
  parts = nodeParts(settings),
): number => (settings.epsilon * parts) / ALL_PARTS;

/** Smallest ε for which sums must stay exact: the whole ε, or that of the first tree if it has far less. */
export const leastEpsilon = (settings: Pick<Settings, "follow" | "refine" | "epsilon">): number =>
  settings.refine ? nodeEpsilon(settings, firstParts(settings)) : settings.epsilon;
