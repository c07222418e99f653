/** The game's two worlds and what Brume publishes from one of them. Runs where it is called: each round is tiny. */
import { privateStream } from "brume";

/** Calls to a helpline, in minutes: how many, the longest that may be, and the one that is changed. */
export const CALLS = 16;
export const MAX = 60;
export const CHANGED = 9;

const COMMON = [9, 14, 11, 17, 23, 6, 12, 8, 15, 0, 21, 13, 7, 16, 19, 10];

/** World A: the caller hung up at once. World B: the call took the whole hour. */
export const world = (which: 0 | 1): Float64Array =>
  Float64Array.from(COMMON, (value, i) => (i === CHANGED ? which * MAX : value));

export interface Round {
  readonly which: 0 | 1;
  /** The private sum of all calls, with fresh secret noise. */
  readonly sum: number;
  readonly standardError: number;
}

/** One level of noise: all of ε falls on the one sum that differs, the hardest case to hide. */
export function play(epsilon: number, which: 0 | 1): Round {
  const stream = privateStream({
    epsilon,
    max: MAX,
    threshold: MAX,
    maxRange: CALLS ** 2,
    tuning: { skipLevels: 1, fanout: CALLS },
  });
  stream.pushMany(world(which));
  const { sum, standardError } = stream.range(0, CALLS);
  return { which, sum, standardError };
}

/** A fair coin from the browser's cryptographic generator. */
export const coin = (): 0 | 1 => (crypto.getRandomValues(new Uint8Array(1))[0]! & 1 ? 1 : 0);

/** The share of rounds that the best attacker gets right, whatever he does: ε-differential privacy allows no more. */
export const bestPossible = (epsilon: number): number => Math.exp(epsilon) / (1 + Math.exp(epsilon));

export const trueSum = (which: 0 | 1): number => world(which).reduce((a, b) => a + b);
