/**
 * The share of one noisy number in the sum of two, with an interval that holds for any data: Fieller's theorem. A mean is
 * such a share of θ (Σ v in Σ v + Σ (θ − v)), and so is the share of events below a value.
 */
import { noiseQuantile } from "../../stream/answer/answer.js";
import type { Spread } from "../../stream/answer/variance.js";

/** A noisy integer. */
export interface Noisy {
  readonly value: number;
  readonly spread: Spread;
}

export interface ShareInterval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

const STEPS = 60;

/**
 * The share of `part` in `part + rest`. p is not refused while |(1 − p)·part − p·rest| is within the reach of its noise. If
 * nothing is refused, the interval is [0, 1].
 */
export function shareOf(part: Noisy, rest: Noisy, confidence: number): ShareInterval {
  const total = part.value + rest.value;
  if (!(total > 0)) return { value: 0.5, low: 0, high: 1 };
  const value = Math.min(1, Math.max(0, part.value / total));
  const refused = (p: number): boolean => {
    const variance = (1 - p) ** 2 * part.spread.variance + p ** 2 * rest.spread.variance;
    const fourth = (1 - p) ** 4 * part.spread.fourth + p ** 4 * rest.spread.fourth;
    const reach = noiseQuantile(confidence, { variance, fourth }) * Math.sqrt(variance) + 0.5;
    return Math.abs((1 - p) * part.value - p * rest.value) > reach;
  };
  return { value, low: edge(0, value, refused), high: edge(1, value, refused) };
}

/** The last p from `inside` towards `end` that is not refused. */
function edge(end: number, inside: number, refused: (p: number) => boolean): number {
  if (!refused(end)) return end;
  let [out, within] = [end, inside];
  for (let i = 0; i < STEPS; i++) {
    const middle = (out + within) / 2;
    if (refused(middle)) out = middle;
    else within = middle;
  }
  return out;
}
