/** Stages assembly/threshold.ts. */
import type { Thresholds } from "../core.js";
import { checkBins, type Selection } from "../tables/selection.js";
import { Arena, type Kernels } from "./instance.js";
import { withRandom } from "./reader.js";

export function threshold(kernels: Kernels): Thresholds {
  return {
    noisyMax(random, bins, race) {
      checkBins(bins, race);
      const { candidates, blockBits } = race;
      const arena = new Arena(kernels);
      const parameters = stage(arena, race);
      const values = arena.put(bins);
      const scratch = arena.take(kernels.blocksBytes(candidates, blockBits, bins.length));
      let winner = 0;
      withRandom(kernels, arena, random, (block) => {
        winner = kernels.noisyMax(
          block,
          parameters,
          race.noise === "laplace" ? 1 : 0,
          candidates,
          blockBits,
          values,
          bins.length,
          bins instanceof Uint32Array ? 1 : 0,
          scratch,
        );
      });
      return winner;
    },
  };
}

/** Grid of the scores (32 bytes), two coins (32 each), scale: as assembly/threshold.ts reads them. */
function stage(arena: Arena, race: Selection): number {
  const { countWeight, penaltyFactor, penaltyUnit, stride, strideCoin, sideCoin, scale } = race;
  const at = arena.take(96 + scale.words.byteLength);
  arena.write(at, Float64Array.of(countWeight, penaltyFactor, penaltyUnit, stride));
  arena.write(at + 32, strideCoin.words);
  arena.write(at + 64, sideCoin.words);
  arena.write(at + 96, scale.words);
  return at;
}
