/** Discrete Laplace noise on one number, 0 or Θ. */
import { noiseScale } from "../../../src/stream/release/forest.js";
import { type MakeTargets, THETA } from "../target.js";

export const laplace: MakeTargets = (epsilon, core) => {
  const scale = noiseScale(1, THETA, epsilon);
  return [
    {
      name: `one number, 0 or ${THETA}`,
      features: ["noisy number"],
      effort: 1,
      observe(world, random, rows) {
        core.laplace(random, scale, rows);
        for (let i = 0; i < rows.length; i++) rows[i]! += world * THETA;
      },
    },
  ];
};
