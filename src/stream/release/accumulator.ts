/**
 * The running block: the integer sum of its values so far, and the number that all but its last position publish.
 * What is here is all that a push does, except at the end of a block and for a value above the limit.
 */
import { quantise } from "../../core/quantise.js";

/** Compilers know a constant of this module. An import they look up with every push: a twentieth of its time. */
const toGrid = quantise;

/**
 * A base class, not a field of the publisher: one more object to look into would cost every push a seventh of its time.
 * Fields hold a number of their kind from the start, so that engines keep doubles in place.
 */
export abstract class Accumulator {
  // Parameters
  /** Values of a block. */
  readonly blockLength: number;
  /** Grid units → units of the stream. */
  readonly resolution: number;
  // State
  /** θ, in units of the stream. */
  #theta = NaN;
  /** How many values the running block still takes, and the integer sum of those it has. */
  #left: number;
  #sum = NaN;
  #steady = NaN;
  /** Number that the last value of a block published. */
  #last = NaN;
  #watched = NaN;
  /** `#watched`, or −∞ while no value may be taken: one comparison for every push, whatever there is to look at. */
  #limit = -Infinity;

  constructor(blockLength: number, resolution: number) {
    this.blockLength = Math.floor(blockLength); // a small integer: engines take any power for a double
    this.resolution = resolution;
    this.#left = this.blockLength;
    this.#sum = 0;
  }

  /** @param value finite */
  push(value: number): number {
    const left = this.#left - 1;
    if (left === 0) {
      this.#last = this.finishBlock(value);
      return this.#last; // read from a field of doubles: engines box what a call returns, and then every other push
    }
    const sum = this.#sum + toGrid(value, this.#theta, this.resolution);
    if (value > this.#limit) this.watch(value); // the last call: what fails has changed nothing, what follows cannot fail
    this.#sum = sum;
    this.#left = left;
    return this.#steady;
  }

  /** Takes the value that ends the block. @returns what it publishes */
  protected abstract finishBlock(value: number): number;

  /** Looks at a value that is above the limit, or refuses one that comes while none may be taken. */
  protected abstract watch(value: number): void;

  /** Sum of the running block with one more value, in grid units. */
  protected sumWith(value: number): number {
    return this.#sum + toGrid(value, this.#theta, this.resolution);
  }

  protected isWatched(value: number): boolean {
    return value > this.#limit;
  }

  /** Sum of the running block, in grid units. */
  protected get blockSum(): number {
    return this.#sum;
  }

  /** Values of the running block. */
  protected get filled(): number {
    return this.blockLength - this.#left;
  }

  /** A block that has `filled` values with this sum in grid units. */
  protected beginBlock(filled: number, sum: number): void {
    this.#left = this.blockLength - filled;
    this.#sum = sum;
  }

  /** All but the last position of the running block publish it. @param perValue in grid units */
  protected setSteady(perValue: number): void {
    this.#steady = perValue * this.resolution;
  }

  /** @param theta and `watched`, above which a value is looked at, in units of the stream */
  protected setLimits(theta: number, watched: number): void {
    this.#theta = theta;
    this.#watched = watched;
  }

  /** Whether values may be taken. */
  protected setOpen(open: boolean): void {
    this.#limit = open ? this.#watched : -Infinity;
  }
}
