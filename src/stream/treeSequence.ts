/** Which θ and which noise each tree of a release has: the same for all, or from tree to tree as the stream goes (follow.ts). */
import type { Core } from "../core/core.js";
import { geometricCandidates } from "./choice.js";
import type { Decoder, Encoder } from "./codec.js";
import {
  countAbove,
  countedAbove,
  COUNT_PARTS,
  followFrom,
  type Following,
  type FollowRule,
  followTree,
  loadFollowing,
  makeFollowRule,
  noisyCount,
  saveFollowing,
} from "./follow.js";
import { Perturber } from "./noise.js";
import type { Settings } from "./options.js";
import type { AboveCount } from "./classes.js";
import type { CountedPart } from "./hidden.js";
import { ALL_PARTS, makeStretch, type Stretch, Stretches } from "./stretches.js";
import { type CountedTree, TreeCounts } from "./treeCounts.js";

/** A tree that runs. Never changed: the next tree has the next one. */
export interface RunningTree {
  readonly stretch: Stretch;
  /** `undefined` where θ stays as it is. */
  readonly following: Following | undefined;
  /** Values above it are counted, in units of the stream. */
  readonly limit: number;
  /** What was counted in the tree before it. */
  readonly counted?: CountedTree;
}

/** Where the next value goes: its block, what that holds already, and what the running tree holds. */
export interface Place {
  readonly block: number;
  /** Values of the block, and their sum. */
  readonly filled: number;
  readonly sum: number;
  /** Values of the tree above the limit, and the sum of its estimates. */
  readonly above: number;
  readonly total: number;
}

/** Where values lead to: the running tree, and how many of its values are above its limit. */
export interface Reached {
  readonly tree: RunningTree;
  readonly above: number;
  /** All stretches up to it, and the counts of all trees before it. */
  readonly list: readonly Stretch[];
  readonly counts: readonly CountedTree[];
}

/** How many 32nds of ε the nodes of a tree have. */
export const nodeParts = ({ follow }: Pick<Settings, "follow">): number =>
  follow ? ALL_PARTS - COUNT_PARTS : ALL_PARTS;

/** The share of ε that the nodes of a tree have. */
export const nodeEpsilon = (settings: Pick<Settings, "follow" | "epsilon">): number =>
  (settings.epsilon * nodeParts(settings)) / ALL_PARTS;

export class TreeSequence {
  readonly stretches: Stretches;
  readonly #counts = new TreeCounts();
  readonly #core: Core;
  readonly #key: Uint32Array;
  readonly #settings: Settings;
  readonly #rule: FollowRule | undefined;
  /** Blocks of a tree. */
  readonly #leaves: number;
  readonly #perturber: Perturber;
  #running: RunningTree;

  /**
   * @param theta Θ in grid units, as the hold-out chose it
   * @param fractionBits estimates are multiples of 2^−fractionBits
   */
  constructor(core: Core, key: Uint32Array, settings: Settings, theta: number, fractionBits: number) {
    this.#core = core;
    this.#key = key;
    this.#settings = settings;
    this.#leaves = settings.fanout ** (settings.levels - 1);
    if (settings.follow) this.#rule = ruleOf(settings);
    this.#running = this.#tree(makeStretch(settings, 0, theta, nodeParts(settings)), followFrom(theta));
    this.stretches = new Stretches(this.#running.stretch);
    this.#perturber = new Perturber(core, key, settings, fractionBits);
  }

  get running(): RunningTree {
    return this.#running;
  }

  /** The first block of the tree that a block is in. */
  firstOf(block: number): number {
    return block - ((block % this.#settings.blocksPerForest) % this.#leaves);
  }

  /** The first block after the tree that a block is in, where that matters. */
  endOf(block: number): number {
    if (this.#rule === undefined) return Infinity;
    const { blocksPerForest } = this.#settings;
    const forest = block - (block % blocksPerForest);
    return Math.min(this.firstOf(block) + this.#leaves, forest + blocksPerForest);
  }

  /** Draws what takes long before a push needs it. */
  prepare(block: number): void {
    this.#perturber.prepare(block, this.#running.stretch.scale);
  }

  /** û of a block of the running tree, from its true sum. */
  estimate(block: number, sum: number): number {
    return this.#perturber.estimate(block, sum, this.#running.stretch.scale);
  }

  /**
   * Estimates of all blocks that a batch finishes, tree by tree, and where that leads to. Changes nothing, and fails if a
   * value is not finite.
   */
  estimateMany(values: Float64Array, from: Place, estimates: Float64Array): Reached & Pick<Place, "sum"> {
    const { blockLength: n, resolution } = this.#settings;
    let { block, filled, sum, above, total } = from;
    let tree = this.#running;
    const begun: Stretch[] = [];
    const counted: CountedTree[] = [];
    for (let at = 0; at < values.length;) {
      const end = this.endOf(block);
      const part = values.subarray(at, at + (end - block) * n - filled);
      const done = block - from.block;
      const finished = estimates.subarray(done, done + Math.floor((filled + part.length) / n));
      const { theta, scale } = tree.stretch;
      sum = this.#core.blockSums(part, theta * resolution, resolution, n, filled, sum, finished);
      this.#perturber.estimateMany(block, finished, scale);
      if (tree.limit < Infinity) above += countAbove(part, tree.limit);
      at += part.length;
      filled = (filled + part.length) % n;
      block += finished.length;
      for (let i = 0; i < finished.length; i++) total += finished[i]!;
      if (block < end) continue;
      const next = this.#after(tree, end, above, total);
      if (next.stretch !== tree.stretch) begun.push(next.stretch);
      counted.push(next.counted!);
      [tree, above, total] = [next, 0, 0];
    }
    const [list, counts] = [this.stretches.followedBy(begun), this.#counts.followedBy(counted)];
    return { sum, above, tree, list, counts };
  }

  /** The same for blocks whose sums are known, where θ never changes. */
  estimateSums(block: number, sums: Float64Array): Reached {
    this.#perturber.estimateMany(block, sums, this.#running.stretch.scale);
    return { tree: this.#running, above: 0, list: this.stretches.all, counts: [] };
  }

  /** The same for the end of the running tree alone. */
  next(end: number, above: number, total: number): Reached {
    const { stretch } = this.#running;
    const tree = this.#after(this.#running, end, above, total);
    return {
      tree,
      above: 0,
      list: this.stretches.followedBy(tree.stretch === stretch ? [] : [tree.stretch]),
      counts: this.#counts.followedBy([tree.counted!]),
    };
  }

  /**
   * Makes what was reached the state; cannot fail.
   * @param oldest the first block that is kept
   */
  begin({ tree, list, counts }: Reached, oldest: number): void {
    this.#running = tree;
    this.stretches.replace(list, oldest);
    this.#counts.replace(counts, oldest);
  }

  /** The parts of positions [from, to), each with the count that speaks for it (hidden.ts). */
  countedParts(from: number, to: number, heldOut: AboveCount): CountedPart[] {
    const { max, resolution, blockLength, epsilon } = this.#settings;
    const scale = ALL_PARTS / (COUNT_PARTS * epsilon);
    const largest = Math.floor(max / resolution);
    const { theta } = this.#running.stretch;
    return this.#counts.partsOf(from, to, theta, heldOut, { blockLength, scale, epsilon, largest });
  }

  /**
   * The tree after one that has ended.
   * @param end the first block after it
   * @param above how many of its values were above the limit
   * @param total the sum of its estimates
   */
  #after({ stretch, following }: RunningTree, end: number, above: number, total: number): RunningTree {
    const { blocksPerForest, blockLength } = this.#settings;
    const first = this.firstOf(end - 1);
    const forest = Math.floor(first / blocksPerForest);
    const tree = (first % blocksPerForest) / this.#leaves;
    const values = (end - first) * blockLength;
    const count = noisyCount(this.#core, this.#key, this.#rule!, forest, tree, above);
    const next = followTree(this.#rule!, following!, { count, values, mean: total / values });
    const { theta, parts } = stretch;
    return {
      ...this.#tree(
        next.theta === theta ? stretch : makeStretch(this.#settings, end, next.theta, parts),
        next,
      ),
      counted: { first, end, theta, count },
    };
  }

  #tree(stretch: Stretch, following: Following): RunningTree {
    const rule = this.#rule;
    if (rule === undefined) return { stretch, following: undefined, limit: Infinity };
    return { stretch, following, limit: countedAbove(rule, stretch.theta) * this.#settings.resolution };
  }

  save(writer: Encoder): void {
    this.stretches.save(writer);
    if (this.#running.following === undefined) return;
    saveFollowing(writer, this.#running.following);
    this.#counts.save(writer);
  }

  load(reader: Decoder): void {
    this.stretches.load(reader, this.#settings);
    const { last } = this.stretches;
    this.#running = this.#tree(
      last,
      this.#rule === undefined ? followFrom(last.theta) : loadFollowing(reader),
    );
    if (this.#rule !== undefined) this.#counts.load(reader);
  }
}

/** The largest Θ that a tree may have. */
export const largestTheta = (settings: Settings, first: number): number =>
  settings.follow ? Math.floor(settings.max / settings.resolution) : first;

/** Public, and the same for every stream with these settings. */
const rules = new WeakMap<Settings, FollowRule>();

function ruleOf(settings: Settings): FollowRule {
  let rule = rules.get(settings);
  if (rule === undefined) {
    const { epsilon, max, resolution } = settings;
    rule = makeFollowRule(epsilon, geometricCandidates(Math.floor(max / resolution)));
    rules.set(settings, rule);
  }
  return rule;
}
