/**
 * How a forest lies in flat arrays. A forest of L levels and fan-out b is b trees without a root above them.
 * A tree has bᴸ⁻¹ leaves (level 1) and one top node (level L); its nodes lie leaves first, then level 2, …,
 * top last, and the children of node i of a level are nodes i·b … i·b + b − 1 of the level below.
 * Sizes are counted with integers: rounding a logarithm is off by one sooner or later.
 */
import { MAX_LEAVES } from "./layout.js";

/** Leaves of one tree, bᴸ⁻¹; fails where no forest has such a shape. */
export function leafCount(fanout: number, levels: number): number {
  if (!Number.isInteger(fanout) || fanout < 2 || fanout > 64)
    throw new RangeError(`fanout: expected an integer from 2 to 64, got ${fanout}`);
  if (!Number.isInteger(levels) || levels < 1)
    throw new RangeError(`levels: expected an integer ≥ 1, got ${levels}`);
  const leaves = fanout ** (levels - 1);
  if (leaves > MAX_LEAVES)
    throw new RangeError(
      `levels: expected a tree of at most ${MAX_LEAVES} leaves, got ${fanout}^${levels - 1}; use fewer levels`,
    );
  return leaves;
}

/** All nodes of one tree, (bᴸ − 1)/(b − 1). */
export function nodeCount(fanout: number, levels: number): number {
  return (leafCount(fanout, levels) * fanout - 1) / (fanout - 1);
}

/** Groups of b leaves with the same parent in one tree; a tree of one level has none. */
export function groupCount(fanout: number, levels: number): number {
  return levels === 1 ? 0 : leafCount(fanout, levels) / fanout;
}

/** Fails unless `nodes` has one number for every node of such a tree. */
export function checkTree(nodes: Float64Array, fanout: number, levels: number): void {
  const count = nodeCount(fanout, levels);
  if (nodes.length !== count)
    throw new RangeError(
      `nodes: expected ${count} for fan-out ${fanout} and ${levels} levels, got ${nodes.length}`,
    );
}
