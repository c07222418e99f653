/** A tree of noise, grown in WASM memory: assembly/laplace.ts draws it, assembly/consistency.ts corrects it. */
import type { Forests } from "../core.js";
import * as js from "../js/forest.js";
import { groupCount, leafCount, nodeCount } from "../tree.js";
import { digit } from "./digit.js";
import { type NoiseKernels, useArena } from "./instance.js";
import { FEW_SAMPLES } from "./laplace.js";
import { withRandom } from "./reader.js";

const BYTES = Float64Array.BYTES_PER_ELEMENT;

export function forest(kernels: NoiseKernels): Forests {
  const fillDigit = digit(kernels);
  return {
    growTree(random, scale, fanout, levels) {
      const [leaves, nodes] = [leafCount(fanout, levels), nodeCount(fanout, levels)];
      const words = scale.words(fillDigit); // before the arena is taken
      if (nodes <= FEW_SAMPLES) return js.growTree(random, scale, fanout, levels);
      return useArena(kernels, (arena) => {
        const scaleAt = arena.put(words);
        const start = arena.take(nodes * BYTES);
        const excess = arena.take((nodes - leaves) * BYTES);
        withRandom(kernels, arena, random, (record) => kernels.fillLaplace(record, scaleAt, nodes, start));
        if (levels > 1) kernels.makeConsistent(start, leaves, fanout, excess);
        return {
          noise: arena.copy(start, leaves),
          corrections: arena.copy(excess, groupCount(fanout, levels)),
        };
      });
    },
  };
}
