/**
 * The probe for one level less: two blocks of 64 values, whose noisy sums decide. The first one holds k or k + 1 values of
 * Θ, with k so that the decision turns in the tail of the noise: there one value moves its odds most. The attacker also sees
 * the noisy sum of the first block, which the decision is a function of and the proof counts as published.
 */
import type { Core } from "../../../src/core/core.js";
import { Probe } from "../../../src/stream/holdout/probe.js";
import { meanVariance } from "../../../src/stream/answer/variance.js";
import { type MakeTargets, THETA } from "../target.js";

const BLOCK = 64;
const SHAPE = { fanout: 2, levels: 2, skipped: 7, maxRange: 512, probing: 2 * BLOCK };

export const probe: MakeTargets = (epsilon, core) => {
  const { fanout, levels, skipped, maxRange } = SHAPE;
  const saved =
    meanVariance(maxRange, fanout, levels + 1, skipped - 1) - meanVariance(maxRange, fanout, levels, skipped);
  // Two sums that differ by D have S = D²/4 and N = Θ²/ε²: the decision turns at D = 2√(1 + saved/2)·Θ/ε.
  const turn = 2 * Math.sqrt(1 + saved / 2);
  const k = Math.max(0, Math.min(BLOCK - 1, Math.floor((turn - 1) / epsilon) - 1));
  return [
    {
      name: "a value of the probe, 0 or max",
      features: ["levels skipped", "noisy sum of the first block"],
      effort: 1,
      observe(world, random, rows) {
        const keys = new Uint32Array(4 * rows.length);
        core.keystream(random, keys);
        let noise = NaN;
        const laplace: Core["laplace"] = (source, scale, out) => {
          core.laplace(source, scale, out);
          noise = out[0]!;
        };
        const recording = { ...core, laplace };
        for (let i = 0; i < rows.length / 2; i++) {
          const one = new Probe({ ...SHAPE, epsilon }, THETA);
          for (let at = 0; at < 2 * BLOCK; at++) one.add(at < k + world ? THETA : 0);
          rows[2 * i] = one.decide(recording, keys.slice(8 * i, 8 * i + 8));
          rows[2 * i + 1] = (k + world) * THETA + noise;
        }
      },
    },
  ];
};
