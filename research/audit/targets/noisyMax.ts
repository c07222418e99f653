/**
 * Noisy max between two thresholds. One value, below both or above the first: the gap between the scores changes
 * its sign, and the odds of the first threshold by e^ε but for the penalty, which is made small.
 */
import { makeSelection, type SelectionNoise } from "../../../src/core/tables/selection.js";
import type { MakeTargets, Target } from "../target.js";

export const noisyMax: MakeTargets = (epsilon, core) =>
  (["exponential", "laplace"] as const).map((noise: SelectionNoise): Target => {
    const race = makeSelection({
      candidates: 2,
      step: 1,
      holdout: 1,
      epsilon,
      releaseEpsilon: epsilon,
      maxRange: 2 ** 40,
      fanout: 16,
      noise,
    });
    return {
      name: `one held-out value, below or above the first threshold, ${noise} noise`,
      features: ["chosen threshold"],
      effort: 1,
      observe(world, random, rows) {
        const bins = Uint16Array.of(world);
        for (let i = 0; i < rows.length; i++) rows[i] = core.noisyMax(random, bins, race);
      },
    };
  });
