/**
 * The columns of a plot. A column shows the average over whole blocks up to the one that it lies in, true and private,
 * because a block is the shortest span that the library answers. A column whose block still runs is drawn from the
 * answer of the moment, with the block before it, and drawn again when the block is finished, and once more when its
 * tree is.
 */
import type { System } from "brume";
import type { Lines } from "../charts/lines.js";
import type { Part } from "./protocol.js";

/** Input of the columns. Positions count from the first value of the stream. */
export interface Released {
  readonly publisher: System;
  readonly holdout: number;
  /** Values that have streamed through. */
  readonly at: number;
  /** sums[i] is the sum of the first i values; excess[i] of what they have above θ. */
  readonly sums: Float64Array;
  readonly excess: Float64Array;
  /** Everything published, from position `holdout` on. */
  readonly published: Float64Array;
}

export class Columns {
  readonly part: Part;
  readonly #window: number;
  readonly #lines: { -readonly [K in Exclude<keyof Lines, "uncounted">]-?: Float64Array };
  /** Columns whose blocks are finished: not drawn again before the next tree is finished. */
  #final = 0;
  /** Finished trees: each one sharpens the answers for its blocks. */
  #trees = 0;

  /** @param window values that a column should average */
  constructor(part: Part, count: number, window: number) {
    const { from, to } = part;
    this.part = part;
    this.#window = window;
    const columns = Math.max(1, Math.min(count, Math.floor(to - from)));
    const line = () => new Float64Array(columns).fill(NaN);
    this.#lines = {
      x: Float64Array.from({ length: columns }, (_, j) =>
        Math.round(from + ((j + 1) * (to - from)) / columns),
      ),
      secret: line(),
      private: line(),
      low: line(),
      high: line(),
      clampedHigh: line(),
      prediction: line(),
    };
  }

  /** Values that a column averages. */
  averaged(blockLength: number): number {
    return blockLength * Math.max(1, Math.round(this.#window / blockLength));
  }

  /** Draws what has become known. Returns whether anything changed. */
  draw(released: Released): boolean {
    const { x } = this.#lines;
    const { blockLength, fanout, levels } = released.publisher.statement();
    const trees = Math.floor(released.publisher.length / (blockLength * fanout ** Math.max(0, levels - 1)));
    if (trees !== this.#trees) this.#final = 0;
    this.#trees = trees;
    let [changed, final] = [false, true];
    for (let j = this.#final; j < x.length && x[j]! <= released.at; j++) {
      const finished = this.#column(j, released, blockLength);
      final &&= finished;
      if (final) this.#final = j + 1;
      changed = true;
    }
    return changed;
  }

  /** A copy that may be given away. */
  lines(): Lines {
    return Object.fromEntries(
      Object.entries(this.#lines).map(([name, line]) => [name, line.slice()]),
    ) as unknown as Lines;
  }

  /** Returns whether the column is final. */
  #column(j: number, released: Released, block: number): boolean {
    const { publisher, holdout, at, sums, excess, published } = released;
    const lines = this.#lines;
    const x = lines.x[j]!;
    if (x <= holdout) {
      const start = Math.max(0, x - this.#window);
      lines.secret[j] = (sums[x]! - sums[start]!) / (x - start);
      return true;
    }
    const end = Math.ceil((x - holdout) / block) * block;
    const to = Math.min(end, publisher.length);
    const from = Math.max(0, end - this.averaged(block) - (to < end ? block : 0));
    const length = to - from;
    lines.secret[j] = (sums[holdout + to]! - sums[holdout + from]!) / length;
    const answer = publisher.range(from, to);
    const hidden = (excess[holdout + to]! - excess[holdout + from]!) / length;
    lines.private[j] = answer.mean;
    lines.low[j] = answer.low / length;
    lines.high[j] = answer.high / length;
    lines.clampedHigh[j] = answer.high / length + hidden;
    if (block > 1) {
      const last = x - holdout - 1;
      const endsBlock = (last + 1) % block === 0;
      lines.prediction[j] = published[endsBlock ? last - 1 : last]!;
    }
    return end <= at - holdout;
  }
}
