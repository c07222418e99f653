/**
 * A second choice of θ, for streams that publish after a short hold-out. A few hundred held-out values show no tail, so
 * their θ is rough. The values of the first tree are published with it, and counted by size as well; when the tree ends,
 * the counts choose θ once more, by the rule of the hold-out (classes.ts), and from the second tree on this θ holds.
 *
 * Privacy: the choice has half of ε, the nodes of the first tree and its count (follow.ts) have the other half. A value
 * of that tree is in all three, so they add up to ε. Trees after it read other values and have all of ε, and all they
 * know of the first one is released (docs/privacy.md).
 */
import type { Core } from "../core/core.js";
import { Stage } from "../core/random.js";
import { nodeCount } from "../core/tree.js";
import { mostSlices } from "../core/treeSlices.js";
import { type Choice, makeChoice } from "./choice.js";
import { type AboveCount, Classes } from "./classes.js";
import type { Decoder, Encoder } from "./codec.js";
import type { Settings } from "./options.js";
import { ALL_PARTS } from "./stretches.js";
import { HUGE } from "./trees.js";

/**
 * How many 32nds of ε the choice has. With a half of ε, θ is as good as after a long hold-out. With a quarter or an
 * eighth its error is two to five times as large at ε = 0.1, in all trees after the first one (docs/accuracy.md).
 */
export const REFINE_PARTS = 16;

/** Values of the first tree: a tree of noise covers b^(h−1) values, whatever levels are skipped. */
export const refiningValues = ({ fanout, levels, skipped }: Settings): number =>
  fanout ** (levels + skipped - 1);

/**
 * How many of them choose: all, or where trees are so large that they are drawn ahead of any push, all but the last ones. The
 * choice is known before those come, and the second tree is drawn with it meanwhile.
 */
export function refiningRead(settings: Settings): number {
  const { fanout, levels, blockLength } = settings;
  const drawing = nodeCount(fanout, levels) > HUGE ? mostSlices(fanout, levels) + 1 : 0;
  return refiningValues(settings) - drawing * blockLength;
}

/** The share of ε that the choice has; exact, because it is a power of two. */
export const refiningEpsilon = ({ epsilon }: Pick<Settings, "epsilon">): number =>
  (epsilon * REFINE_PARTS) / ALL_PARTS;

/** What the second choice found. */
export interface Refined {
  /** Θ in grid units. */
  readonly theta: number;
  readonly above: AboveCount;
  readonly sparse: boolean;
}

/** Counters for the values of the first tree. */
export const refiningClasses = (settings: Settings): Classes => new Classes(choiceOf(settings));

/** Chooses. The classes' noisy mean is not given out: blocks that are published say what to predict. */
export function refine(core: Core, key: Uint32Array, classes: Classes): Refined {
  const { theta, above, sparse } = classes.choose(core, key, Stage.refining);
  return { theta, above, sparse };
}

export function saveRefined(writer: Encoder, { theta, above, sparse }: Refined): void {
  for (const x of [theta, above.count, above.values, Number(sparse)]) writer.double(x);
}

export function loadRefined(reader: Decoder): Refined {
  const theta = reader.double();
  const above = { count: reader.double(), values: reader.double() };
  return { theta, above, sparse: reader.double() === 1 };
}

/** Public, and the same for every stream with these settings. */
const choices = new WeakMap<Settings, Choice>();

function choiceOf(settings: Settings): Choice {
  let choice = choices.get(settings);
  if (choice === undefined) {
    const { maxRange, max, resolution } = settings;
    const largest = Math.floor(max / resolution);
    choice = makeChoice(refiningEpsilon(settings), refiningValues(settings), maxRange, largest);
    choices.set(settings, choice);
  }
  return choice;
}
