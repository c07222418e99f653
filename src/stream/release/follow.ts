/**
 * θ follows the stream in time. Each tree counts its values above the next larger candidate, with discrete Laplace noise
 * of scale 32/ε, and its nodes have the other 31/32 of ε. When a tree ends, the counts since θ last changed decide on θ
 * for the next one:
 *
 *     raise   if the last w counts, w = 1, 2 or 4, add up to more than 10√w·32/ε: to the first candidate ≥ 2θ, or ≥ 3θ
 *             where more than a tenth of the values were above;
 *     return  to the θ of the hold-out, if the tree's released mean is below half of the largest since the last return.
 *
 * Privacy: one value is in one tree. It moves the tree's count by one, and its nodes as ever, so ε/32 and 31ε/32 add up to
 * ε; all that decides on θ is released, and trees read disjoint values (docs/privacy-values.md). Released means alone would not
 * do: they rise as well where more values come that are no larger.
 */
import { oneLaplace } from "../../core/oneLaplace.js";
import type { Core } from "../../core/core.js";
import { Purpose, subStream } from "../../core/random.js";
import { exactRational } from "../../core/tables/fixedPoint.js";
import { makeScale, type Scale } from "../../core/tables/scale.js";
import { lastMade } from "../../core/lastMade.js";
import { binOf, geometricCandidates } from "../holdout/choice.js";
import { candidateGrid } from "../grid.js";
import type { Settings } from "../options.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import { WHOLE } from "./epochs.js";

/** How many 32nds of ε the count has. */
export const COUNT_SHARE = 1;
/** A count is believed when it is this many scales of its noise above 0: chance does that once in 40 000 trees. */
const SURE = 10;
const WINDOWS = [1, 2, 4] as const;
/** Above this share of a tree's values θ is raised by more. */
const MANY = 0.1;
const FACTORS = [2, 3] as const;

/** Public, and the same for all trees. */
export interface FollowRule {
  /** Candidates for Θ, in grid units, ascending. */
  readonly candidates: Float64Array;
  /** 32/ε, of the noise on a count. */
  readonly scale: Scale;
  readonly epsilon: number;
}

export function makeFollowRule(epsilon: number, candidates: Float64Array): FollowRule {
  const { numerator, denominator } = exactRational(epsilon);
  return {
    candidates,
    epsilon,
    scale: makeScale(BigInt(WHOLE) * denominator, BigInt(COUNT_SHARE) * numerator),
  };
}

const ruleFor = lastMade((epsilon: number, largest: number, step: number) =>
  makeFollowRule(epsilon, geometricCandidates(largest, step)),
);

export function followRule(settings: Settings): FollowRule {
  const { largest, step } = candidateGrid(settings.grid);
  return ruleFor(settings.privacy.epsilon, largest, step);
}

/** The largest Θ that a tree may have. */
export const largestTheta = (settings: Settings, first: number): number =>
  settings.privacy.follow ? candidateGrid(settings.grid).largest : first;

/** A tree of this many values can hold enough of them above θ to be believed. */
export function canFollow(epsilon: number, treeLength: number): boolean {
  return treeLength >= (SURE * WHOLE) / (COUNT_SHARE * epsilon);
}

/** Evidence of the trees so far about θ. Immutable: the next tree has the next one. */
export interface Following {
  /** Θ in grid units: of the running tree, and as the hold-out chose it. */
  readonly theta: number;
  readonly first: number;
  /** The largest mean of a tree since the last return to the first θ, per value. */
  readonly largest: number;
  /** Noisy counts of the last trees since θ changed, newest first, at most four. */
  readonly counts: readonly number[];
}

export const followFrom = (theta: number): Following => ({ theta, first: theta, largest: 0, counts: [] });

/** A tree that has ended: its noisy count, how many values it had, and their released mean. */
export interface EndedTree {
  readonly count: number;
  readonly values: number;
  readonly mean: number;
}

export function followTree(rule: FollowRule, before: Following, tree: EndedTree): Following {
  const { theta, first } = before;
  if (tree.mean < before.largest / 2) return { theta: first, first, largest: tree.mean, counts: [] };
  const largest = Math.max(before.largest, tree.mean);
  const counts = [tree.count, ...before.counts].slice(0, 4);
  for (const w of WINDOWS) {
    if (counts.length < w) break;
    const sum = counts.slice(0, w).reduce((a, b) => a + b, 0);
    if (sum * rule.epsilon * COUNT_SHARE <= SURE * Math.sqrt(w) * WHOLE) continue;
    const factor = FACTORS[sum > MANY * w * tree.values ? 1 : 0];
    return { theta: raised(rule.candidates, factor * theta), first, largest, counts: [] };
  }
  return { theta, first, largest, counts };
}

/** Every Θ other than that of the running tree that the next one may have, whatever the running one counts. */
export function otherThetas({ candidates }: FollowRule, { theta, first }: Following): number[] {
  const next = new Set([...FACTORS.map((factor) => raised(candidates, factor * theta)), first]);
  next.delete(theta);
  return [...next];
}

/** The first candidate from `least` on, or the largest there is. */
function raised(candidates: Float64Array, least: number): number {
  return candidates[Math.min(binOf(candidates, least), candidates.length - 1)]!;
}

/** Θ of the next larger candidate: values above it are counted. None are above the largest. */
export function countedAbove({ candidates }: FollowRule, theta: number): number {
  const next = candidates[binOf(candidates, theta) + 1];
  return next ?? Infinity;
}

/** @param tree its place in its forest */
export function noisyCount(
  core: Core,
  key: Uint32Array,
  { scale }: FollowRule,
  forest: number,
  tree: number,
  count: number,
): number {
  return count + oneLaplace(core, subStream(key, Purpose.following, 0, forest, tree), scale);
}

export function saveFollowing(writer: Encoder, { theta, first, largest, counts }: Following): void {
  for (const x of [theta, first, largest, counts.length]) writer.double(x);
  for (let i = 0; i < 4; i++) writer.double(counts[i] ?? 0);
}

export function loadFollowing(reader: Decoder): Following {
  const [theta, first, largest, length] = Array.from({ length: 4 }, () => reader.double());
  const counts = Array.from({ length: 4 }, () => reader.double()).slice(0, length);
  return { theta: theta!, first: first!, largest: largest!, counts };
}
