/** Consistency alone, on both cores: streams only call it as part of growing a tree. */
import { makeConsistent } from "../../src/core/js/consistency.js";
import { checkTree, groupCount, leafCount } from "../../src/core/tree.js";
import { loadNoiseKernels, useArena } from "../../src/core/wasm/instance.js";

export interface ConsistencyKernel {
  readonly name: "wasm" | "js";
  /** One correction per group of sibling leaves (src/core/js/consistency.ts). */
  makeConsistent(nodes: Float64Array, fanout: number, levels: number): Float64Array;
}

export const wasmConsistency: ConsistencyKernel = {
  name: "wasm",
  makeConsistent(nodes, fanout, levels) {
    checkTree(nodes, fanout, levels);
    const corrections = new Float64Array(groupCount(fanout, levels));
    if (levels === 1) return corrections;
    const kernels = loadNoiseKernels();
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

export const jsConsistency: ConsistencyKernel = { name: "js", makeConsistent };
