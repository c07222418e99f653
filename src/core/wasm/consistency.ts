/** Stages assembly/consistency.ts. */
import type { Consistency } from "../core.js";
import { checkTree, groupCount, leafCount } from "../layout.js";
import { Arena, type Kernels } from "./instance.js";

export function consistency(kernels: Kernels): Consistency {
  return {
    makeConsistent(nodes, fanout, levels) {
      checkTree(nodes, fanout, levels);
      const corrections = new Float64Array(groupCount(fanout, levels));
      if (levels === 1) return corrections;
      const arena = new Arena(kernels);
      const leaves = leafCount(fanout, levels);
      const start = arena.put(nodes);
      const bytes = (nodes.length - leaves) * Float64Array.BYTES_PER_ELEMENT;
      const excess = arena.take(bytes);
      kernels.makeConsistent(start, leaves, fanout, excess);
      arena.read(excess, corrections);
      arena.wipe(start, excess + bytes - start); // who has the noise has the counts
      return corrections;
    },
  };
}
