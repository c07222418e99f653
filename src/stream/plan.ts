/** Plans the error and memory of a release before any data: everything follows from public parameters. */
import { geometricCandidates } from "./holdout/choice.js";
import { MEDIAN_BLOCKS } from "./predict/smoothers/median.js";
import { candidateGrid } from "./grid.js";
import { heldOut, resolveSettings, type Settings, type StreamOptions } from "./options.js";
import { refiningValues } from "./release/refining.js";
import { firstShare, nodeEpsilon } from "./epsilonShares.js";
import { forestSpread, meanVariance } from "./answer/variance.js";

export interface Plan {
  /** ε of the whole release. */
  readonly epsilon: number;
  /** Children per node of a tree of noise. */
  readonly fanout: number;
  /** Lowest levels of a tree that are left to prediction. */
  readonly skipLevels: number;
  /** Levels of a tree that carry noise. */
  readonly levels: number;
  /** Values per block; a range error below this length is mostly how well the next block is predicted. */
  readonly blockLength: number;
  /** Values covered by one forest of noise. */
  readonly forestLength: number;
  /** Values held out before the first one is published. */
  readonly holdout: number;
  /** Scale of the noise on every node for θ = 1: multiply by θ, or by θ − min. */
  readonly noiseScalePerTheta: number;
  /** With `tuning.refine`: how many values are published before θ is chosen once more, and the scale of their noise. */
  readonly refining: { readonly values: number; readonly noiseScalePerTheta: number } | null;
  /** Noise in a range of this many values, averaged over where it lies, for θ = 1: multiply by θ. */
  readonly errors: readonly { readonly length: number; readonly standardErrorPerTheta: number }[];
  /** Noise that each θ would cost: in a random range, and in the mean of a range of maxRange values. */
  readonly thresholds: readonly {
    readonly threshold: number;
    readonly noiseScale: number;
    readonly standardError: number;
    readonly errorOfMean: number;
  }[];
  /** Bytes of a live stream, of the range index per block, and of the whole index. */
  readonly memory: {
    /** Bytes per live stream at its largest, without the range index. */
    readonly stream: number;
    /** Bytes of range index per block, and for the history that is kept. */
    readonly perBlock: number;
    readonly index: number;
  };
}

/** Takes the options of `tops`. */
export function planValues(options: StreamOptions): Plan {
  const settings = resolveSettings(options);
  const {
    privacy: { epsilon },
    grid: { min, width },
    tree: { fanout, levels, skipped, blockLength, blocksPerForest, maxRange },
  } = settings;
  const forestLength = blocksPerForest * blockLength;
  const perTheta = levels / nodeEpsilon(settings.privacy);
  const random = Math.sqrt(meanVariance(maxRange, fanout, levels, skipped)) / nodeEpsilon(settings.privacy);
  const longest = errorOfLength(settings, forestLength);
  return {
    epsilon,
    fanout,
    skipLevels: skipped,
    levels,
    blockLength,
    forestLength,
    holdout: heldOut(settings),
    noiseScalePerTheta: perTheta,
    refining: settings.privacy.refine
      ? {
          values: refiningValues(settings),
          noiseScalePerTheta: levels / nodeEpsilon(settings.privacy, firstShare(settings.privacy)),
        }
      : null,
    errors: lengths(forestLength, fanout).map((length) => ({
      length,
      standardErrorPerTheta: errorOfLength(settings, length),
    })),
    thresholds: thresholds(settings).map((theta) => ({
      threshold: min + theta,
      noiseScale: perTheta * theta,
      standardError: random * theta,
      errorOfMean: (longest * theta) / forestLength,
    })),
    memory: {
      stream: Math.max(holdoutBytes(settings), releaseBytes(settings)),
      perBlock: bytesPerBlock(settings),
      index: bytesPerBlock(settings) * blocksPerForest * Math.min(settings.tree.history, 2 ** 20),
    },
  };

  /** θ − min as it is given, or halvings of max − min down to 16 steps of the candidates. */
  function thresholds({ privacy: { threshold }, grid: { thresholdStep } }: Settings): number[] {
    if (threshold !== "noisy-max") return [threshold - min];
    const list = [];
    for (let theta = width; theta >= 16 * thresholdStep && list.length < 12; theta /= 2) list.push(theta);
    return list.length > 0 ? list : [width];
  }
}

/** 1, b, b², … and the whole forest. */
function lengths(forestLength: number, fanout: number): number[] {
  const list = [];
  for (let length = 1; length < forestLength; length *= fanout) list.push(length);
  return [...list, forestLength];
}

/** Offsets tried per length: evenly spread over a forest, at places that are no multiple of anything. */
const OFFSETS = 61;

/** √(mean variance) over offsets, for θ = 1 on a grid so fine that discrete noise is Laplace noise. */
export function errorOfLength(settings: Settings, length: number): number {
  const { fanout, levels, blockLength, blocksPerForest } = settings.tree;
  const nodeVariance = 2 * (levels / nodeEpsilon(settings.privacy)) ** 2;
  const room = blocksPerForest - length / blockLength;
  let sum = 0;
  for (let i = 0; i < OFFSETS; i++) {
    const from = (room * (i + 0.5)) / OFFSETS;
    const range = [{ from, to: from + length / blockLength, weight: 1 }];
    sum += forestSpread(range, fanout, levels, nodeVariance).variance;
  }
  return Math.sqrt(sum / OFFSETS);
}

/** Bytes of a block: its sum, its prediction and, if the smoother defers, what it deferred. */
function bytesPerBlock({ output: { smoother } }: Settings): number {
  return smoother === "shrunk" || (typeof smoother === "object" && "period" in smoother) ? 24 : 16;
}

/** A few counters per candidate; the paper's rule keeps the values. */
function holdoutBytes(settings: Settings): number {
  const {
    privacy: { variant },
    grid: { width, thresholdStep },
    holdout: { choosing },
  } = settings;
  if (variant === "paper") return choosing * (width / thresholdStep <= 2 ** 16 ? 2 : 4);
  return choosing === 0 ? 0 : countsBytes(settings);
}

function countsBytes(settings: Settings): number {
  const { largest, step } = candidateGrid(settings.grid);
  return 48 * (geometricCandidates(largest, step).length + 1);
}

/** One tree of leaf noise with its corrections, the smoother, and what counts values for a second choice of θ. */
function releaseBytes(settings: Settings): number {
  const {
    privacy: { refine },
    tree: { fanout, levels },
    output: { smoother },
  } = settings;
  const leaves = fanout ** (levels - 1);
  const groups = levels === 1 ? 0 : leaves / fanout;
  const smoothing = smoother === "median" ? 16 * (MEDIAN_BLOCKS + 1) : 8;
  return 8 * (leaves + groups) + smoothing + (refine ? countsBytes(settings) : 0);
}
