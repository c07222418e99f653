/** Noise of one day, made consistent: twin of assembly/day.ts, where the formulas stand. */
import type { Days } from "../core.js";
import type { DayShape } from "../dayShape.js";
import { DAY_RUN } from "../layout.js";
import { laplace } from "./laplace.js";

export const growDay: Days["growDay"] = (leafRandom, nodeRandom, scale, shape) => {
  const leaves = shape.sizes[0]!;
  const nodes = new Float64Array(leaves + shape.fanouts.length);
  for (let leaf = 0, run = 0; leaf < leaves; leaf += DAY_RUN, run++) {
    const nonce = leafRandom.nonce.slice();
    nonce[0] = nonce[0]! + run;
    laplace(
      { key: leafRandom.key, nonce, position: 0 },
      scale,
      nodes.subarray(leaf, Math.min(leaves, leaf + DAY_RUN)),
    );
  }
  laplace({ ...nodeRandom, position: 0 }, scale, nodes.subarray(leaves));
  return makeDayConsistent(nodes, shape);
};

/**
 * Computes the least-squares corrections of one day, one per family of leaves; none for one level. Noise N and noisy counts
 * T + N give the same bits.
 * @param nodes every node's integer, in the order of the shape
 */
export function makeDayConsistent(nodes: Float64Array, { sizes, fanouts, weights }: DayShape): Float64Array {
  const leaves = sizes[0]!;
  const shares = new Float64Array(fanouts.length);
  if (shares.length === 0) return shares; // one level: nothing to agree with
  let child = 0;
  for (let i = 0; i < fanouts.length; i++) {
    let sum = 0; // of integers: exact in any order
    let below = 0; // of fractions: from first to last
    for (const end = child + fanouts[i]!; child < end; child++) {
      sum += nodes[child]!;
      if (child >= leaves) below += shares[child - leaves]!;
    }
    shares[i] = weights[i]! * (below + (sum - nodes[leaves + i]!));
  }
  for (let i = child - leaves; i < shares.length; i++) shares[i] = 0 - shares[i]!;
  for (let i = shares.length - 1; i >= sizes[1]!; i--) {
    const end = child - leaves;
    child -= fanouts[i]!;
    for (let y = child - leaves; y < end; y++) shares[y] = weights[y]! * shares[i]! - shares[y]!;
  }
  return shares.slice(0, sizes[1]);
}
