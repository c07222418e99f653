/**
 * One tree of noise drawn in slices, so that nobody waits for a whole tree. The words of the keystream are read in the same
 * order as by `Core.growTree`, and the bits are the same.
 */
import type { Core, Tree } from "./core.js";
import { consistencySlices } from "./js/consistency.js";
import type { Random } from "./random.js";
import type { Scale } from "./tables/scale.js";
import { leafCount, nodeCount } from "./tree.js";

/** Nodes drawn or looked at in one slice: about a tenth of a millisecond. */
export const SLICE = 8192;

/** Grows a tree; the caller takes one slice with every `next()`. A tree of one slice or less comes at once. */
export function* growInSlices(
  core: Core,
  random: Random,
  scale: Scale,
  fanout: number,
  levels: number,
): Generator<undefined, Tree> {
  const count = nodeCount(fanout, levels);
  if (count <= SLICE) return core.growTree(random, scale, fanout, levels);
  const nodes = new Float64Array(count);
  yield; // so much room may make an engine collect garbage first, which takes as long as several slices
  for (let from = 0; from < count; from += SLICE) {
    core.laplace(random, scale, nodes.subarray(from, from + SLICE));
    yield;
  }
  const excess = new Float64Array(count - leafCount(fanout, levels));
  yield;
  const corrections = yield* consistencySlices(nodes, excess, fanout, levels, SLICE);
  return { noise: nodes.subarray(0, leafCount(fanout, levels)), corrections };
}

/** Rounds to multiples of 1/fraction, a power of two. */
export function roundAll(numbers: Float64Array, fraction: number): void {
  for (let i = 0; i < numbers.length; i++) numbers[i] = Math.floor(numbers[i]! * fraction + 0.5) / fraction;
}

/** Rounds numbers to multiples of 1/fraction, in slices. */
export function* roundInSlices(numbers: Float64Array, fraction: number): Generator<undefined, void> {
  for (let from = 0; from < numbers.length; from += SLICE) {
    if (from > 0) yield;
    roundAll(numbers.subarray(from, from + SLICE), fraction);
  }
}

/** How many slices a tree and the rounding of its corrections take at most: 0 if it comes at once. */
export function mostSlices(fanout: number, levels: number): number {
  const count = nodeCount(fanout, levels);
  // Two make room. Drawing and the way up look at every node, the way down and rounding at those above the leaves. A level
  // ends a slice.
  const above = count - leafCount(fanout, levels);
  return count <= SLICE ? 0 : Math.ceil((2 * (count + above)) / SLICE) + 2 * levels + 2;
}
