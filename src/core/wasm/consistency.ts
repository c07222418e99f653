/** Stages assembly/consistency.ts. */
import type { Consistency } from "../core.js";
import { checkTree, groupCount, leafCount } from "../tree.js";
import { type Kernels, useArena } from "./instance.js";

export function consistency(kernels: Kernels): Consistency {
  return {
    makeConsistent(nodes, fanout, levels) {
      checkTree(nodes, fanout, levels);
      const corrections = new Float64Array(groupCount(fanout, levels));
      if (levels === 1) return corrections;
      return useArena(kernels, (arena) => {
        const leaves = leafCount(fanout, levels);
        const start = arena.put(nodes);
        const excess = arena.take((nodes.length - leaves) * Float64Array.BYTES_PER_ELEMENT);
        kernels.makeConsistent(start, leaves, fanout, excess);
        arena.read(excess, corrections);
        return corrections;
      });
    },
  };
}
