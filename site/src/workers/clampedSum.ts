/** The true sum of a range after clamping to θ: what the margin of the noise is about. */
import type { System } from "brume";

/** Values pushed in one go. */
const BATCH = 2 ** 16;

/**
 * Pushes values [0, end) tree by tree, because θ may change between trees, and returns Σ min(value, θ) from `start` on.
 * @param publisher a new one
 */
export function clampedSum(
  publisher: System,
  values: Float64Array,
  { holdout, start, end }: { readonly holdout: number; readonly start: number; readonly end: number },
): number {
  let sum = 0;
  for (let at = 0; at < end;) {
    const { blockLength, fanout, levels } = publisher.statement();
    const tree = blockLength * fanout ** Math.max(0, levels - 1);
    const treeEnd = at < holdout ? holdout : at + tree - ((at - holdout) % tree);
    const next = Math.min(end, tree > 1 ? treeEnd : end, at + BATCH); // without a tree there is one θ
    publisher.pushMany(values.subarray(at, next - 1));
    const threshold = publisher.statement().threshold ?? Infinity;
    publisher.pushMany(values.subarray(next - 1, next));
    for (let i = Math.max(at, start); i < next; i++) sum += Math.min(values[i]!, threshold);
    at = next;
  }
  return sum;
}
