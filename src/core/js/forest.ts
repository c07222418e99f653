/** A tree of noise: twin of src/core/wasm/forest.ts. */
import type { Forests } from "../core.js";
import { leafCount, nodeCount } from "../tree.js";
import { makeConsistent } from "./consistency.js";
import { laplace } from "./laplace.js";

export const growTree: Forests["growTree"] = (random, scale, fanout, levels) => {
  const nodes = new Float64Array(nodeCount(fanout, levels));
  laplace(random, scale, nodes);
  const corrections = makeConsistent(nodes, fanout, levels);
  return { noise: nodes.slice(0, leafCount(fanout, levels)), corrections };
};
