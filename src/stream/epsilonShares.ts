/** How the ε of a tree is shared: by its nodes, the count of following (follow.ts) and a second choice of θ (refining.ts). */
import { COUNT_SHARE } from "./release/follow.js";
import type { PrivacySettings } from "./options.js";
import { REFINE_SHARE } from "./release/refining.js";
import { WHOLE } from "./release/epochs.js";

/** How many 32nds of ε the nodes of a tree have. */
export const nodeShare = ({ follow }: Pick<PrivacySettings, "follow">): number =>
  follow ? WHOLE - COUNT_SHARE : WHOLE;

/** Parts of ε for the nodes of the first tree, which may leave a share to the second choice of θ. */
export const firstShare = (privacy: Pick<PrivacySettings, "follow" | "refine">): number =>
  nodeShare(privacy) - (privacy.refine ? REFINE_SHARE : 0);

/** The share of ε that the nodes of a tree have. @param share how many 32nds */
export const nodeEpsilon = (
  privacy: Pick<PrivacySettings, "follow" | "epsilon">,
  share = nodeShare(privacy),
): number => (privacy.epsilon * share) / WHOLE;

/** Smallest ε for which sums must stay exact: the whole ε, or that of the first tree if it has far less. */
export const leastEpsilon = (privacy: Pick<PrivacySettings, "follow" | "refine" | "epsilon">): number =>
  privacy.refine ? nodeEpsilon(privacy, firstShare(privacy)) : privacy.epsilon;
