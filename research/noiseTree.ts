/** One tree of noise, as it is drawn and as consistency leaves it: what a picture of the release needs. */
import { chooseCore, type CoreChoice } from "../src/core/choose.js";
import { secretKey, Purpose, subStream } from "../src/core/random.js";
import { leafCount, nodeCount } from "../src/core/tree.js";
import { unsafeKey } from "../src/core/unsafeKey.js";
import { noiseScale } from "../src/stream/release/forest.js";

export interface NoiseTreeOptions {
  readonly epsilon: number;
  /** Θ, a whole number: the largest value after clamping, in grid units. */
  readonly theta: number;
  readonly fanout: number;
  readonly levels: number;
  readonly core?: CoreChoice;
  /** Makes the tree repeatable. Default: fresh randomness. */
  readonly unsafeSeed?: string;
}

export interface NoiseTree {
  /** Noise per node: leaves first, top last. Independent draws. */
  readonly drawn: Float64Array;
  /** Nodes after least squares: every node is the sum of its children. */
  readonly consistent: Float64Array;
}

export function noiseTree({ epsilon, theta, fanout, levels, core, unsafeSeed }: NoiseTreeOptions): NoiseTree {
  const chosen = chooseCore(core);
  const key = unsafeSeed === undefined ? secretKey() : unsafeKey(unsafeSeed);
  const scale = noiseScale(levels, theta, epsilon);
  const drawn = new Float64Array(nodeCount(fanout, levels));
  chosen.laplace(subStream(key, Purpose.forest, 0, 0), scale, drawn);
  // The same sub-stream again: the tree that a release grows draws these very nodes.
  const { noise, corrections } = chosen.growTree(subStream(key, Purpose.forest, 0, 0), scale, fanout, levels);
  const consistent = new Float64Array(drawn.length);
  noise.forEach((n, leaf) => (consistent[leaf] = n + (corrections[Math.floor(leaf / fanout)] ?? 0)));
  for (let node = leafCount(fanout, levels), child = 0; node < consistent.length; node++)
    for (let i = 0; i < fanout; i++, child++) consistent[node]! += consistent[child]!;
  return { drawn, consistent };
}
