/** Eq. 10–11 from integer residuals: twin of assembly/consistency.ts, where the formulas stand. */
import { checkTree, groupCount, leafCount } from "../tree.js";

/**
 * What consistency adds to the leaves of one tree (Appendix C in residual form): f, one number per group of b siblings; none
 * for one level. The consistent leaf i is (its noisy count) + f[⌊i/b⌋]. Noise N and noisy counts T + N give the same bits.
 * @param nodes every node's integer, leaves first, top last (tree.ts)
 */
export function makeConsistent(nodes: Float64Array, fanout: number, levels: number): Float64Array {
  checkTree(nodes, fanout, levels);
  if (levels === 1) return new Float64Array(0);
  const leaves = leafCount(fanout, levels);
  const excess = measureExcess(nodes, leaves, fanout);
  shareDown(excess, leaves, fanout);
  return excess.slice(0, groupCount(fanout, levels));
}

/** D of every node above the leaves, upwards. */
function measureExcess(nodes: Float64Array, leaves: number, b: number): Float64Array {
  const excess = new Float64Array(nodes.length - leaves);
  const families = leaves / b;
  let child = 0;
  for (let x = 0; x < families; x++) {
    let sum = 0;
    for (const end = child + b; child < end; child++) sum += nodes[child]!;
    excess[x] = sum - nodes[leaves + x]!;
  }
  for (let x = families, size = families, p = b; size > 1; p *= b) {
    const c = (p - 1) / (p * b - 1); // 1 − a of the children's level
    size /= b;
    for (const last = x + size; x < last; x++) {
      let sum = 0; // of integers: exact in any order
      let excesses = 0; // of fractions: from first to last
      for (const end = child + b; child < end; child++) {
        sum += nodes[child]!;
        excesses += excess[child - leaves]!;
      }
      excess[x] = c * excesses + (sum - nodes[leaves + x]!);
    }
  }
  return excess;
}

/** Each D becomes the share w in place, downwards, ending with the parents of the leaves. */
function shareDown(excess: Float64Array, leaves: number, b: number): void {
  let p = leaves;
  let parent = excess.length - 1;
  excess[parent] = 0 - shareOfExcess(p, b) * excess[parent]!;
  for (let parents = 1; parents * b < leaves; parents *= b) {
    p /= b;
    const k = shareOfExcess(p, b);
    const first = parent - parents * b;
    let node = first;
    for (let x = 0; x < parents; x++, parent++) {
      const given = excess[parent]! / b;
      for (const end = node + b; node < end; node++) excess[node] = given - k * excess[node]!;
    }
    parent = first;
  }
}

/** a_l/b of a node above p leaves: quotient of two exact integers. */
function shareOfExcess(p: number, b: number): number {
  return (p - p / b) / (p * b - 1);
}
