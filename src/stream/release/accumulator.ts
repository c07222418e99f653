/**
 * The running block: the integer sum of its values so far, and the number that all but its last position publish.
 * `take` is all that a push does, except at the end of a block and for a value above the limit.
 */
import { quantise } from "../../core/quantise.js";

/** Compilers know a constant of this module; an import they look up with every push. */
const toGrid = quantise;

/** Fields hold a number of their kind from the start, so that engines keep doubles in place. */
export class Accumulator {
  readonly length: number;
  readonly resolution: number;
  /** θ, in units of the stream. */
  #theta = NaN;
  #left: number;
  #sum = 0;
  #steady = NaN;
  #watched = NaN;
  /** `#watched`, or −∞ while no value may be taken: one comparison for every push, whatever there is to look at. */
  #limit = -Infinity;

  /** @param length of a block, in values */
  constructor(length: number, resolution: number) {
    this.length = Math.floor(length); // a small integer: engines take any power for a double
    this.resolution = resolution;
    this.#left = this.length;
  }

  /** Adds a value. @returns false, and nothing changes, if it ends the block, is above the limit or may not be taken now */
  take(value: number): boolean {
    const left = this.#left - 1;
    if (left === 0 || value > this.#limit) return false;
    this.#sum += toGrid(value, this.#theta, this.resolution);
    this.#left = left;
    return true;
  }

  /** Adds a value above the limit that does not end the block. */
  takeAbove(value: number): void {
    this.#sum = this.sumWith(value);
    this.#left--;
  }

  /** Sum of the running block with one more value, in grid units. */
  sumWith(value: number): number {
    return this.#sum + toGrid(value, this.#theta, this.resolution);
  }

  /** Number that all but the last position of the running block publish, in units of the stream. */
  get steady(): number {
    return this.#steady;
  }

  /** @param perValue in grid units */
  set prediction(perValue: number) {
    this.#steady = perValue * this.resolution;
  }

  get sum(): number {
    return this.#sum;
  }

  /** Values of the running block. */
  get filled(): number {
    return this.length - this.#left;
  }

  /** Whether the next value ends the block. */
  get ends(): boolean {
    return this.#left === 1;
  }

  isAbove(value: number): boolean {
    return value > this.#limit;
  }

  /** A block that has `filled` values with this sum in grid units. */
  begin(filled: number, sum: number): void {
    this.#left = this.length - filled;
    this.#sum = sum;
  }

  /** @param theta and `watched`, above which `take` refuses values, in units of the stream */
  setTree(theta: number, watched: number): void {
    this.#theta = theta;
    this.#watched = watched;
  }

  /** Whether values may be taken. */
  set open(open: boolean) {
    this.#limit = open ? this.#watched : -Infinity;
  }
}
