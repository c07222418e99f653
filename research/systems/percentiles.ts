/**
 * Thresholds that aim at a percentile of the hold-out.
 *
 *     S-P:    θ = x_p + (SS/a)·Z                  S-PAK:  θ = x_p + κ·(SS/a)·(Z + G)
 *
 * with SS the β-smooth sensitivity of x_p, β = ε/(2 ln(1/δ)), a = ε/2, Z ~ Lap(1), G its quantile at 1 − 0.006 and
 * κ = 1/(1 − (e^β − 1)·G/a). S-PAK's shift makes θ < x_p unlikely. Both are (ε, δ) methods, both may end up far
 * above the largest value or at 0, and their Z is a double: for comparison, not for use.
 */
import type { Decoder, Encoder } from "../../src/snapshot/codec.js";
import type { ThresholdChooser } from "../../src/stream/holdout/noisyMax.js";
import type { Core } from "../../src/core/core.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { smoothSensitivity } from "./smoothSensitivity.js";

/** P(θ < x_p) that S-PAK accepts: 0.3·0.02. */
const MISS = 0.006;

export interface SmoothRule {
  readonly epsilon: number;
  readonly delta: number;
  /** S-PAK; otherwise S-P. */
  readonly shifted: boolean;
}

/** x_p: the value of rank ⌊m·p⌋ + 1. */
export function rankOf(percentile: number, m: number): number {
  return Math.min(m, Math.floor(m * percentile) + 1);
}

/** β of a rule. */
export function smoothing({ epsilon, delta }: SmoothRule): number {
  return epsilon / (2 * Math.log(1 / delta));
}

/** κ and G; fails where δ is too large for the shift to be bounded. */
function shiftOf(rule: SmoothRule): { kappa: number; shift: number } {
  if (!rule.shifted) return { kappa: 1, shift: 0 };
  const shift = -Math.log(2 * MISS);
  const kappa = 1 / (1 - (Math.expm1(smoothing(rule)) * shift) / (rule.epsilon / 2));
  if (!(kappa > 0 && kappa < Infinity))
    throw new RangeError(
      `delta: S-PAK needs (e^β − 1)·G < ε/2 with β = ε/(2 ln(1/δ)), got δ = ${rule.delta} and ε = ${rule.epsilon}; lower one of them`,
    );
  return { kappa, shift };
}

/** θ for one draw z of Lap(1). */
export function smoothThreshold(rule: SmoothRule, value: number, sensitivity: number, z: number): number {
  const { kappa, shift } = shiftOf(rule);
  return Math.max(0, value + ((kappa * sensitivity) / (rule.epsilon / 2)) * (z + shift));
}

/** Keeps the hold-out as it is until θ is chosen: 8 bytes a value. */
class HeldOut implements ThresholdChooser {
  readonly #values: Float64Array;
  readonly #choose: (sorted: Float64Array) => number;
  #count = 0;

  constructor(m: number, choose: (sorted: Float64Array) => number) {
    this.#values = new Float64Array(m);
    this.#choose = choose;
  }

  add(value: number): void {
    this.#values[this.#count++] = value;
  }

  choose(): number {
    return this.#choose(this.#values.sort());
  }

  save(writer: Encoder): void {
    writer.count(this.#count);
    for (const value of this.#values.subarray(0, this.#count)) writer.double(value);
  }

  load(reader: Decoder): void {
    this.#count = reader.count();
    for (let i = 0; i < this.#count; i++) this.#values[i] = reader.double();
  }

  wipe(): void {
    this.#values.fill(0);
  }
}

/** The p-percentile itself. No noise, no privacy: for study only. */
export function truePercentile(m: number, percentile: number): ThresholdChooser {
  return new HeldOut(m, (sorted) => sorted[rankOf(percentile, m) - 1]!);
}

/** S-P or S-PAK. */
export function smoothPercentile(
  core: Core,
  key: Uint32Array,
  m: number,
  max: number,
  percentile: number,
  rule: SmoothRule,
): ThresholdChooser {
  shiftOf(rule); // parameters that cannot work fail now
  return new HeldOut(m, (sorted) => {
    const rank = rankOf(percentile, m);
    const sensitivity = smoothSensitivity(sorted, rank, max, smoothing(rule));
    return smoothThreshold(rule, sorted[rank - 1]!, sensitivity, unitLaplace(core, key));
  });
}

/** Lap(1) as a double: −ln of a uniform number with 53 bits, and a sign. */
function unitLaplace(core: Core, key: Uint32Array): number {
  const words = new Uint32Array(3);
  core.keystream(subStream(key, Purpose.threshold, 0, 0), words);
  const uniform = ((words[0]! >>> 5) * 2 ** 26 + (words[1]! >>> 6) + 0.5) / 2 ** 53;
  return words[2]! % 2 === 0 ? Math.log(uniform) : -Math.log(uniform);
}
