/**
 * How a release of events divides ε, in 32nds. Every part of a release that reads the events has one share; the shares sum
 * to 1, so that ε holds for all of it by sequential composition. Parts that read disjoint events (the hold-out and the days
 * after it) have all of ε each.
 *
 *     limited     1/32   how many people had events that were not counted; with people
 *     clipped     1/32   how many events were above θ; sums and means with a chosen θ
 *     threshold   4/32   θ of a finished file, which holds nothing out
 *     discovery   as asked   which keys become public; hubs that discover keys
 *     release     the rest: the levels divide it, and the limit of a person divides it
 */
export interface Shares {
  readonly release: number;
  readonly limited: number;
  readonly clipped: number;
  readonly threshold: number;
  readonly discovery: number;
}

/** Parts of 1. */
export const SHARES = 32;

/** Uses of ε that a release has beside its sums. */
export interface Parts {
  readonly people: boolean;
  /** θ is chosen privately. */
  readonly chosen: boolean;
  /** All events are there before the first number: none are held out. */
  readonly finished?: boolean;
  /** 32nds of ε that choose which keys become public. */
  readonly discovery?: number;
}

export function sharesOf({ people, chosen, finished = false, discovery = 0 }: Parts): Shares {
  const limited = people ? 1 : 0;
  const clipped = chosen ? 1 : 0;
  const threshold = chosen && finished ? 4 : 0;
  const release = SHARES - limited - clipped - threshold - discovery;
  return { release, limited, clipped, threshold, discovery };
}
