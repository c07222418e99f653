/** A tree of noise, grown in WASM memory: assembly/laplace.ts draws it, assembly/consistency.ts corrects it. */
import type { Forests } from "../core.js";
import { groupCount, leafCount, nodeCount } from "../layout.js";
import { Arena, type Kernels } from "./instance.js";
import { withRandom } from "./reader.js";

const BYTES = Float64Array.BYTES_PER_ELEMENT;

export function forest(kernels: Kernels): Forests {
  return {
    growTree(random, scale, fanout, levels) {
      const [leaves, nodes] = [leafCount(fanout, levels), nodeCount(fanout, levels)];
      const tree = {
        noise: new Float64Array(leaves),
        corrections: new Float64Array(groupCount(fanout, levels)),
      };
      const arena = new Arena(kernels);
      const scaleAt = arena.put(scale.words);
      const start = arena.take(nodes * BYTES);
      const excess = arena.take((nodes - leaves) * BYTES);
      try {
        withRandom(kernels, arena, random, (block) => kernels.fillLaplace(block, scaleAt, nodes, start));
        if (levels > 1) kernels.makeConsistent(start, leaves, fanout, excess);
        arena.read(start, tree.noise);
        arena.read(excess, tree.corrections);
        return tree;
      } finally {
        arena.wipe(start, excess + (nodes - leaves) * BYTES - start); // who has the noise has the counts
      }
    },
  };
}
