/** Noisy-max problems for the tests of its kernel. */
import { uniformBelow } from "../../research/uniform.js";
import type { Core } from "../../src/core/core.js";
import { Purpose, subStream } from "../../src/core/random.js";
import {
  makeSelection,
  penaltySlope,
  type Selection,
  type SelectionOptions,
} from "../../src/core/tables/selection.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";

export const random = (name: string) => subStream(unsafeKey(name), Purpose.threshold, 0, 0);

export const usual = { maxRange: 2 ** 20, fanout: 16, releaseEpsilon: 1, noise: "exponential" } as const;

/** A selection whose penalty grows by `perCandidate` on the grid of the scores. */
export function selection(
  options: Partial<SelectionOptions> & { candidates: number; holdout: number; epsilon: number },
  perCandidate: number,
): Selection {
  const all = { ...usual, ...options };
  return makeSelection({ ...all, step: perCandidate / 4096 / penaltySlope(all) });
}

/** Reproducible problems: any generator will do, these are data and not noise. */
export function integers(name: string): (below: number) => number {
  const source = random(name);
  const drawn = new Float64Array(1);
  return (below) => {
    uniformBelow(source, below, drawn);
    return drawn[0]!;
  };
}

/** How often each candidate wins in `runs` selections on the same bins. */
export function wins(
  core: Core,
  runs: number,
  bins: Uint16Array | Uint32Array,
  of: Selection,
  seed: string,
): number[] {
  const source = random(seed);
  const count = new Array<number>(of.candidates).fill(0);
  for (let i = 0; i < runs; i++) count[core.noisyMax(source, bins, of) - 1]!++;
  return count;
}
