/** Which θ and which noise each tree of a release has: the same for all, or from tree to tree as the stream goes (follow.ts). */
import type { Core } from "../../core/core.js";
import type { Scale } from "../../core/tables/scale.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import { slicesDue, slicesSoon } from "./firstTree.js";
import {
  countedAbove,
  COUNT_SHARE,
  followFrom,
  type Following,
  type FollowRule,
  followRule,
  followTree,
  loadFollowing,
  noisyCount,
  otherThetas,
  saveFollowing,
} from "./follow.js";
import { Forest } from "./forest.js";
import { firstShare, nodeShare } from "../epsilonShares.js";
import type { Settings } from "../options.js";
import type { AboveCount } from "../holdout/thresholdCounts.js";
import type { CountedPart } from "../answer/clipping.js";
import { loadRefined, type Refined, Refining, refiningEpsilon, saveRefined } from "./refining.js";
import { WHOLE, makeEpoch, type Epoch, type EpochShape, Epochs } from "./epochs.js";
import { type CountedTree, TreeCounts } from "./treeCounts.js";
import type { OtherScales } from "./trees.js";

/** A tree that runs. Never changed: the next tree has the next one. */
export interface RunningTree {
  readonly epoch: Epoch;
  /** `undefined` where θ stays as it is. */
  readonly following: Following | undefined;
  /** Values above it are counted, in units of the stream. */
  readonly limit: number;
  /** Counts of the tree before it. */
  readonly counted?: CountedTree;
  /** Result of the first tree, if θ is chosen once more when it ends. */
  readonly refined?: Refined | undefined;
}

/** Where the next value goes: its block, what that holds already, and what the running tree holds. */
export interface Cursor {
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
  /** All epochs up to it, and the counts of all trees before it. */
  readonly list: readonly Epoch[];
  readonly counts: readonly CountedTree[];
  /** Counter of the values of the first tree, if they decide nothing after it. */
  readonly refining: Refining | undefined;
}

export class TreeSequence implements OtherScales {
  readonly epochs: Epochs;
  readonly #counts = new TreeCounts();
  readonly #core: Core;
  readonly #key: Uint32Array;
  readonly #settings: Settings;
  readonly #scaling: EpochShape;
  readonly #rule: FollowRule | undefined;
  /** Blocks of a tree. */
  readonly #leaves: number;
  readonly #forest: Forest;
  #running: RunningTree;
  /** Counts the values of the first tree until it ends, where they choose θ once more. */
  #refining: Refining | undefined;

  /**
   * @param theta Θ in grid units, as the hold-out chose it
   * @param fractionBits estimates are multiples of 2^−fractionBits
   */
  constructor(core: Core, key: Uint32Array, settings: Settings, theta: number, fractionBits: number) {
    this.#core = core;
    this.#key = key;
    this.#settings = settings;
    this.#scaling = { levels: settings.tree.levels, epsilon: settings.privacy.epsilon };
    this.#leaves = settings.tree.fanout ** (settings.tree.levels - 1);
    if (settings.privacy.follow) this.#rule = followRule(settings);
    if (settings.privacy.refine) this.#refining = new Refining(settings);
    this.#running = this.#tree(
      makeEpoch(this.#scaling, 0, theta, firstShare(settings.privacy)),
      followFrom(theta),
    );
    this.epochs = new Epochs(this.#running.epoch);
    this.#forest = new Forest(core, key, settings.tree, fractionBits, this);
  }

  get running(): RunningTree {
    return this.#running;
  }

  /** Whether the values of the running tree choose θ once more. */
  get refining(): boolean {
    return this.#refining !== undefined;
  }

  /** Counts a value of the running tree for the second choice of θ, where there is one; cannot fail. */
  countForRefining(value: number): void {
    this.#refining?.add(value);
  }

  /** The first block of the tree that a block is in. */
  firstOf(block: number): number {
    return block - ((block % this.#settings.tree.blocksPerForest) % this.#leaves);
  }

  /** The first block after the tree that a block is in; Infinity where θ follows nothing. */
  endOf(block: number): number {
    if (this.#rule === undefined) return Infinity;
    const { blocksPerForest } = this.#settings.tree;
    const forest = block - (block % blocksPerForest);
    return Math.min(this.firstOf(block) + this.#leaves, forest + blocksPerForest);
  }

  /** Makes the second choice of θ early, where that is due. @returns whether it was made now, which is work enough for a push */
  chooseEarly(): boolean {
    return this.#refining?.chooseEarly(this.#core, this.#key) ?? false;
  }

  /** Values that Θ may take when the running tree ends, as far as they are known. */
  thetas(): readonly number[] {
    const { following } = this.#running;
    if (this.#rule === undefined || following === undefined) return [];
    if (this.#refining === undefined) return otherThetas(this.#rule, following);
    return this.#refining.theta === undefined ? [] : [this.#refining.theta];
  }

  /** Scale of the noise with such a Θ. */
  scaleOf(theta: number): Scale {
    return makeEpoch(this.#scaling, 0, theta, nodeShare(this.#settings.privacy)).scale;
  }

  /** Draws what takes long before a push needs it. */
  prepare(block: number): void {
    this.#forest.prepare(block, this.#running.epoch.scale);
  }

  /** Draws what is due of the first tree after so many idle values (firstTree.ts); cannot fail. */
  draw(values: number): void {
    this.#drawSoon(Math.max(slicesDue(values), slicesSoon(this.#settings)));
  }

  /** Where the running tree has noise of a new scale, a part of it is drawn now: its first block has less to wait for. */
  #drawSoon(slices: number): void {
    const { block, scale } = this.#running.epoch;
    this.#forest.drawSoon(block, scale, slices);
  }

  /** û of a block of the running tree, from its true sum. */
  estimate(block: number, sum: number): number {
    return this.#forest.estimate(block, sum, this.#running.epoch.scale);
  }

  /**
   * Estimates of all blocks that a batch finishes, tree by tree, and where that leads to. Changes nothing, and fails if a
   * value is not finite.
   */
  estimateMany(values: Float64Array, from: Cursor, estimates: Float64Array): Reached & Pick<Cursor, "sum"> {
    const refining = this.#refining?.copy();
    try {
      return this.#estimateMany(values, from, estimates, refining);
    } catch (error) {
      refining?.wipe();
      throw error;
    }
  }

  /** @param refining counts values of the first tree */
  #estimateMany(
    values: Float64Array,
    from: Cursor,
    estimates: Float64Array,
    refining: Refining | undefined,
  ): Reached & Pick<Cursor, "sum"> {
    const {
      grid: { resolution },
      tree: { blockLength: n },
    } = this.#settings;
    let { block, filled, sum, above, total } = from;
    let tree = this.#running;
    const begun: Epoch[] = [];
    const counted: CountedTree[] = [];
    for (let at = 0; at < values.length;) {
      const end = this.endOf(block);
      const part = values.subarray(at, at + (end - block) * n - filled);
      const done = block - from.block;
      const finished = estimates.subarray(done, done + Math.floor((filled + part.length) / n));
      const { theta, scale } = tree.epoch;
      const clamp = theta * resolution;
      const taken = this.#core.blockSums(part, clamp, resolution, n, filled, sum, finished, tree.limit);
      sum = taken.sum;
      above += taken.above;
      this.#forest.estimateMany(block, finished, scale);
      refining?.addMany(this.#core, part);
      at += part.length;
      filled = (filled + part.length) % n;
      block += finished.length;
      for (let i = 0; i < finished.length; i++) total += finished[i]!;
      if (block < end) continue;
      const next = this.#after(tree, end, above, total, refining);
      refining = undefined;
      if (next.epoch !== tree.epoch) begun.push(next.epoch);
      counted.push(next.counted!);
      [tree, above, total] = [next, 0, 0];
    }
    const [list, counts] = [this.epochs.followedBy(begun), this.#counts.followedBy(counted)];
    return { sum, above, tree, list, counts, refining };
  }

  /** Ends the running tree alone, as `estimateMany` does with values after it. @param last its last value */
  next(end: number, above: number, total: number, last: number): Reached {
    const { epoch } = this.#running;
    const refining = this.#refining?.copy();
    refining?.add(last);
    const tree = this.#after(this.#running, end, above, total, refining);
    return {
      refining: undefined,
      tree,
      above: 0,
      list: this.epochs.followedBy(tree.epoch === epoch ? [] : [tree.epoch]),
      counts: this.#counts.followedBy([tree.counted!]),
    };
  }

  /**
   * Makes what was reached the state; cannot fail.
   * @param oldest the first block that is kept
   */
  begin({ tree, list, counts, refining }: Reached, oldest: number): void {
    this.#running = tree;
    this.#refining?.wipe();
    this.#refining = refining;
    this.epochs.replace(list, oldest);
    this.#counts.replace(counts, oldest);
    this.#drawSoon(slicesSoon(this.#settings));
  }

  /**
   * The parts of positions [from, to), each with the count that speaks for it (clipping.ts).
   * @param above how many of the values that chose θ were above it
   */
  countedParts(from: number, to: number, above: AboveCount): CountedPart[] {
    const {
      grid: { width, resolution },
      tree: { blockLength },
    } = this.#settings;
    const scale = WHOLE / (COUNT_SHARE * this.#settings.privacy.epsilon);
    const largest = Math.floor(width / resolution);
    const { epoch, refined } = this.#running;
    const epsilon =
      refined === undefined ? this.#settings.privacy.epsilon : refiningEpsilon(this.#settings.privacy);
    const shape = { blockLength, scale, epsilon, largest };
    return this.#counts.partsOf(from, to, epoch.theta, above, shape);
  }

  /**
   * The tree after one that has ended.
   * @param end the first block after it
   * @param above how many of its values were above the limit
   * @param total the sum of its estimates
   * @param refining has counted its values, if it is the first one and θ is chosen once more; wiped here
   */
  #after(
    { epoch, following, refined: before }: RunningTree,
    end: number,
    above: number,
    total: number,
    refining: Refining | undefined,
  ): RunningTree {
    const { blocksPerForest, blockLength } = this.#settings.tree;
    const first = this.firstOf(end - 1);
    const forest = Math.floor(first / blocksPerForest);
    const tree = (first % blocksPerForest) / this.#leaves;
    const values = (end - first) * blockLength;
    const count = noisyCount(this.#core, this.#key, this.#rule!, forest, tree, above);
    const refined = refining === undefined ? before : refining.choose(this.#core, this.#key);
    const next =
      refined === before
        ? followTree(this.#rule!, following!, { count, values, mean: total / values })
        : followFrom(refined!.theta);
    const { theta } = epoch;
    const share = nodeShare(this.#settings.privacy);
    const same = next.theta === theta && share === epoch.share;
    return {
      ...this.#tree(same ? epoch : makeEpoch(this.#scaling, end, next.theta, share), next),
      counted: { first, end, theta, count },
      refined,
    };
  }

  #tree(epoch: Epoch, following: Following): RunningTree {
    const rule = this.#rule;
    if (rule === undefined) return { epoch, following: undefined, limit: Infinity };
    return { epoch, following, limit: countedAbove(rule, epoch.theta) * this.#settings.grid.resolution };
  }

  save(writer: Encoder): void {
    this.epochs.save(writer);
    if (this.#running.following === undefined) return;
    saveFollowing(writer, this.#running.following);
    this.#counts.save(writer);
    if (!this.#settings.privacy.refine) return;
    const { refined } = this.#running;
    writer.double(Number(refined !== undefined));
    if (refined === undefined) this.#refining!.save(writer);
    else saveRefined(writer, refined);
  }

  load(reader: Decoder): void {
    this.epochs.load(reader, this.#scaling);
    const { last } = this.epochs;
    this.#running = this.#tree(
      last,
      this.#rule === undefined ? followFrom(last.theta) : loadFollowing(reader),
    );
    if (this.#rule !== undefined) this.#counts.load(reader);
    if (!this.#settings.privacy.refine) return;
    if (reader.double() === 0) return this.#refining!.load(reader);
    this.#refining = undefined;
    this.#running = { ...this.#running, refined: loadRefined(reader) };
  }
}
