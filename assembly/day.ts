/**
 * Noise of one day of events, made consistent for irregular fan-outs: least squares over the forest of src/core/dayShape.ts.
 * True counts T are consistent, so noise N and noisy counts H = T + N have the same integer residuals, and all that follows is
 * the same bit for bit: a day's corrections are made before its first event.
 *
 * With one variance on all nodes and c(x) = 1/(1 + S(x)) of the shape:
 *     upwards     E(x) = c(x)·(Σ_children E(y) + (Σ_children H(y) − H(x))),   E(leaf) = 0
 *     downwards   W(x) = c(x)·W(parent of x) − E(x),   W(above the last level) = 0
 * The least-squares leaf is H(leaf) + W(its parent): one correction per family of leaves.
 */
import { DAY_RUN } from "../src/core/layout";
import { sumInOrder, sumIntegers } from "./consistency";
import { laplaceInto } from "./laplace";
import { beginRandom } from "./reader";

/** The first word of a nonce in a ChaCha20 state. */
const NONCE: usize = 52;

/**
 * Draws all nodes of a day and writes the corrections.
 * @param leafRandom the sub-stream of the first run of leaves; each further run has the next number in its nonce
 * @param nodeRandom the sub-stream of all nodes above the leaves
 * @param shares one f64 per node above the leaves; the first ones, of the leaves' parents, become the corrections
 */
export function growDay(
  leafRandom: usize,
  nodeRandom: usize,
  scale: usize,
  leaves: i32,
  inner: i32,
  fanouts: usize,
  weights: usize,
  nodes: usize,
  shares: usize,
): void {
  for (let leaf = 0; leaf < leaves; leaf += DAY_RUN) {
    beginRandom(leafRandom);
    laplaceInto(scale, min(DAY_RUN, leaves - leaf), nodes + ((<usize>leaf) << 3));
    store<u32>(leafRandom, load<u32>(leafRandom, NONCE) + 1, NONCE);
  }
  beginRandom(nodeRandom);
  laplaceInto(scale, inner, nodes + ((<usize>leaves) << 3));
  makeDayConsistent(leaves, inner, fanouts, weights, nodes, shares);
}

/** Writes W of every node above the leaves into `shares`. */
export function makeDayConsistent(
  leaves: i32,
  inner: i32,
  fanouts: usize,
  weights: usize,
  nodes: usize,
  shares: usize,
): void {
  if (inner == 0) return; // one level: nothing to agree with, and no place in `shares`
  const firstInner = nodes + ((<usize>leaves) << 3);
  // Upwards. The children of consecutive nodes are consecutive, so one pointer walks through all of them.
  let child = nodes;
  for (let i: usize = 0; i < <usize>inner; i++) {
    const bytes = (<usize>load<u32>(fanouts + (i << 2))) << 3;
    const residual = sumIntegers(child, bytes) - load<f64>(firstInner + (i << 3));
    const below = child < firstInner ? 0 : sumInOrder(shares + (child - firstInner), bytes);
    store<f64>(shares + (i << 3), load<f64>(weights + (i << 3)) * (below + residual));
    child += bytes;
  }
  // Downwards. What no node had as a child is the last level.
  let place = shares + ((<usize>inner) << 3);
  const tops = shares + (child - firstInner);
  while (place > tops) {
    place -= 8;
    store<f64>(place, 0 - load<f64>(place));
  }
  for (let i = <isize>inner - 1; i >= 0; i--) {
    child -= (<usize>load<u32>(fanouts + ((<usize>i) << 2))) << 3;
    if (child < firstInner) break; // parents of leaves: nothing is below them
    const above = load<f64>(shares + ((<usize>i) << 3));
    const bytes = (<usize>load<u32>(fanouts + ((<usize>i) << 2))) << 3;
    const offset = child - firstInner;
    for (let at = offset; at < offset + bytes; at += 8)
      store<f64>(shares + at, load<f64>(weights + at) * above - load<f64>(shares + at));
  }
}
