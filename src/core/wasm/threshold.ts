/** Calls assembly/threshold.ts. */
import type { Thresholds } from "../core.js";
import {
  SELECTION_COUNT_WEIGHT,
  SELECTION_PENALTY_FACTOR,
  SELECTION_PENALTY_UNIT,
  SELECTION_SCALE,
  SELECTION_SIDE_COIN,
  SELECTION_STRIDE,
  SELECTION_STRIDE_COIN,
} from "../layout.js";
import type { FillDigit } from "../tables/digit.js";
import { checkBins, type Selection } from "../tables/selection.js";
import { type Arena, type DataKernels, useArena } from "./instance.js";
import { withRandom } from "./reader.js";

export function threshold(kernels: DataKernels, fillDigit: FillDigit): Thresholds {
  return {
    noisyMax(random, bins, selection) {
      checkBins(bins, selection);
      const { candidates, chunkBits } = selection;
      const scale = selection.scale.words(fillDigit); // before the arena is taken
      return useArena(kernels, (arena) => {
        const parameters = putSelection(arena, selection, scale);
        const values = arena.put(bins);
        const scratch = arena.take(kernels.chunksBytes(candidates, chunkBits, bins.length));
        let winner = 0;
        withRandom(kernels, arena, random, (record) => {
          winner = kernels.noisyMax(
            record,
            parameters,
            selection.noise === "laplace" ? 1 : 0,
            candidates,
            chunkBits,
            values,
            bins.length,
            bins instanceof Uint32Array ? 1 : 0,
            scratch,
          );
        });
        return winner;
      });
    },
  };
}

/** A selection as assembly/threshold.ts reads it (layout.ts). */
function putSelection(arena: Arena, selection: Selection, scale: Uint32Array): number {
  const { countWeight, penaltyFactor, penaltyUnit, stride, strideCoin, sideCoin } = selection;
  const at = arena.take(SELECTION_SCALE + scale.byteLength);
  arena.writeDouble(at + SELECTION_COUNT_WEIGHT, countWeight);
  arena.writeDouble(at + SELECTION_PENALTY_FACTOR, penaltyFactor);
  arena.writeDouble(at + SELECTION_PENALTY_UNIT, penaltyUnit);
  arena.writeDouble(at + SELECTION_STRIDE, stride);
  arena.write(at + SELECTION_STRIDE_COIN, strideCoin.words);
  arena.write(at + SELECTION_SIDE_COIN, sideCoin.words);
  arena.write(at + SELECTION_SCALE, scale);
  return at;
}
