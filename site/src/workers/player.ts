/** A stream that runs: true values on one side, a publisher on the other, and the lines of a plot in between. */
import type { System } from "brume";
import { columnEnd, COLUMNS } from "../plots/columns.js";
import type { Answer, Frame, ReleaseSettings } from "./protocol.js";
import { makePublisher } from "./publisher.js";

/** Values pushed in one go. */
const BATCH = 2 ** 16;

export class Player {
  readonly values: Float64Array;
  /** sums[i] is the sum of the first i values. */
  readonly #sums: Float64Array;
  readonly #published: Float64Array;
  readonly #lines: {
    readonly truth: Float64Array;
    readonly private: Float64Array;
    readonly low: Float64Array;
    readonly high: Float64Array;
  };
  #publisher: System;
  #settings: ReleaseSettings;
  #window: number;
  /** Columns of the lines that are filled in. */
  #drawn = 0;
  /** Values that have streamed through. */
  at = 0;

  constructor(values: Float64Array, settings: ReleaseSettings, window: number) {
    this.#publisher = makePublisher(settings);
    this.#settings = settings;
    this.#window = window;
    this.values = values;
    this.#sums = runningSums(values);
    this.#published = new Float64Array(values.length);
    const line = () => new Float64Array(COLUMNS).fill(NaN);
    this.#lines = { truth: line(), private: line(), low: line(), high: line() };
  }

  get publisher(): System {
    return this.#publisher;
  }

  /** Publishes all values so far again, with other settings. Changes nothing when it throws. */
  publishAgain(settings: ReleaseSettings, window: number): void {
    this.#publisher = makePublisher(settings);
    this.#settings = settings;
    this.#window = window;
    this.#drawn = 0;
    for (const line of Object.values(this.#lines)) line.fill(NaN);
    const { at } = this;
    this.at = 0;
    this.advance(at);
  }

  /** Goes to a position; back means from the first value on again, with the same seed or fresh noise. */
  seek(to: number): void {
    if (to < this.at) {
      this.at = 0;
      this.publishAgain(this.#settings, this.#window);
    }
    this.advance(to);
  }

  /** Lets values through up to position `to`, never back. */
  advance(to: number): void {
    const end = Math.min(to, this.values.length);
    while (this.at < end) {
      const next = Math.min(end, this.at + BATCH);
      const { length } = this.#publisher;
      this.#published.set(this.#publisher.pushMany(this.values.subarray(this.at, next)), length);
      this.at = next;
    }
    this.#draw();
  }

  frame(): Frame {
    const { truth, private: released, low, high } = this.#lines;
    return {
      type: "frame",
      at: this.at,
      total: this.values.length,
      published: this.#publisher.length,
      truth: truth.slice(),
      private: released.slice(),
      low: low.slice(),
      high: high.slice(),
    };
  }

  /** Sum over what is published of [from, to), with the true sum beside it; nothing if that is empty. */
  ask(from: number, to: number): Answer | undefined {
    const start = Math.max(from, this.#settings.holdout);
    const end = Math.min(to, this.at);
    if (start >= end) return undefined;
    const { sum, low, high } = this.#publisher.range(
      start - this.#settings.holdout,
      end - this.#settings.holdout,
    );
    const threshold = this.#publisher.statement().threshold ?? Infinity;
    const truth = this.#sums[end]! - this.#sums[start]!;
    const clamped = this.#above(threshold, start, end);
    return { type: "answer", from: start, to: end, truth, clamped, threshold, sum, low, high };
  }

  /** What clamping to θ takes away from the values of a range. */
  #above(threshold: number, from: number, to: number): number {
    let sum = 0;
    for (let i = from; i < to; i++) sum += Math.max(0, this.values[i]! - threshold);
    return sum;
  }

  /** Everything published so far, and the position of its first value. */
  published(): { readonly first: number; readonly values: Float64Array } {
    return { first: this.#settings.holdout, values: this.#published.slice(0, this.#publisher.length) };
  }

  /** Fills the lines in as far as values have come. */
  #draw(): void {
    const { truth, private: released, low, high } = this.#lines;
    for (; this.#drawn < COLUMNS; this.#drawn++) {
      const j = this.#drawn;
      const end = columnEnd(j, this.values.length);
      if (end > this.at) return;
      const start = Math.max(0, end - this.#window);
      truth[j] = (this.#sums[end]! - this.#sums[start]!) / (end - start);
      const from = Math.max(start, this.#settings.holdout);
      if (from >= end || end - from < Math.min(this.#window, 2 ** 12)) continue;
      const answer = this.#publisher.range(from - this.#settings.holdout, end - this.#settings.holdout, {
        answer: "published",
      });
      released[j] = answer.mean;
      low[j] = answer.low / (end - from);
      high[j] = answer.high / (end - from);
    }
  }
}

function runningSums(values: Float64Array): Float64Array {
  const sums = new Float64Array(values.length + 1);
  for (let i = 0; i < values.length; i++) sums[i + 1] = sums[i]! + values[i]!;
  return sums;
}
