/** The forest that s makes: blocks, levels, how much is kept, and whether all sums in it stay exact. */
import { shown } from "../core/checks.js";
import { levelCount } from "./levels.js";
import type { Settings, TreeSettings } from "./options.js";
import { leastEpsilon } from "./epsilonShares.js";

/** Leaves of one tree of noise. */
const MOST_LEAVES = 2 ** 20;

/** @param history values that `range` can look back on, as asked for */
export function shapeOf(
  skipped: number,
  maxRange: number,
  fanout: number,
  history: number | undefined,
): TreeSettings {
  const levels = levelCount(maxRange, fanout) - skipped;
  const blockLength = fanout ** skipped;
  const blocksPerForest = Math.ceil(maxRange / blockLength);
  if (fanout ** (levels - 1) > MOST_LEAVES)
    throw new RangeError(
      `maxRange: one tree of noise would have ${fanout ** (levels - 1)} leaves, at most 2^20 are supported; lower maxRange or raise tuning.skipLevels`,
    );
  return {
    maxRange,
    fanout,
    levels,
    skipped,
    blockLength,
    blocksPerForest,
    history: forestsKept(history, blocksPerForest * blockLength),
    historyValues: history,
  };
}

/** Settings with other levels skipped, as the hold-out may decide. */
export function withSkipped(settings: Settings, skipped: number): Settings {
  if (skipped === settings.tree.skipped) return settings;
  const { maxRange, fanout, historyValues } = settings.tree;
  return { ...settings, tree: shapeOf(skipped, maxRange, fanout, historyValues) };
}

function forestsKept(asked: number | undefined, forestLength: number): number {
  if (asked === undefined) return 2;
  if (typeof asked !== "number" || !(asked >= 2 * forestLength))
    throw new RangeError(
      `history: expected at least ${2 * forestLength} values (two forests) or Infinity, got ${shown(asked)}`,
    );
  return Math.ceil(asked / forestLength) + 1;
}

/** How many held-out values the first prediction is a mean of: by default those at positions 15 mod 32 (thresholdCounts.ts). */
export function warmValues({
  privacy: { variant },
  holdout: { warmStart, warming, choosing },
}: Settings): number {
  if (!warmStart) return 0;
  return variant === "default" && choosing > 0 ? Math.floor((choosing + 16) / 32) : warming;
}

const MOST_SCALE = 2 ** 40;
/** P(|noise| > 100 t) < 2⁻¹⁴⁴: far enough for sums to be called exact. */
const MARGIN = 100;

/** The most values that kernels count in a block. */
const LONGEST_BLOCK = 2 ** 30;

/** Fails unless sums and noise stay exact integers in a double, for the largest θ there can be. */
export function checkExactRange(settings: Settings): void {
  const wrong = exactRangeError(settings);
  if (wrong !== undefined) throw new RangeError(wrong);
}

/** Whether sums and noise stay exact integers in a double; if not, what to change. */
export function exactRangeError(settings: Settings): string | undefined {
  const {
    privacy: { epsilon },
    grid: { min, max, width, resolution },
    tree: { levels, fanout, blocksPerForest, blockLength },
  } = settings;
  const [bound, given] = min === 0 ? ["max", max] : ["max − min", width];
  if (!(blockLength <= LONGEST_BLOCK))
    return `tuning.skipLevels: expected blocks of at most 2^30 values, got ${fanout}^${settings.tree.skipped} = ${blockLength}; lower it`;
  const largest = Math.ceil(width / resolution);
  const scale = (levels * largest) / leastEpsilon(settings.privacy);
  if (!(scale <= MOST_SCALE))
    return `epsilon: noise of scale levels·(${min === 0 ? bound : `(${bound})`}/resolution)/ε = ${scale.toPrecision(3)} is above 2^40; raise epsilon (${epsilon}), lower ${bound} (${given}) or take a coarser tuning.resolution (${resolution})`;
  if (!(epsilon <= 64 * levels))
    return `epsilon: expected at most ${64 * levels}, got ${epsilon}; noise that small protects nothing`;
  const most = largest * Math.max(blocksPerForest * blockLength, warmValues(settings));
  if (!(most + MARGIN * scale * (fanout + 1) < 2 ** 52))
    return `max: sums up to (${min === 0 ? bound : `(${bound})`}/resolution)·maxRange (or the warm start's share of holdout) = ${most.toPrecision(3)} do not stay exact in a double; lower ${bound} (${given}), maxRange (${settings.tree.maxRange}) or holdout, or take a coarser tuning.resolution (${resolution})`;
  return undefined;
}
