/** Where the noise of a mechanism comes from: discrete Laplace, or discrete Gaussian in rows that are labelled (ε, δ). */
import type { Core } from "../../src/core/core.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { exactRational } from "../../src/core/tables/fixedPoint.js";
import { makeScale, type Scale } from "../../src/core/tables/scale.js";
import { laplaceVariance, type Spread } from "../../src/stream/answer/variance.js";
import { NoiseQueue } from "./noiseQueue.js";

export interface Draws {
  /** An integer that nothing else has used or will use. */
  take(): number;
  /** Spread of one draw. */
  readonly spread: Spread;
}

/** t = Θ·sensitivity/(ε·share), with ε the exact rational its double stands for; `share` = numerator/denominator. */
export function laplaceScale(
  theta: number,
  epsilon: number,
  sensitivity: number,
  share: readonly [numerator: number, denominator: number] = [1, 1],
): Scale {
  const { numerator, denominator } = exactRational(epsilon);
  return makeScale(
    BigInt(theta) * BigInt(sensitivity) * denominator * BigInt(share[1]),
    numerator * BigInt(share[0]),
  );
}

/** @param purpose a number of its own for each source of noise within a mechanism, below 2⁸ */
export function laplaceDraws(
  core: Core,
  key: Uint32Array,
  scale: Scale,
  part: number,
  purpose: number,
  index = 0,
): Draws {
  const queue = new NoiseQueue(core, subStream(key, Purpose.baseline, index, part, purpose), scale);
  const variance = laplaceVariance(Number(scale.numerator) / Number(scale.denominator));
  return { take: () => queue.take(), spread: { variance, fourth: variance ** 2 } };
}

/** The spread of `count` independent draws. */
export const times = (count: number, { variance, fourth }: Spread): Spread => ({
  variance: count * variance,
  fourth: count * fourth,
});
