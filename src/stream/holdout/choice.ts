/**
 * The default choice of θ, from counts of held-out values. With c(θ) = #{x > θ} in a class of values,
 *
 *     score(θ) = −max(c(θ) − hinge, 0) − (β/ε)·(ln θ + min(ln θ, ln 2θ_w)),   hinge = ⌊f/ε⌋
 *
 * and the winner of score + noise is θ. Range errors are least where about 1.3/ε values of a hold-out of r/16 lie above
 * θ, whatever the unit of the data (research/notes/zoo.md): that is the hinge, and why the penalty grows with ln θ. The rough
 * θ_w comes from another class; below 2θ_w the slope is 2β, so that light tails are not overshot, above it β.
 * f = 16m/r within [1, 256] carries this to longer hold-outs.
 *
 * Privacy: one replaced value moves all counts between its old and new place by one, in the same direction. The hinge is
 * monotone and moves no further, and penalties are fixed by outputs for other purposes. So one-sided noise of scale 1/ε is
 * enough (docs/noisy-max.md).
 */
import type { Candidates, NoiseCore } from "../../core/core.js";
import { lastMade } from "../../core/lastMade.js";
import type { Random } from "../../core/random.js";
import { exactRational } from "../../core/tables/fixedPoint.js";
import { makeScale, type Scale } from "../../core/tables/scale.js";
import { candidateGrid } from "../grid.js";
import type { Settings } from "../options.js";

export { binOf } from "../../core/js/heldOut.js";

/** 2^(k/4) for k = 0 … 3; the other powers are these times powers of two, exactly. */
const ROOTS = [1, 1.189207115002721, Math.SQRT2, 1.681792830507429] as const;

/**
 * The candidates for Θ, in grid units: round(2^(k/4)) steps, each once, and `largest` as the last one. Ascending.
 * @param step a power of two: on a grid finer than this, θ is no finer
 */
export function geometricCandidates(largest: number, step = 1): Float64Array {
  const list: number[] = [];
  for (let k = 0; ; k++) {
    const candidate = step * Math.round(ROOTS[k % 4]! * 2 ** Math.floor(k / 4));
    if (candidate >= largest) return Float64Array.from([...list, largest]);
    if (candidate !== list.at(-1)) list.push(candidate);
  }
}

/** Public parameters of the choice of θ: made before any value is seen. */
export interface Choice extends Candidates {
  /** All candidates but the largest are multiples of it, in grid units. */
  readonly step: number;
  /**
   * The bins of x by ⌈x/step⌉, where that is small: most values are, and a search for each took longer than all else in a
   * hold-out. It ends before the largest candidate, which may be no multiple of the step.
   */
  readonly smallBins: Uint8Array;
  readonly epsilon: number;
  readonly hinge: number;
  /** The largest β there can be. */
  readonly steepest: number;
  /** 2^F: what one value costs on the grid of the scores, on which the noise lives too. */
  readonly countWeight: number;
  /** t = 2^F/ε. */
  readonly scale: Scale;
  /** t = 1/ε, of noisy counts. */
  readonly countScale: Scale;
}

/** F, where sums of scores and noise stay exact. */
const FRACTION_BITS = 10;
const MOST_FACTOR = 256;
/** Numbers below it have their bin in a table. */
const SMALL = 2048;
/**
 * Found on the tuning streams of the zoo. A steep slope protects against a θ that is far too large, a gentle one against
 * a θ near 0 on sparse streams. Below 1.5 a `max` that is far too large costs accuracy.
 */
const MOST_BETA = 5;
const LEAST_BETA = 1.5;
/** So many scales of its noise the count for sparsity is not believed: too steep a slope costs far more than too gentle a one. */
const UNSURE = 2;
/**
 * Short hold-outs hold fewer values above the best θ than the noise can tell: there the steepest slope is gentler. In long
 * ones it grows with √f: with f itself it would outweigh a second mode that a tenth of the values is in.
 */
const SHORT = 0.6;

/** `binOf` of 0, 1, … steps below SMALL. A search for each would take a tenth of the time to the first number in a page. */
function smallBins(candidates: Float64Array, step: number): Uint8Array {
  const last = candidates.length - 1;
  const bins = new Uint8Array(Math.min(SMALL, Math.floor(candidates[last]! / step) + 1)).fill(last);
  for (let k = last - 1; k >= 0; k--) bins.fill(k, 0, candidates[k]! / step + 1);
  return bins;
}

export const makeChoice = lastMade(choiceFor);

/** The choice of a stream of values. @param values how many of them choose, all with ε = `epsilon` */
export function valuesChoice({ grid, tree }: Settings, epsilon: number, values: number): Choice {
  const { largest, step } = candidateGrid(grid);
  return makeChoice(epsilon, values, tree.maxRange, largest, step);
}

/** @param holdout m, `maxRange` r, `largest` ⌊max/g⌋, `step` what candidates are multiples of, in grid units */
function choiceFor(epsilon: number, holdout: number, maxRange: number, largest: number, step = 1): Choice {
  const ratio = (16 * holdout) / maxRange;
  const factor = Math.min(MOST_FACTOR, Math.max(1, ratio));
  const steepest = MOST_BETA * (ratio < 1 ? Math.max(SHORT, Math.sqrt(ratio)) : Math.sqrt(factor));
  const worst = (2 * steepest * Math.log((2 * largest) / step)) / epsilon + holdout;
  let bits = FRACTION_BITS;
  while (bits > 0 && !(worst * 2 ** bits < 2 ** 51 && 2 ** bits / epsilon < 2 ** 40)) bits--;
  const { numerator, denominator } = exactRational(epsilon);
  const candidates = geometricCandidates(largest, step);
  return {
    candidates,
    step,
    smallBins: smallBins(candidates, step),
    epsilon,
    hinge: Math.floor(factor / epsilon),
    steepest,
    countWeight: 2 ** bits,
    scale: makeScale(denominator << BigInt(bits), numerator),
    countScale: makeScale(denominator, numerator),
  };
}

/**
 * The choice for events, whose number is private.
 * @param divisor one event has ε/divisor, of which this step has `share` eighths; all of it exact
 * @param error the standard error of a sum, in units of θ over the ε of one event
 */
export function eventChoice(
  epsilon: number,
  divisor: number,
  share: number,
  error: number,
  largest: number,
): Choice {
  const own = (epsilon * share) / (8 * divisor);
  const { numerator, denominator } = exactRational(epsilon);
  const candidates = geometricCandidates(largest);
  const worst = (2 * MOST_BETA * Math.log(2 * largest)) / own + MOST_EVENTS;
  let bits = FRACTION_BITS;
  while (bits > 0 && !(worst * 2 ** bits < 2 ** 51 && 2 ** bits / own < 2 ** 40)) bits--;
  const [up, down] = [8n * BigInt(divisor) * denominator, BigInt(share) * numerator];
  return {
    candidates,
    step: 1,
    smallBins: smallBins(candidates, 1),
    epsilon: own,
    hinge: Math.floor((error * divisor) / epsilon),
    steepest: MOST_BETA,
    countWeight: 2 ** bits,
    scale: makeScale(up << BigInt(bits), down),
    countScale: makeScale(up, down),
  };
}

/** Events of a hold-out beyond this many are more than exact scores allow. */
const MOST_EVENTS = 2 ** 40;

/** Makes the tables that a choice draws from. */
export function choiceTables({ scale, countScale }: Choice, core: NoiseCore): void {
  for (const each of [scale, countScale]) each.words(core.fillDigit);
}

/**
 * β, from 1.5 to `steepest`: steep where many values are not zero, gentle where few are, so that the penalty of the largest θ does
 * not outweigh all of them together.
 * @param above the noisy number of values above the smallest candidate in a class of 1/13 of those that choose θ
 */
export function steepness({ epsilon, candidates, step, steepest }: Choice, above: number): number {
  const sure = epsilon * above - UNSURE;
  const beta = (13 * sure) / (2 * Math.log(Math.max(2, candidates[candidates.length - 1]! / step)));
  return Math.min(steepest, Math.max(LEAST_BETA, beta));
}

/** Below so many scales of its noise, the count for sparsity stands for too few values to tell their sizes. */
const SPARSE = 8;

export const isSparse = ({ epsilon }: Choice, above: number): boolean => epsilon * above < SPARSE;

/**
 * The index of the winner: permute-and-flip by one-sided geometric noise, ties to the smaller θ.
 * @param above per candidate, how many values are above it
 * @param knee 2θ_w: the slope is β/ε above it and twice that below; 0 for one slope
 */
export function chooseCandidate(
  core: NoiseCore,
  random: Random,
  choice: Choice,
  above: Float64Array,
  beta: number,
  knee: number,
): number {
  const noise = new Float64Array(above.length);
  core.geometric(random, choice.scale, noise);
  let [winner, best] = [0, -Infinity];
  for (let k = 0; k < above.length; k++) {
    const score = noise[k]! - cost(choice, above[k]!, choice.candidates[k]!, beta, knee);
    if (score > best) [winner, best] = [k, score];
  }
  return winner;
}

/**
 * The winner by counts of values in bins; counts above candidates stay in memory no longer than they are needed.
 * @param bins values by how many candidates lie below them
 */
export function chooseByBins(
  core: NoiseCore,
  random: Random,
  choice: Choice,
  bins: Float64Array,
  beta: number,
  knee: number,
): number {
  const above = new Float64Array(bins.length - 1);
  try {
    for (let k = above.length - 1, sum = 0; k >= 0; k--) above[k] = sum += bins[k + 1]!;
    return chooseCandidate(core, random, choice, above, beta, knee);
  } finally {
    above.fill(0); // true counts
  }
}

/** Minus the score, a whole number on the grid. */
export function cost(choice: Choice, above: number, theta: number, beta: number, knee: number): number {
  const { hinge, countWeight, epsilon, step } = choice;
  const logs = Math.log(theta / step) + (knee === 0 ? 0 : Math.log(Math.min(theta, knee) / step));
  return countWeight * Math.max(above - hinge, 0) + Math.round((countWeight * beta * logs) / epsilon);
}
