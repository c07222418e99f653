/**
 * How the periods of one day nest: a forest with any fan-outs, because days have 23, 24 or 25 hours, hours may be short, and
 * the first day of a stream is partial.
 *
 * Level 0 holds the finest periods, the leaves. Every level partitions the day. Nodes lie level by level, leaves first, each
 * level in the order of time, so the children of consecutive nodes are consecutive too. The nodes of the last level have no
 * parent.
 *
 * All levels have noise of one variance, which cancels from least squares: what remains are functions of the fan-outs, made
 * with + and ÷ alone, and so the same on every engine and for every ε.
 *
 *     u(leaf) = 1,   S(x) = Σ_children u(y),   c(x) = 1/(1 + S(x)),   u(x) = c(x)·S(x)
 */
import { MAX_DAY_LEAVES } from "./layout.js";

export interface DayShape {
  /** Nodes of each level, finest first. */
  readonly sizes: readonly number[];
  /** Children of every node above the leaves. */
  readonly fanouts: Uint32Array;
  /** c of every node above the leaves. */
  readonly weights: Float64Array;
}

/**
 * Builds a shape from the bottom up.
 * @param leaves 1 to 2²⁰
 * @param fanouts for each level above the leaves, the children of each of its nodes: they sum to the nodes of the level below
 */
export function makeDayShape(leaves: number, fanouts: readonly (readonly number[])[]): DayShape {
  if (!Number.isInteger(leaves) || leaves < 1 || leaves > MAX_DAY_LEAVES)
    throw new RangeError(`leaves: expected 1 to ${MAX_DAY_LEAVES}, got ${leaves}`);
  const sizes = [leaves, ...fanouts.map((level) => level.length)];
  const all = Uint32Array.from(fanouts.flat());
  const weights = new Float64Array(all.length);
  let below: Float64Array = new Float64Array(leaves).fill(1); // u of the level below
  let node = 0;
  for (const level of fanouts) {
    const own = new Float64Array(level.length);
    let child = 0;
    level.forEach((count, i) => {
      if (!Number.isInteger(count) || count < 1)
        throw new RangeError(`fanouts: expected at least 1, got ${count}`);
      let sum = 0;
      for (const end = child + count; child < end; child++) sum += below[child]!;
      weights[node] = 1 / (1 + sum);
      own[i] = weights[node++]! * sum;
    });
    if (child !== below.length)
      throw new RangeError(
        `fanouts: expected a sum of ${below.length}, the nodes of the level below, got ${child}`,
      );
    below = own;
  }
  return { sizes, fanouts: all, weights };
}
