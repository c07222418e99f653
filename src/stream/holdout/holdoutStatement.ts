/** The hold-out in the statement: which stage reads which values, the clamped share, and warnings. */
import type { AboveCount } from "./thresholdCounts.js";
import { COUNT_SHARE } from "../release/follow.js";
import { heldOut, type Settings } from "../options.js";
import { REFINE_SHARE, refiningEpsilon, refiningRead, refiningValues } from "../release/refining.js";
import type { ClampedShare, StageStatement } from "../statement.js";
import { WHOLE } from "../release/epochs.js";
import { firstShare, nodeShare } from "../epsilonShares.js";

export function stagesOf(settings: Settings): StageStatement[] {
  const {
    privacy: { epsilon, variant, threshold },
    holdout: { choosing, probing, warming, warmStart },
  } = settings;
  const stage = (
    name: StageStatement["stage"],
    mechanism: string,
    values: StageStatement["values"],
    which?: string,
    share = WHOLE,
  ): StageStatement => {
    const all = { stage: name, mechanism, epsilon: (epsilon * share) / WHOLE, delta: 0, values };
    return which === undefined ? all : { ...all, which };
  };
  const stages: StageStatement[] = [];
  const end = choosing + warming;
  if (variant === "default" && threshold === "noisy-max") {
    const read = [0, choosing] as const;
    stages.push(
      stage("threshold", "a count for sparsity, discrete Laplace noise", read, "positions 3 mod 16"),
      stage("threshold", "a rough θ by permute-and-flip", read, "positions 7 mod 16"),
      stage("threshold", "θ by permute-and-flip", read, "positions other than 3, 7, 15 mod 16"),
    );
    if (warmStart) stages.push(stage("warm start", "one noisy sum", read, "positions 15 mod 32"));
    stages.push(stage("clamped share", "one noisy count of values above θ", read, "positions 31 mod 32"));
  } else if (choosing > 0) stages.push(stage("threshold", "noisy max, laplace noise", [0, choosing]));
  if (probing > 0)
    stages.push(
      stage("probe", "noisy sums that decide whether one level less is skipped", [end, end + probing]),
    );
  if (warming > 0) stages.push(stage("warm start", "one noisy sum", [choosing, end]));
  const published = [heldOut(settings), null] as const;
  const release = (values: StageStatement["values"], share: number) =>
    stage("release", "noisy hierarchy, made consistent", values, undefined, share);
  if (settings.privacy.refine) {
    const second = heldOut(settings) + refiningValues(settings);
    const read = [heldOut(settings), heldOut(settings) + refiningRead(settings)] as const;
    const refine = (mechanism: string, which: string, name: StageStatement["stage"] = "threshold") =>
      stage(name, mechanism, read, which, REFINE_SHARE);
    stages.push(
      release([heldOut(settings), second], firstShare(settings.privacy)),
      refine("second choice: a count for sparsity, discrete Laplace noise", "published positions 3 mod 16"),
      refine("second choice: a rough θ by permute-and-flip", "published positions 7 mod 16"),
      refine("second choice: θ by permute-and-flip", "published positions other than 3, 7, 15 mod 16"),
      refine("one noisy count of values above θ", "published positions 31 mod 32", "clamped share"),
      release([second, null], nodeShare(settings.privacy)),
    );
  } else stages.push(release(published, nodeShare(settings.privacy)));
  if (settings.privacy.follow)
    stages.push(
      stage("following", "per tree one noisy count of values above θ", published, undefined, COUNT_SHARE),
    );
  return stages;
}

/** The count with its noise, and where it lies with 95 % probability: P(|noise| > k) < exp(−kε). */
export function clampedShare(above: AboveCount | undefined, epsilon: number): ClampedShare | null {
  if (above === undefined || above.values === 0) return null;
  const reach = Math.log(20) / epsilon;
  const within = (x: number) => Math.min(above.values, Math.max(0, x));
  return {
    count: above.count,
    low: within(above.count - reach),
    high: within(above.count + reach),
    of: above.values,
  };
}

/** Noise of the choice moves θ by some 3/ε values; a hold-out of less than a hundred times that cannot show a tail. */
const BLUR = 3;
const LARGEST_BLUR = 0.01;

/**
 * @param theta Θ in grid units, once known
 * @param sparse as the values that chose it showed
 * @param refined whether those are the values of the first tree
 */
export function warningsOf(
  settings: Settings,
  theta: number | undefined,
  sparse: boolean,
  refined: boolean,
): string[] {
  const {
    privacy: { variant, threshold, refine },
    grid: { max, width, resolution },
  } = settings;
  const warnings: string[] = [];
  if (settings.grid.coarsened)
    warnings.push(
      `values are rounded to multiples of ${resolution}, coarser than usual: at this ε, max and maxRange sums would not stay exact on a finer grid`,
    );
  if (variant !== "default" || threshold !== "noisy-max") return warnings;
  const [epsilon, choosing, values] = refined
    ? [
        refiningEpsilon(settings.privacy),
        refiningValues(settings),
        `first tree of ${refiningValues(settings)}`,
      ]
    : [settings.privacy.epsilon, settings.holdout.choosing, `hold-out of ${heldOut(settings)}`];
  const todo = refined
    ? "raise maxRange or give a threshold"
    : refine
      ? `θ is chosen once more after ${refiningValues(settings)} published values`
      : "hold out more values or give a threshold";
  const blurred = (BLUR / epsilon) * (16 / (13 * choosing));
  if (blurred > LARGEST_BLUR)
    warnings.push(
      `the ${values} values at ε = ${epsilon} is too small to see beyond the ${blurred < 1 ? `largest ${Number((100 * blurred).toPrecision(2))} % of values` : "noise"}: θ may be far too small; ${todo}`,
    );
  if (sparse)
    warnings.push(
      `so few ${refined ? "values of the first tree" : "held-out values"} are above 0 that noise may have chosen θ: it may be far too small or too large; ${todo}`,
    );
  if (theta === Math.floor(width / resolution))
    warnings.push(
      `θ is the largest candidate, max = ${max}: values above it are clamped whatever they are; raise max if values can be larger`,
    );
  return warnings;
}
