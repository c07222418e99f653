/**
 * A second choice of θ, for streams that publish after a short hold-out. A few hundred held-out values show no tail, so
 * their θ is rough. The values of the first tree are published with it, and counted by size as well; when the tree ends,
 * the counts choose θ once more, by the rule of the hold-out (thresholdCounts.ts), and from the second tree on this θ holds.
 *
 * Privacy: the choice has half of ε, the nodes of the first tree and its count (follow.ts) have the other half. A value
 * of that tree is in all three, so they add up to ε. Trees after it read other values and have all of ε, and all they
 * know of the first one is released (docs/privacy-values.md).
 */
import { madeOnce } from "../../core/madeOnce.js";
import type { Core } from "../../core/core.js";
import { quantise } from "../../core/quantise.js";
import { Purpose } from "../../core/random.js";
import { nodeCount } from "../../core/tree.js";
import { mostSlices } from "../../core/treeSlices.js";
import { valuesChoice } from "../holdout/choice.js";
import { type AboveCount, ThresholdCounts } from "../holdout/thresholdCounts.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import type { PrivacySettings, Settings } from "../options.js";
import { WHOLE } from "./epochs.js";
import { HUGE } from "./trees.js";

/**
 * How many 32nds of ε the choice has. With a half of ε, θ is as good as after a long hold-out. With a quarter or an
 * eighth its error is two to five times as large at ε = 0.1, in all trees after the first one (research/notes/short-hold-outs.md).
 */
export const REFINE_SHARE = 16;

/** Values of the first tree: a tree of noise covers b^(h−1) values, whatever levels are skipped. */
export const refiningValues = ({ tree: { fanout, levels, skipped } }: Settings): number =>
  fanout ** (levels + skipped - 1);

/**
 * How many of them choose: all, or where trees are so large that they are drawn ahead of any push, all but the last ones. The
 * choice is known before those come, and the second tree is drawn with it meanwhile.
 */
export function refiningRead(settings: Settings): number {
  const { fanout, levels, blockLength } = settings.tree;
  const drawing = nodeCount(fanout, levels) > HUGE ? mostSlices(fanout, levels) + 1 : 0;
  return refiningValues(settings) - drawing * blockLength;
}

/** The share of ε that the choice has; exact, because it is a power of two. */
export const refiningEpsilon = ({ epsilon }: Pick<PrivacySettings, "epsilon">): number =>
  (epsilon * REFINE_SHARE) / WHOLE;

/** Result of the second choice of θ. */
export interface Refined {
  /** Θ in grid units. */
  readonly theta: number;
  readonly above: AboveCount;
  readonly sparse: boolean;
}

/** The values of the first tree while they are counted: true counts stay in memory no longer than they are needed. */
export class Refining {
  readonly #settings: Settings;
  readonly #read: number;
  readonly #counts: ThresholdCounts;
  /** Θ, where it was chosen before the tree ends. */
  #theta: number | undefined;

  constructor(settings: Settings, counts = new ThresholdCounts(refiningChoice(settings))) {
    this.#settings = settings;
    this.#read = refiningRead(settings);
    this.#counts = counts;
  }

  get theta(): number | undefined {
    return this.#theta;
  }

  /** Counts a value, in units of the stream, if it is one of those that choose; cannot fail. */
  add(value: number): void {
    const { width, resolution } = this.#settings.grid;
    if (this.#counts.held < this.#read) this.#counts.add(quantise(value, width, resolution));
  }

  addMany(core: Core, values: Float64Array): void {
    const { width, resolution } = this.#settings.grid;
    const count = Math.min(values.length, this.#read - this.#counts.held);
    this.#counts.addMany(core, values, count, width, resolution);
  }

  copy(): Refining {
    const copy = new Refining(this.#settings, this.#counts.copy());
    copy.#theta = this.#theta;
    return copy;
  }

  /** Chooses Θ as soon as all values that choose are counted, though the tree still runs. @returns whether it did so now */
  chooseEarly(core: Core, key: Uint32Array): boolean {
    if (this.#theta !== undefined || this.#counts.held < this.#read) return false;
    this.#theta = this.copy().choose(core, key).theta;
    return true;
  }

  /** Chooses and wipes the counts. Their noisy mean is not given out: blocks that are published say what to predict. */
  choose(core: Core, key: Uint32Array): Refined {
    try {
      const { theta, above, sparse } = this.#counts.choose(core, key, Purpose.refining);
      return { theta, above, sparse };
    } finally {
      this.wipe();
    }
  }

  wipe(): void {
    this.#counts.wipe();
  }

  save(writer: Encoder): void {
    this.#counts.save(writer);
  }

  load(reader: Decoder): void {
    this.#counts.load(reader);
  }
}

export function saveRefined(writer: Encoder, { theta, above, sparse }: Refined): void {
  for (const x of [theta, above.count, above.values, Number(sparse)]) writer.double(x);
}

export function loadRefined(reader: Decoder): Refined {
  const theta = reader.double();
  const above = { count: reader.double(), values: reader.double() };
  return { theta, above, sparse: reader.double() === 1 };
}

/** Public parameters of the second choice of θ. */
export const refiningChoice = madeOnce((settings: Settings) =>
  valuesChoice(settings, refiningEpsilon(settings.privacy), refiningValues(settings)),
);
