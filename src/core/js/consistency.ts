/** Eq. 10–11 from integer residuals: twin of assembly/consistency.ts, where the formulas stand. */
import { checkTree, groupCount, leafCount } from "../tree.js";

/**
 * Corrections that consistency adds to the leaves of one tree (Appendix C in residual form): f, one number per group of b siblings; none
 * for one level. The consistent leaf i is (its noisy count) + f[⌊i/b⌋]. Noise N and noisy counts T + N give the same bits.
 * @param nodes every node's integer, leaves first, top last (tree.ts)
 */
export function makeConsistent(nodes: Float64Array, fanout: number, levels: number): Float64Array {
  const excess = new Float64Array(nodes.length - leafCount(fanout, levels));
  const slices = consistencySlices(nodes, excess, fanout, levels, Infinity);
  for (;;) {
    const slice = slices.next();
    if (slice.done) return slice.value;
  }
}

/**
 * Makes a tree consistent in slices, each of which looks at up to `most` children.
 * @param excess room for a number per node above the leaves; the answer is a part of it
 */
export function* consistencySlices(
  nodes: Float64Array,
  excess: Float64Array,
  fanout: number,
  levels: number,
  most: number,
): Generator<undefined, Float64Array> {
  checkTree(nodes, fanout, levels);
  if (levels === 1) return new Float64Array(0);
  const leaves = leafCount(fanout, levels);
  const parents = Math.ceil(most / fanout);
  // Upwards: the nodes of a level lie at [first, first + size) of `excess`, the leaves' parents first.
  let first = 0;
  let size = leaves / fanout;
  for (let p = 1; ; p *= fanout) {
    const c = (p - 1) / (p * fanout - 1); // 1 − a of the children's level
    for (let done = 0; done < size; done += parents) {
      measureExcess(nodes, excess, c, fanout, first + done, first + Math.min(size, done + parents));
      yield;
    }
    if (size === 1) break;
    first += size;
    size /= fanout;
  }
  // Downwards: each D becomes the share w, in place.
  excess[first] = 0 - shareOfExcess(leaves, fanout) * excess[first]!;
  for (let p = leaves / fanout; first > 0; p /= fanout, size *= fanout) {
    const k = shareOfExcess(p, fanout);
    const children = first - size * fanout;
    for (let done = 0; done < size; done += parents) {
      const to = first + Math.min(size, done + parents);
      shareDown(excess, k, fanout, first + done, to, children + done * fanout);
      yield;
    }
    first = children;
  }
  return excess.subarray(0, groupCount(fanout, levels));
}

/** D of the nodes from `x` to `last` of one level, counted from the first parent of leaves. The children of x are nodes x·b … */
function measureExcess(
  nodes: Float64Array,
  excess: Float64Array,
  c: number,
  b: number,
  x: number,
  last: number,
): void {
  const leaves = nodes.length - excess.length;
  let child = x * b;
  if (child < leaves) {
    for (; x < last; x++) {
      let sum = 0;
      for (const end = child + b; child < end; child++) sum += nodes[child]!;
      excess[x] = sum - nodes[leaves + x]!;
    }
    return;
  }
  for (; x < last; x++) {
    let sum = 0; // of integers: exact in any order
    let excesses = 0; // of fractions: from first to last
    for (const end = child + b; child < end; child++) {
      sum += nodes[child]!;
      excesses += excess[child - leaves]!;
    }
    excess[x] = c * excesses + (sum - nodes[leaves + x]!);
  }
}

/** w of the children of the nodes from `x` to `last` of one level; the children begin at `node`. */
function shareDown(excess: Float64Array, k: number, b: number, x: number, last: number, node: number): void {
  for (; x < last; x++) {
    const given = excess[x]! / b;
    for (const end = node + b; node < end; node++) excess[node] = given - k * excess[node]!;
  }
}

/** a_l/b of a node above p leaves: quotient of two exact integers. */
function shareOfExcess(p: number, b: number): number {
  return (p - p / b) / (p * b - 1);
}
