/**
 * Record of what a mechanism published, kept so that any range can be asked for later. The mechanism's own state is as small as its
 * paper says; the record is 8 bytes a value, for `history` parts of `length` values each, and older parts are dropped.
 */
import type { RawAnswer } from "../../src/stream/answer/rangeIndex.js";
import { addSpreads, NO_SPREAD, type Spread } from "../../src/stream/answer/variance.js";
import type { IntegerStream } from "./grid.js";

/** One published number per value, in grid units. */
export interface Mechanism {
  /** @param x an integer in [0, Θ]; gives back a multiple of a public power of two, so that sums are exact */
  push(x: number): number;
  /** Noise in the sum over positions [from, to), counted from the mechanism's first value. */
  spread(from: number, to: number): Spread;
}

/** For mechanisms whose error depends on the data in a way that no paper bounds: error bars without end. */
export const UNKNOWN_SPREAD: Spread = { variance: Infinity, fourth: 0 };

/** A mechanism that estimates the sum of all values so far. */
export interface PrefixMechanism extends Mechanism {
  /** The estimate after this value. */
  push(x: number): number;
}

/** Publishes the increments of rounded estimates: their sums are the estimates again, exactly. */
export function increments(prefix: PrefixMechanism, round: (x: number) => number): Mechanism {
  let last = 0;
  return {
    push(x) {
      const estimate = round(prefix.push(x));
      const published = estimate - last;
      last = estimate;
      return published;
    },
    spread: (from, to) => prefix.spread(from, to),
  };
}

const EXACT = 2 ** 52;
const FINEST = 2 ** 20;

/**
 * Rounds to multiples of a power of two so small that it does not show, and large enough that sums are exact.
 * @param largest a bound on any sum of published numbers, in grid units
 */
export function roundingFor(largest: number): (x: number) => number {
  let parts = FINEST;
  while (parts > 1 && parts * largest > EXACT) parts /= 2;
  return (x) => Math.round(x * parts) / parts;
}

export interface RecordShape {
  /** Values per part. */
  readonly length: number;
  /** Parts kept. */
  readonly history: number;
  /** Whether each part has a mechanism of its own: disjoint values, so ε in all. Otherwise one mechanism runs for ever. */
  readonly restarts: boolean;
}

interface Part {
  readonly mechanism: Mechanism;
  /** sums[k]: of the first k numbers published in this part. */
  sums: Float64Array;
}

export class RecordedStream implements IntegerStream {
  readonly #make: (part: number) => Mechanism;
  readonly #shape: RecordShape;
  /** Oldest first; the last one is running. */
  readonly #parts: Part[] = [];
  #dropped = 0;
  #filled = 0;

  constructor(make: (part: number) => Mechanism, shape: RecordShape) {
    this.#make = make;
    this.#shape = shape;
    this.#begin();
  }

  get length(): number {
    return (this.#dropped + this.#parts.length - 1) * this.#shape.length + this.#filled;
  }

  get oldest(): number {
    return this.#dropped * this.#shape.length;
  }

  push(x: number): number {
    if (this.#filled === this.#shape.length) this.#begin();
    const part = this.#parts[this.#parts.length - 1]!;
    if (this.#filled + 1 === part.sums.length) part.sums = longer(part.sums, this.#shape.length + 1);
    const published = part.mechanism.push(x);
    part.sums[this.#filled + 1] = part.sums[this.#filled]! + published;
    this.#filled++;
    return published;
  }

  pushMany(xs: Float64Array): Float64Array {
    const published = new Float64Array(xs.length);
    for (let i = 0; i < xs.length; i++) published[i] = this.push(xs[i]!);
    return published;
  }

  /** The sum of what was published; there is nothing better to say. */
  answer(from: number, to: number): RawAnswer {
    const { length, restarts } = this.#shape;
    let [sum, spread] = [0, NO_SPREAD];
    for (let part = Math.floor(from / length); part * length < to; part++) {
      const { sums, mechanism } = this.#parts[part - this.#dropped]!;
      const [low, high] = [Math.max(0, from - part * length), Math.min(length, to - part * length)];
      sum += sums[high]! - sums[low]!;
      if (restarts) spread = addSpreads(spread, mechanism.spread(low, high));
    }
    return { sum, spread: restarts ? spread : this.#parts[0]!.mechanism.spread(from, to) };
  }

  #begin(): void {
    const number = this.#dropped + this.#parts.length;
    const mechanism = this.#shape.restarts || number === 0 ? this.#make(number) : this.#parts[0]!.mechanism;
    this.#parts.push({ mechanism, sums: new Float64Array(Math.min(256, this.#shape.length + 1)) });
    if (this.#parts.length > this.#shape.history) {
      this.#parts.shift();
      this.#dropped++;
    }
    this.#filled = 0;
  }
}

function longer(sums: Float64Array, most: number): Float64Array {
  const copy = new Float64Array(Math.min(most, 2 * sums.length));
  copy.set(sums);
  return copy;
}
