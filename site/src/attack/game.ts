/** The game's two worlds and what Brume publishes from one of them. Runs where it is called: each round is tiny. */
import { privateStream } from "brume";

/** Readings in the game, a public cap, and the one that is changed. */
export const READINGS = 16;
export const MAX = 1000;
export const CHANGED = 9;

const COMMON = [180, 240, 210, 260, 320, 290, 250, 230, 270, 0, 310, 280, 240, 260, 300, 220];

/** World A: the changed value is 0. World B: it is the largest possible. */
export const world = (which: 0 | 1): Float64Array =>
  Float64Array.from(COMMON, (value, i) => (i === CHANGED ? which * MAX : value));

export interface Round {
  readonly which: 0 | 1;
  /** The private sum of the readings around the changed one, with fresh secret noise. */
  readonly sum: number;
  readonly standardError: number;
  readonly published: Float64Array;
}

/** One level of noise: all of ε falls on the one sum that differs, the hardest case to hide. */
export function play(epsilon: number, which: 0 | 1): Round {
  const stream = privateStream({
    epsilon,
    max: MAX,
    threshold: MAX,
    maxRange: READINGS ** 2,
    tuning: { skipLevels: 1, fanout: READINGS },
  });
  const published = stream.pushMany(world(which));
  const { sum, standardError } = stream.range(0, READINGS);
  return { which, sum, standardError, published };
}

/** A fair coin from the browser's cryptographic generator. */
export const coin = (): 0 | 1 => (crypto.getRandomValues(new Uint8Array(1))[0]! & 1 ? 1 : 0);

/** The share of rounds that the best attacker gets right, whatever he does: ε-differential privacy allows no more. */
export const bestPossible = (epsilon: number): number => Math.exp(epsilon) / (1 + Math.exp(epsilon));

export const trueSum = (which: 0 | 1): number => world(which).reduce((a, b) => a + b);
