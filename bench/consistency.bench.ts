/** How close to reading the leaves once is consistency? Opponents: the same passes, and Eq. 10–11 as printed. */
import { leafCount, nodeCount } from "../src/core/tree.js";
import { Arena, loadNoiseKernels } from "../src/core/wasm/instance.js";
import { jsConsistency, wasmConsistency } from "../test/support/consistencyKernels.js";
import { measureTogether, type Row } from "./harness.js";

const [b, levels] = [16, 5]; // 16 trees of 65 536 leaves: one forest of 2²⁰
const leaves = leafCount(b, levels);
const nodes = nodeCount(b, levels);
const trees = Array.from({ length: b }, (_, tree) =>
  Float64Array.from({ length: nodes }, (_, i) => ((i * 7919 + tree) % 10007) - 5003),
);

export async function* rows(): AsyncGenerator<Row> {
  const kernels = loadNoiseKernels();
  const js = () => trees.map((tree) => jsConsistency.makeConsistent(tree, b, levels));
  const naive = () => trees.map((tree) => printedConsistency(tree, leaves, b));
  const [from, to] = [new Float64Array(b * leaves).fill(1), new Float64Array(b * leaves)];
  const limit = () => to.set(from);

  const arena = new Arena(kernels);
  const staged = trees.map((tree) => arena.put(tree));
  const excess = arena.take((nodes - leaves) * 8);
  const inPlace = () => {
    for (const tree of staged) kernels.makeConsistent(tree, leaves, b, excess);
  };
  const copied = () => trees.map((tree) => wasmConsistency.makeConsistent(tree, b, levels));
  const common = { path: "consistency", js, naive, limit };
  yield* await measureTogether([
    { ...common, case: "2²⁰ leaves, already in WASM memory", wasm: inPlace },
    { ...common, case: "2²⁰ leaves, copies included", wasm: copied },
  ]);
}

/** Eq. 10 upwards, Eq. 11 downwards, every node written: what one would type from the paper, in plain loops. */
export function printedConsistency(noisy: Float64Array, leaves: number, b: number): Float64Array {
  const tree = noisy.slice();
  let child = 0;
  for (let x = leaves, size = leaves / b, p = b; size >= 1; size /= b, p *= b) {
    const own = (p * b - p) / (p * b - 1);
    for (const end = x + size; x < end; x++, child += b)
      tree[x] = own * tree[x]! + (1 - own) * sumOfChildren(tree, child, b);
  }
  for (let x = tree.length - 1; child > 0; x--) {
    child -= b;
    const share = (tree[x]! - sumOfChildren(tree, child, b)) / b;
    for (let i = child; i < child + b; i++) tree[i]! += share;
  }
  return tree;
}

function sumOfChildren(tree: Float64Array, child: number, b: number): number {
  let sum = 0;
  for (let i = child; i < child + b; i++) sum += tree[i]!;
  return sum;
}
