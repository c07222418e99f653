/** A batch of positions: the memory it takes, all of it before anything changes, and what its positions publish. */
import type { Core } from "../../core/core.js";
import { publishBlocks } from "../../core/js/ingest.js";
import type { Predictions } from "../predict/predictor.js";

export interface Batch {
  readonly count: number;
  /** Positions of the running block that were taken before. */
  readonly filled: number;
  /** Estimates of the blocks that the batch finishes. */
  readonly estimates: Float64Array;
  readonly predictions: Predictions;
  readonly shares: Float64Array;
  readonly lasts: Float64Array;
  readonly out: Float64Array;
}

/** @param blockLength n, of which `filled` positions were taken before */
export function makeBatch(
  count: number,
  filled: number,
  blockLength: number,
  predict: (blocks: number) => Predictions,
): Batch {
  const blocks = Math.floor((filled + count) / blockLength);
  const lasts = new Float64Array(blocks);
  return {
    count,
    filled,
    estimates: new Float64Array(blocks),
    predictions: predict(blocks),
    shares: new Float64Array(blockLength === 1 ? 0 : blocks + 1),
    lasts,
    out: blockLength === 1 ? lasts : new Float64Array(count),
  };
}

/** Number at the last position of a block: the rest of its estimate, less the amount that is deferred from now on. */
export function lastValue(estimate: number, perValue: number, deferred: number, blockLength: number): number {
  return estimate - deferred - (blockLength - 1) * perValue;
}

/**
 * Numbers that the positions of a batch publish, in units of the stream: a block's prediction at all but its last. Cannot fail.
 * @param deferred what published sums deferred before
 */
export function publishBatch(
  core: Core,
  { filled, estimates, predictions, shares, lasts, out }: Batch,
  blockLength: number,
  resolution: number,
  deferred: number,
): Float64Array {
  const { perValue, deferred: after } = predictions;
  for (let i = 0; i < estimates.length; i++) {
    const more = after[i]! - (i === 0 ? deferred : after[i - 1]!);
    lasts[i] = lastValue(estimates[i]!, perValue[i]!, more, blockLength) * resolution;
  }
  if (blockLength === 1) return out;
  for (let i = 0; i < shares.length; i++) shares[i] = perValue[i]! * resolution;
  try {
    core.publishBlocks(shares, lasts, blockLength, filled, out);
  } catch {
    publishBlocks(shares, lasts, blockLength, filled, out); // needs no memory, and gives the same bits
  }
  return out;
}
