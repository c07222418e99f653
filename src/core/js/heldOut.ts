/** Held-out values, counted by purpose and candidate: twin of assembly/heldOut.ts. */
import type { Candidates, HeldOut } from "../core.js";
import { HELD_OUT_MEAN, HELD_OUT_PURPOSES } from "../layout.js";
import { quantise } from "../quantise.js";

export const countHeldOut: HeldOut["countHeldOut"] = (
  values,
  max,
  resolution,
  table,
  purposes,
  first,
  counters,
) => {
  checkCounters(table, purposes, counters);
  const { candidates, smallBins } = table;
  const perStep = 1 / table.step; // exactly: a power of two
  const bins = candidates.length + 1;
  for (let i = 0; i < values.length; i++) {
    const x = quantise(values[i]!, max, resolution);
    const purpose = purposes[(first + i) % 32]!;
    const steps = Math.ceil(x * perStep);
    const bin = steps < smallBins.length ? smallBins[steps]! : binOf(candidates, x);
    counters[purpose * bins + bin]!++;
    if (purpose === HELD_OUT_MEAN) counters[HELD_OUT_PURPOSES * bins + bin]! += x;
  }
};

/** How many candidates lie below x: x > Θ_k exactly when its bin is above k. */
export function binOf(candidates: Float64Array, x: number): number {
  let [low, high] = [0, candidates.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (candidates[middle]! < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Fails unless every purpose has its counters: kernels write where they are told. */
export function checkCounters(
  { candidates }: Candidates,
  purposes: Uint8Array,
  counters: Float64Array,
): void {
  const wanted = (HELD_OUT_PURPOSES + 1) * (candidates.length + 1);
  if (counters.length !== wanted)
    throw new RangeError(`counters: expected ${wanted}, got ${counters.length}`);
  if (purposes.length !== 32 || purposes.some((purpose) => purpose >= HELD_OUT_PURPOSES))
    throw new RangeError(`purposes: expected 32 below ${HELD_OUT_PURPOSES}, got others`);
}
