/** What every publisher can do, ToPS and the systems it is compared with alike. */
import type { Account } from "./account.js";
import type { RangeAnswer } from "./answer.js";

export interface RangeOptions {
  /**
   * "best" (default): every finished block counts at its own estimate, part of it in proportion.
   * "published": the sum of what was published at those positions.
   */
  readonly answer?: "best" | "published";
}

export interface Publisher {
  /** Takes a value and gives the private number for its position, or `undefined` during the hold-out. */
  push(value: number): number | undefined;
  /** The same for a batch: the published numbers of those values that are past the hold-out. Any batching gives the same bits. */
  pushMany(values: Float64Array | readonly number[]): Float64Array;
  /** Sum and mean over published positions [from, to), counted from 0 at the first published value, with error bars. */
  range(from: number, to: number, options?: RangeOptions): RangeAnswer;
  /** Values published so far. */
  readonly length: number;
  /** The machine-readable privacy statement. */
  account(): Account;
  /** The same as a short text. */
  explain(): string;
}
