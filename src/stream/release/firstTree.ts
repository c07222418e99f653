/**
 * When the first tree of noise is drawn. Its first estimate needs the noise of all its nodes, and the scale of that noise
 * is known only with θ. Where θ or the first prediction comes out of a hold-out, and a tree is so large that the first push
 * after it would wait, nobody reads the last held-out values: a part of the tree is drawn with each of them.
 */
import { nodeCount } from "../../core/tree.js";
import { mostSlices } from "../../core/treeSlices.js";
import { HUGE } from "./trees.js";
import type { Settings } from "../options.js";

/** Slices that are drawn with one value; with the first one, which makes room, no other. */
export const SLICES_PER_VALUE = 4;
export const slicesDue = (values: number): number => Math.max(0, SLICES_PER_VALUE * (values - 1) + 1);
/** At most one held-out value in so many is left unread for this. */
const SHARE = 4;
/** Held-out values that are read at least: one for every purpose that the default has for them (thresholdCounts.ts). */
export const LEAST_HOLDOUT = 16;

/** The settings that decide how long the first tree is drawn. */
type Drawing = Pick<Settings, "tree" | "holdout">;

/** m: values that come before the first one published. */
export const heldOut = ({
  holdout: { choosing, probing, warming, idle },
}: Pick<Settings, "holdout">): number => choosing + probing + warming + idle;

/**
 * How many values of the hold-out pass while the first tree is drawn: 0 if that takes no time, or nothing is held out. A
 * hold-out too short for the whole tree leaves the rest to the first value after it.
 */
export function drawingValues(settings: Drawing): number {
  const { fanout } = settings.tree;
  const levels = mostLevels(settings);
  if (nodeCount(fanout, levels) <= HUGE) return 0;
  const needed = Math.ceil((mostSlices(fanout, levels) + 1) / SLICES_PER_VALUE);
  const held = heldOut(settings);
  return Math.min(needed, Math.floor(held / SHARE), Math.max(0, held - LEAST_HOLDOUT));
}

/** Slices of a tree that are drawn in the push that decides its scale, the one that makes room among them. */
export const slicesSoon = ({ tree: { fanout, levels } }: Drawing): number =>
  nodeCount(fanout, levels) > HUGE ? 0 : 3;

/** A probe may decide for one level more. */
const mostLevels = ({ tree: { levels }, holdout: { probing } }: Drawing): number =>
  probing > 0 ? levels + 1 : levels;

/** Settings with as many idle values at the end of the hold-out as the first tree needs. */
export function withDrawing(settings: Settings): Settings {
  const drawing = drawingValues(settings);
  const { holdout } = settings;
  const more = Math.max(0, drawing - holdout.idle);
  const from = holdout.choosing > 0 ? "choosing" : "warming";
  if (more === 0) return settings;
  return { ...settings, holdout: { ...holdout, [from]: holdout[from] - more, idle: drawing } };
}
