/**
 * The interface of both cores. `wasm` runs the kernels of assembly/, `js` their twins in plain TypeScript; on the
 * same key they give the same answers, bit for bit. A core keeps nothing between calls: every array that goes
 * in or comes out belongs to the caller.
 */
import type { DayShape } from "./dayShape.js";
import type { Mechanism, Quantiser } from "./tables/sectors.js";
import type { FillDigit } from "./tables/digit.js";
import type { Selection } from "./tables/selection.js";
import type { Random } from "./random.js";
import type { Scale } from "./tables/scale.js";
import type { Transition } from "./tables/transition.js";

/** ChaCha20 (RFC 8439). */
export interface Keystream {
  /** Fills `out` with the next words of the keystream. */
  keystream(random: Random, out: Uint32Array): void;
}

/** Expectation maximisation for the Square Wave mechanism, O(n) a step. */
export interface SquareWave {
  /**
   * Runs as many updates as `predicted` has rows of n = transition.bins, and keeps them all: the decision to stop is
   * taken outside, from logarithms that must not differ between cores.
   * @param counts reports per output bin
   * @param smooth EMS: [1, 2, 1]/4 after every update
   * @param estimates one row of n more than `predicted`; the first row goes in, sums to 1, each update writes the next
   * @param predicted M f of the estimate that entered each update
   */
  emSteps(
    transition: Transition,
    counts: Float64Array,
    smooth: boolean,
    estimates: Float64Array,
    predicted: Float64Array,
  ): void;
}

/** Tables that samples are drawn from. */
export interface Digits {
  readonly fillDigit: FillDigit;
}

/** Exact samples. A call that throws leaves `random` where it was, and `out` with nothing to rely on. */
export interface Sampling {
  /** Integers k ≥ 0 with P(k) ∝ exp(−k/t). */
  geometric(random: Random, scale: Scale, out: Float64Array): void;
  /** Discrete Laplace: integers k with P(k) ∝ exp(−|k|/t). */
  laplace(random: Random, scale: Scale, out: Float64Array): void;
}

/** The noise of one tree after consistency; a leaf of true count T is released as (T + noise) + correction. */
export interface Tree {
  /** One integer per leaf. */
  readonly noise: Float64Array;
  /** One f per group of b sibling leaves: leaf i has corrections[⌊i/b⌋]. Empty for one level. */
  readonly corrections: Float64Array;
}

/** A forest is grown tree by tree, since a stream only ever needs the one it is in. */
export interface Forests {
  /**
   * Discrete Laplace noise for every node of one tree, made consistent.
   * @param random the tree's own sub-stream; nodes draw in the order of tree.ts, leaves first, top last
   * @param scale t = (levels)·Θ/ε
   */
  growTree(random: Random, scale: Scale, fanout: number, levels: number): Tree;
}

/** Noise of the days of event streams. */
export interface Days {
  /**
   * Draws discrete Laplace noise for every node of one day and makes it consistent. Returns one correction per family of
   * leaves: a leaf of true count T is released as (T + its noise) + its family's correction. The noise of a run of leaves is
   * what `laplace` draws from the sub-stream of that run.
   * @param leafRandom the sub-stream of the first run of `DAY_RUN` leaves; run r has r more in the first word of its nonce
   * @param nodeRandom the sub-stream of the nodes above the leaves
   * Both are read from their first word and are not moved.
   */
  growDay(leafRandom: Random, nodeRandom: Random, scale: Scale, shape: DayShape): Float64Array;
}

export interface BlockSums {
  /** Sum of the block that is running afterwards. */
  readonly sum: number;
  /** How many values are above the limit. */
  readonly above: number;
}

/** Batches of a stream, cut into blocks of n values; all in units of the grid (quantise.ts). */
export interface Ingest {
  /**
   * Clamps to [0, θ], rounds to multiples of g and adds up; counts the values above a limit on the way.
   * @param filled values the running block has already, and `partial` their sum
   * @param sums gets the sum T of every block that becomes complete, in order
   * @param limit in units of the stream; Infinity: nothing is counted
   * @throws TypeError if any value is not finite; `sums` then holds nothing to rely on
   */
  blockSums(
    values: Float64Array,
    theta: number,
    resolution: number,
    n: number,
    filled: number,
    partial: number,
    sums: Float64Array,
    limit: number,
  ): BlockSums;
  /** Writes û = (T + noise) + correction of consecutive leaves of a tree; `out` may be `sums` itself. */
  estimateLeaves(sums: Float64Array, tree: Tree, fanout: number, leaf: number, out: Float64Array): void;
  /**
   * Writes what the next `out.length` positions publish.
   * @param shares per block begun: what all but its last position publish
   * @param lasts per complete block: what its last position publishes
   * @param filled positions the first block has published already
   */
  publishBlocks(
    shares: Float64Array,
    lasts: Float64Array,
    n: number,
    filled: number,
    out: Float64Array,
  ): void;
}

/** The private choice of θ. */
export interface Thresholds {
  /**
   * The index (from 1) of the candidate with the best score plus noise, ties to the lowest.
   * @param bins one per value: how many candidates are below it. Bin k means θ_k < value ≤ θ_(k+1)
   */
  noisyMax(random: Random, bins: Uint16Array | Uint32Array, selection: Selection): number;
}

/** Candidates for θ, in grid units, and a table for the bins of small numbers (stream/choice.ts). */
export interface Candidates {
  /** Ascending. */
  readonly candidates: Float64Array;
  /** A power of two, in grid units. */
  readonly step: number;
  /** By ⌈x/step⌉, where that is in the table: how many candidates lie below x. */
  readonly smallBins: Uint8Array;
}

/** The hold-out of the default rule. */
export interface HeldOut {
  /**
   * Counts values by what they are for and by how many candidates lie below them. A call that throws has counted nothing.
   * @param values finite
   * @param purposes 32, by position mod 32
   * @param first position of the first value
   * @param counters per purpose one per bin, then the sums of the values that are for the mean, per bin
   */
  countHeldOut(
    values: Float64Array,
    max: number,
    resolution: number,
    table: Candidates,
    purposes: Uint8Array,
    first: number,
    counters: Float64Array,
  ): void;
}

/** Local reports: Square Wave, Stochastic Rounding, Piecewise, Hybrid. */
export interface Reports {
  /** One cell of the mechanism's grid per value. Values are finite: checked by the caller. */
  fillReports(
    random: Random,
    mechanism: Mechanism,
    quantiser: Quantiser,
    values: Float64Array,
    out: Uint32Array,
  ): void;
}

/** How far a scan came. */
export interface Scan {
  /** Numbers written. */
  readonly count: number;
  /** The first byte that was not read: the end of the text, or the first record the scan is not certain of. */
  readonly next: number;
  /** Line ends in what was read. */
  readonly lines: number;
}

/** Which numbers of a CSV table are read. */
export interface Table {
  /** The byte between fields; it is part of no number. */
  readonly delimiter: number;
  /** The column, from 0. */
  readonly column: number;
  /** How many fields every row has. */
  readonly fields: number;
}

/**
 * Numbers from UTF-8 text, for whole records: each ends with "\n" or "\r\n". A scan stops at a record that it is not
 * certain of, and when `out` is full. What it reads is exactly what the careful reader reads (adapters/textRecords.ts).
 */
export interface Texts {
  /** One number a line. */
  scanLines(bytes: Uint8Array, out: Float64Array): Scan;
  scanCsv(bytes: Uint8Array, table: Table, out: Float64Array): Scan;
  /** @param path names from the outermost object inwards, as UTF-8 without U+FFFD */
  scanJson(bytes: Uint8Array, path: readonly Uint8Array[], out: Float64Array): Scan;
}

/** The kernels that make noise from a key, apart from data: all that event streams call. */
export interface NoiseCore extends Keystream, Digits, Sampling, Days {
  readonly name: "wasm" | "js";
}

/** The kernels that read data and need no tables of noise: all that reporters, aggregators and readers of text call. */
export interface DataCore extends Ingest, SquareWave, HeldOut, Reports, Texts {
  readonly name: "wasm" | "js";
}

/** All kernels. */
export interface Core extends NoiseCore, DataCore, Forests, Thresholds {}
