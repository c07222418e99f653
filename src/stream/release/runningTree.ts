/** The tree that runs, and where values lead to (treeSequence.ts). */
import type { Following } from "./follow.js";
import type { Refined, Refining } from "./refining.js";
import type { Epoch } from "./epochs.js";
import type { CountedTree } from "./treeCounts.js";

/** A tree that runs. Never changed: the next tree has the next one. */
export interface RunningTree {
  readonly epoch: Epoch;
  /** `undefined` where θ stays as it is. */
  readonly following: Following | undefined;
  /** Values above it are counted, in units of the stream. */
  readonly limit: number;
  /** Counts of the tree before it. */
  readonly counted?: CountedTree;
  /** Result of the first tree, if θ is chosen once more when it ends. */
  readonly refined?: Refined | undefined;
}

/** Where the next value goes: its block, what that holds already, and what the running tree holds. */
export interface Place {
  readonly block: number;
  /** Values of the block, and their sum. */
  readonly filled: number;
  readonly sum: number;
  /** Values of the tree above the limit, and the sum of its estimates. */
  readonly above: number;
  readonly total: number;
}

/** Where values lead to: the running tree, and how many of its values are above its limit. */
export interface Reached {
  readonly tree: RunningTree;
  readonly above: number;
  /** All epochs up to it, and the counts of all trees before it. */
  readonly list: readonly Epoch[];
  readonly counts: readonly CountedTree[];
  /** Counter of the values of the first tree, if they decide nothing after it. */
  readonly refining: Refining | undefined;
}
