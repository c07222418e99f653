/** Batches of values to block sums, estimates and published values: twin of assembly/ingest.ts. */
import type { Ingest } from "../core.js";
import { quantise, refuse } from "../quantise.js";

/** From here on TypedArray.fill, which runs at memory speed, outweighs its call. */
export const FILL_FROM = 64;

export const blockSums: Ingest["blockSums"] = (
  values,
  theta,
  resolution,
  n,
  filled,
  partial,
  sums,
  limit,
) => {
  const blocks = checkBlocks(values.length, n, filled, sums);
  let sum = partial;
  let start = 0;
  for (let block = 0, end = n - filled; block < blocks; block++, end += n) {
    sum += sumQuantised(values, start, end, theta, resolution);
    if (Number.isNaN(sum)) refuse(values);
    sums[block] = sum;
    sum = 0;
    start = end;
  }
  sum += sumQuantised(values, start, values.length, theta, resolution);
  if (Number.isNaN(sum)) refuse(values);
  return { sum, above: limit < Infinity ? countAbove(values, limit) : 0 };
};

/** No branch depends on a value: `+` makes a number of the comparison. */
function countAbove(values: Float64Array, limit: number): number {
  let count = 0;
  for (let i = 0; i < values.length; i++) count += +(values[i]! > limit);
  return count;
}

/** NaN if any of the values is not finite. */
function sumQuantised(
  values: Float64Array,
  start: number,
  end: number,
  theta: number,
  resolution: number,
): number {
  let sum = 0;
  for (let i = start; i < end; i++) {
    const v = values[i]!;
    sum += quantise(v, theta, resolution) + (v - v); // v − v: 0 for a finite v, else NaN
  }
  return sum;
}

export const estimateLeaves: Ingest["estimateLeaves"] = (sums, tree, fanout, leaf, out) => {
  const { noise, corrections } = tree;
  checkLeaves(sums, noise, leaf, out);
  let group = Math.floor(leaf / fanout);
  let end = (group + 1) * fanout - leaf;
  for (let i = 0; i < sums.length; end += fanout, group++) {
    const f = corrections.length === 0 ? 0 : corrections[group]!;
    for (const stop = Math.min(end, sums.length); i < stop; i++) out[i] = sums[i]! + noise[leaf + i]! + f;
  }
};

export const publishBlocks: Ingest["publishBlocks"] = (shares, lasts, n, filled, out) => {
  const blocks = checkBlocks(out.length, n, filled, lasts);
  let i = 0;
  for (let block = 0, last = n - filled - 1; i < out.length; block++, last += n) {
    const share = shares[block]!;
    const stop = Math.min(last, out.length);
    if (n >= FILL_FROM) out.fill(share, i, stop);
    else for (let at = i; at < stop; at++) out[at] = share;
    i = stop;
    if (block < blocks) out[i++] = lasts[block]!;
  }
};

/** How many blocks of n get complete when `count` positions follow `filled`; fails unless there is room for them. */
export function checkBlocks(count: number, n: number, filled: number, perBlock: Float64Array): number {
  const blocks = Math.floor((filled + count) / n);
  if (!(n >= 1 && n <= 2 ** 30 && filled >= 0 && filled < n))
    throw new RangeError(`block: expected 1 to 2³⁰ values with fewer filled, got ${n} with ${filled} filled`);
  if (perBlock.length < blocks)
    throw new RangeError(`block: expected room for ${blocks} complete ones, got ${perBlock.length}`);
  return blocks;
}

/** Fails unless the tree has the leaves asked for, and `out` room for them. */
export function checkLeaves(sums: Float64Array, noise: Float64Array, leaf: number, out: Float64Array): void {
  if (!(leaf >= 0 && leaf + sums.length <= noise.length))
    throw new RangeError(`leaf: expected ${sums.length} leaves of ${noise.length}, got ${leaf} as the first`);
  if (out.length !== sums.length)
    throw new RangeError(`out: expected one place for each of ${sums.length} leaves, got ${out.length}`);
}
