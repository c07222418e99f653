/**
 * Public tables for choosing θ: the candidates, their penalties, the grid of the scores and the noise.
 * Everything is made once per stream, before a value is seen, and read by both cores.
 *
 *     score(θ_i) = −2^F·#{v > θ_i} − penalty(i),   θ_i = i·step,  i = 1 … n
 *
 * is Eq. 6 times 2^F, rounded to an integer. Noise lives on the same grid, so that selection is exact.
 */
import { MAX_CANDIDATES, MAX_HOLDOUT, MAX_SCALE_BITS, MIN_SCALE_BITS } from "../layout.js";
import { COIN_BITS, fixedCoin, type Coin } from "./coin.js";
import { exactRational, expFixed } from "./fixedPoint.js";
import { makeScale, type Scale } from "./scale.js";

export type SelectionNoise = "exponential" | "laplace";

export interface SelectionOptions {
  /** n: how many candidates, 1 … 2²⁰. */
  readonly candidates: number;
  /** Distance between candidates, in units of the stream. */
  readonly step: number;
  /** m: how many values are counted. */
  readonly holdout: number;
  /** ε of the choice. */
  readonly epsilon: number;
  /** ε of the release that θ is chosen for: the more private it is, the more a large θ costs. */
  readonly releaseEpsilon: number;
  /** r: longest range a query is expected to span. */
  readonly maxRange: number;
  /** b: children per node. */
  readonly fanout: number;
  /** Levels whose noise the penalty counts. Default log_b r, as printed. */
  readonly penaltyLevels?: number;
  /** `exponential` is permute-and-flip, never worse; `laplace` is the paper's. */
  readonly noise: SelectionNoise;
}

export interface Selection {
  readonly candidates: number;
  readonly holdout: number;
  readonly noise: SelectionNoise;
  /** 2^F: what one value above θ costs on the grid of the scores. */
  readonly countWeight: number;
  /** An integer below 2³³; times `penaltyUnit`, a power of two, the penalty of one candidate. */
  readonly penaltyFactor: number;
  readonly penaltyUnit: number;
  /** t = 2^F/ε. */
  readonly scale: Scale;
  /** T = ⌈t⌉. */
  readonly stride: number;
  /** c = 2·exp(−T/t), so that P(G ≥ j·T) = 2^−j·c^j. */
  readonly strideCoin: Coin;
  /** 1/(1 + exp(−1/t)): P(N ≥ a) = P(G ≥ a) times this for two-sided N and a ≥ 1. */
  readonly sideCoin: Coin;
  /** β: candidates are bounded in chunks of 2^β. Affects speed alone. */
  readonly chunkBits: number;
}

/** Scores, noise and their sums stay below 2⁵²: costs below 2⁵¹, and a scale of 2⁴⁰ reaches 2⁵¹ once in exp(2¹¹). */
const MAX_COST = 2 ** 51;
const MAX_SCALE = 2 ** MAX_SCALE_BITS;
const FRACTION_BITS = 12;

/** log_b r. */
export function logarithm(r: number, b: number): number {
  return Math.log(r) / Math.log(b);
}

/** c of Eq. 6. */
const C = 60;

/** Eq. 6's penalty per unit of θ, in values: (3m/(c r ε))·sqrt(2(b−1)·levels³). */
export function penaltySlope(
  options: Omit<SelectionOptions, "candidates" | "step" | "epsilon" | "noise">,
): number {
  const { holdout: m, maxRange: r, fanout: b, releaseEpsilon } = options;
  const levels = options.penaltyLevels ?? logarithm(r, b);
  return ((3 * m) / (C * r * releaseEpsilon)) * Math.sqrt(2 * (b - 1) * levels ** 3);
}

/** The selection among `candidates` thresholds. Fails if its scores cannot be exact integers. */
export function makeSelection(options: SelectionOptions): Selection {
  check(options);
  const { candidates, holdout, noise, epsilon } = options;
  const slope = penaltySlope(options) * options.step;
  const fractionBits = finestGrid(holdout + slope * candidates, epsilon);
  if (fractionBits < 0)
    throw new RangeError(
      `candidates: expected scores below 2⁵¹ and noise of a scale from 2⁻³² to 2⁴⁰, got a penalty of ${slope * candidates} ` +
        `and a scale of ${1 / epsilon}; use a larger epsilon, fewer candidates or a smaller step`,
    );
  const countWeight = 2 ** fractionBits;
  const { factor, unit } = asFraction(slope * countWeight);
  const { numerator, denominator } = exactRational(epsilon);
  const scale = makeScale(denominator << BigInt(fractionBits), numerator);
  const stride = (scale.numerator + scale.denominator - 1n) / scale.denominator;
  return {
    candidates,
    holdout,
    noise,
    countWeight,
    penaltyFactor: factor,
    penaltyUnit: unit,
    scale,
    stride: Number(stride),
    strideCoin: strideCoin(scale, stride),
    sideCoin: sideCoin(scale),
    chunkBits: Math.max(0, (32 - Math.clz32(candidates - 1)) / 2 - 2) | 0,
  };
}

/** Cost of candidate i (1-based) whatever the values are, on the grid; never falls with i. */
export function penalty(selection: Selection, i: number): number {
  // i·factor < 2⁵³ and unit is a power of two: exact up to the rounding, which both cores do alike.
  return Math.floor(i * selection.penaltyFactor * selection.penaltyUnit + 0.5);
}

/** Bins are as many as the selection was made for. They are private: only their number is quoted. */
export function checkBins(bins: Uint16Array | Uint32Array, selection: Selection): void {
  if (!(bins instanceof Uint16Array || bins instanceof Uint32Array))
    throw new TypeError("bins: expected a Uint16Array or a Uint32Array");
  if (bins.length !== selection.holdout)
    throw new RangeError(
      `bins: expected the selection's holdout of ${selection.holdout} values, got ${bins.length}`,
    );
}

/** F: 12, or the most that keeps every sum exact; −1 if there is none. */
function finestGrid(worstCost: number, epsilon: number): number {
  if (2 ** FRACTION_BITS / epsilon <= 2 ** -MIN_SCALE_BITS) return -1;
  let bits = FRACTION_BITS;
  while (bits >= 0 && !(worstCost * 2 ** bits < MAX_COST && 2 ** bits / epsilon < MAX_SCALE)) bits--;
  return bits;
}

/** x = factor·unit with a factor of 32 to 33 bits, so that i·factor is exact for i ≤ 2²⁰. */
function asFraction(x: number): { factor: number; unit: number } {
  const unit = 2 ** Math.max(-1000, Math.floor(Math.log2(x)) - 32);
  return { factor: Math.round(x / unit), unit };
}

function strideCoin({ numerator, denominator }: Scale, stride: bigint): Coin {
  return fixedCoin(expFixed(stride * denominator, numerator, COIN_BITS + 1));
}

function sideCoin({ numerator, denominator }: Scale): Coin {
  const one = 1n << BigInt(COIN_BITS);
  return fixedCoin((one * one) / (one + expFixed(denominator, numerator, COIN_BITS)));
}

function check(options: SelectionOptions): void {
  whole("candidates", options.candidates, 1, MAX_CANDIDATES);
  whole("holdout", options.holdout, 1, MAX_HOLDOUT);
  whole("fanout", options.fanout, 2, 2 ** 31);
  for (const name of ["step", "epsilon", "releaseEpsilon"] as const)
    if (!(options[name] > 0 && options[name] < Infinity))
      throw new RangeError(`${name}: expected 0 < ${name} < ∞, got ${options[name]}`);
  if (!(options.maxRange >= options.fanout && options.maxRange < Infinity))
    throw new RangeError(
      `maxRange: expected at least the fanout of ${options.fanout}, got ${options.maxRange}`,
    );
  if (options.noise !== "exponential" && options.noise !== "laplace")
    throw new TypeError(`noise: expected "exponential" or "laplace", got ${JSON.stringify(options.noise)}`);
}

function whole(name: string, value: number, least: number, most: number): void {
  if (!(Number.isInteger(value) && value >= least && value <= most))
    throw new RangeError(`${name}: expected an integer from ${least} to ${most}, got ${value}`);
}
