/** The interface of every system: ToPS, and those it is compared with. */
import type { Statement } from "./statement.js";
import type { AnswerKind, RangeAnswer } from "./answer/answer.js";
import type { SnapshotKey } from "../snapshot/streamCipher.js";

export interface RangeOptions {
  /**
   * "best" (default): finished trees are shrunk towards what their parts have in common, as far as they look like noise, and
   * by at most 1.5 standard errors. These answers do not add up.
   * "blocks": every finished block counts at its own estimate, part of it in proportion.
   * "published": the sum of what was published at those positions.
   */
  readonly answer?: AnswerKind;
  /** Probability that [low, high] holds the sum of the values, clamped to θ: above 0, below 1. Default 0.95. */
  readonly confidence?: number;
}

export interface System {
  /** Takes a value and gives the private number for its position, or `undefined` during the hold-out. */
  push(value: number): number | undefined;
  /** Takes a batch and gives the numbers of its values past the hold-out. Any batching gives the same bits. */
  pushMany(values: Float64Array | readonly number[]): Float64Array;
  /**
   * Sum and mean over published positions [from, to), with error bars. Positions count from 0 at the first value after the
   * hold-out; the answer's `received` says which of all received values these are.
   */
  range(from: number, to: number, options?: RangeOptions): RangeAnswer;
  /** Values published so far. */
  readonly length: number;
  /** The machine-readable privacy statement. */
  statement(): Statement;
  /** The privacy statement for people, as a short text. */
  explain(): string;
}

/** A publisher that can be put away and continued. */
export interface PrivateStream extends System {
  /** Values received so far, held-out ones included: after a restore the source continues here. */
  readonly received: number;
  /** How many snapshots of this stream were taken. */
  readonly sequence: number;
  /** The numbers published at positions [from, to), bit for bit: for a reader that missed some. */
  published(from: number, to: number): Float64Array;
  /**
   * The state of this moment, encrypted: `restore` resumes from it bit for bit. Publish nothing after a snapshot
   * that you may go back to: other values would get the same noise, and the difference of the two outputs would
   * show the difference of the values. `openStream` and `openHub` see to that (docs/restarts.md).
   */
  snapshot(key: SnapshotKey): Promise<Uint8Array>;
}
