/**
 * A hierarchy of noisy sums without consistency: every finished node is its true integer sum plus noise of its own.
 *
 * Published online: prefix sums are estimated by the nodes that cover [0, n) (as many per level as the digits of n
 * in base b say), and position n publishes the increment. A range is better answered by the fewest nodes that cover
 * it, so all finished nodes of the forests in reach are kept: 8·b/(b−1) bytes a value, 16 for a binary tree.
 *
 * A value lies in one node per level; level l draws noise of scale Θ/ε_l, and Σ ε_l ≤ ε. The noisy nodes are all
 * that is ever published from.
 */
import type { AnswerKind } from "../../src/stream/answer/answer.js";
import type { RawAnswer } from "../../src/stream/answer/rangeIndex.js";
import { laplaceVariance } from "../../src/stream/answer/variance.js";
import type { Core } from "../../src/core/core.js";
import { Purpose, subStream } from "../../src/core/random.js";
import type { Scale } from "../../src/core/tables/scale.js";
import { NoiseQueue } from "./noiseQueue.js";

export interface NodeShape {
  readonly fanout: number;
  /** Levels, leaves first; the top one has no parent. */
  readonly levels: number;
  /** Noise of a level, counted from 0 at the leaves. */
  scale(level: number): Scale;
  /** Values per forest; a new one starts after them. `Infinity`: one forest for ever. */
  readonly forestLength: number;
  /** Forests kept. */
  readonly history: number;
}

/** One level of the running forest or of a past one. */
interface Row {
  /** Noisy sums of the nodes finished so far. */
  nodes: Float64Array;
  count: number;
}

export class NodeHierarchy {
  readonly #core: Core;
  readonly #key: Uint32Array;
  readonly #shape: NodeShape;
  /** Forests kept, oldest first; the last one is running. */
  readonly #forests: Row[][] = [];
  #dropped = 0;
  /** Values in the running forest. */
  #filled = 0;
  #noise: NoiseQueue[] = [];
  /** Per level, over the finished children of the running parent: sums of true and of noisy values. */
  #sums: number[] = [];
  #noisySums: number[] = [];
  /** Variances of the noise of a level, once asked for. */
  readonly #variances: number[] = [];

  constructor(core: Core, key: Uint32Array, shape: NodeShape) {
    this.#core = core;
    this.#key = key;
    this.#shape = shape;
    this.#plant();
  }

  get length(): number {
    return this.#start(this.#dropped + this.#forests.length - 1) + this.#filled;
  }

  /** First position that can still be asked for. */
  get oldest(): number {
    return this.#start(this.#dropped);
  }

  /** @param x an integer in [0, Θ]; gives back the increment of the prefix estimate, an integer */
  push(x: number): number {
    const { fanout, levels, forestLength } = this.#shape;
    if (this.#filled === forestLength) this.#plant();
    this.#filled++;
    let published = this.#finish(0, x);
    for (let level = 1, size = fanout; level < levels && this.#filled % size === 0; level++, size *= fanout) {
      const sum = this.#sums[level - 1]!;
      published -= this.#noisySums[level - 1]!; // the parent stands for its children from here on
      this.#sums[level - 1] = 0;
      this.#noisySums[level - 1] = 0;
      published += this.#finish(level, sum);
    }
    return published;
  }

  /** Publishes many values, with the numbers of one `push` each; forest by forest, and in a forest level by level. */
  pushMany(xs: Float64Array): Float64Array {
    const published = new Float64Array(xs.length);
    for (let done = 0; done < xs.length;) {
      if (this.#filled === this.#shape.forestLength) this.#plant();
      const end = Math.min(xs.length, done + this.#shape.forestLength - this.#filled);
      this.#pushWithin(xs.subarray(done, end), published.subarray(done, end));
      done = end;
    }
    return published;
  }

  /** All numbers are integers below 2⁵³, so the order in which a position's parts are added up does not show. */
  #pushWithin(xs: Float64Array, published: Float64Array): void {
    const { fanout, levels } = this.#shape;
    const rows = this.#forests.at(-1)!;
    let sums = xs;
    for (let level = 0, size = 1; level < levels && sums.length > 0; level++, size *= fanout) {
      const row = (rows[level] ??= { nodes: new Float64Array(16), count: 0 });
      const noisy = extend(row, sums.length);
      (this.#noise[level] ??= this.#queue(level)).fill(noisy);
      const parents = new Float64Array(Math.ceil(sums.length / fanout));
      let finished = 0;
      let [sum, noisySum] = [this.#sums[level] ?? 0, this.#noisySums[level] ?? 0];
      const before = row.count - sums.length;
      let left = fanout - (before % fanout); // children that the running parent still waits for
      let at = (before + 1) * size - 1 - this.#filled; // where the node's last value is published
      for (let i = 0; i < sums.length; i++, at += size) {
        noisy[i]! += sums[i]!;
        sum += sums[i]!;
        noisySum += noisy[i]!;
        published[at]! += noisy[i]!;
        if (--left > 0 || level + 1 === levels) continue;
        published[at]! -= noisySum; // the parent stands for its children from here on
        parents[finished++] = sum;
        left = fanout;
        sum = noisySum = 0;
      }
      this.#sums[level] = sum;
      this.#noisySums[level] = noisySum;
      sums = parents.subarray(0, finished);
    }
    this.#filled += xs.length;
  }

  /** A node's sum is complete: gives it its noise, once. */
  #finish(level: number, sum: number): number {
    const noise = (this.#noise[level] ??= this.#queue(level));
    const noisy = sum + noise.take();
    const row = (this.#forests.at(-1)![level] ??= { nodes: new Float64Array(16), count: 0 });
    if (row.count === row.nodes.length) grow(row, 1);
    row.nodes[row.count++] = noisy;
    this.#sums[level] = (this.#sums[level] ?? 0) + sum;
    this.#noisySums[level] = (this.#noisySums[level] ?? 0) + noisy;
    return noisy;
  }

  #queue(level: number): NoiseQueue {
    const forest = this.#dropped + this.#forests.length - 1;
    return new NoiseQueue(
      this.#core,
      subStream(this.#key, Purpose.baseline, level, forest),
      this.#shape.scale(level),
    );
  }

  #plant(): void {
    this.#forests.push([]);
    if (this.#forests.length > this.#shape.history) {
      this.#forests.shift();
      this.#dropped++;
    }
    this.#filled = 0;
    this.#noise = [];
    this.#sums = [];
    this.#noisySums = [];
  }

  /** First position of a forest. */
  #start(forest: number): number {
    return forest === 0 ? 0 : forest * this.#shape.forestLength;
  }

  /** The sum over positions [from, to), which are published and still kept. */
  answer(from: number, to: number, kind: AnswerKind): RawAnswer {
    const { forestLength } = this.#shape;
    let sum = 0;
    let variance = 0;
    let fourth = 0;
    for (let forest = Math.floor(from / forestLength); this.#start(forest) < to; forest++) {
      const start = this.#start(forest);
      const [low, high] = [Math.max(0, from - start), Math.min(forestLength, to - start)];
      const rows = this.#forests[forest - this.#dropped]!;
      const visit = (level: number, node: number, sign: number): void => {
        const noise = (this.#variances[level] ??= laplaceVariance(scaleOf(this.#shape.scale(level))));
        sum += sign * rows[level]!.nodes[node]!;
        variance += noise;
        fourth += noise ** 2;
      };
      if (kind === "published") this.#increment(low, high, visit);
      else this.#cover(low, high, visit);
      if (forestLength === Infinity) break;
    }
    return { sum, spread: { variance, fourth } };
  }

  /** The fewest nodes that make up [from, to) of a forest: always the largest that fits. */
  #cover(from: number, to: number, visit: (level: number, node: number, sign: number) => void): void {
    const { fanout, levels } = this.#shape;
    for (let at = from; at < to;) {
      let level = 0;
      let size = 1;
      while (level + 1 < levels && at % (size * fanout) === 0 && at + size * fanout <= to) {
        level++;
        size *= fanout;
      }
      visit(level, at / size, 1);
      at += size;
    }
  }

  /** Nodes of the prefix `to` less those of the prefix `from`: what both have cancels, noise included. */
  #increment(from: number, to: number, visit: (level: number, node: number, sign: number) => void): void {
    const { fanout, levels } = this.#shape;
    for (let level = 0, size = 1; level < levels && size <= to; level++, size *= fanout) {
      const first = (end: number) => (level + 1 < levels ? Math.floor(end / (size * fanout)) * fanout : 0);
      const [low, high] = [Math.floor(from / size), Math.floor(to / size)];
      const shared = first(from) === first(to);
      for (let node = shared ? low : first(to); node < high; node++) visit(level, node, 1);
      if (!shared) for (let node = first(from); node < low; node++) visit(level, node, -1);
    }
  }
}

/** Adds nodes to a row and gives the place for their numbers. */
function extend(row: Row, more: number): Float64Array {
  if (row.count + more > row.nodes.length) grow(row, more);
  return row.nodes.subarray(row.count, (row.count += more));
}

/** Room for `more` nodes at least. */
function grow(row: Row, more: number): void {
  const longer = new Float64Array(Math.max(2 * row.count, row.count + more));
  longer.set(row.nodes);
  row.nodes = longer;
}

/** t as a double, for standard errors. */
function scaleOf({ numerator, denominator }: Scale): number {
  return Number(numerator) / Number(denominator);
}
