/**
 * One tree of two levels, with more shown to the attacker than a release ever publishes: every node's noisy count,
 * which is what the proof of ε is about. The counts above the leaves follow from the corrections: with
 * a = b/(b + 1) (Eq. 10 for level 2), f = a·R/b, so R = (b + 1)·f and H(top) = R + Σ H(leaf).
 */
import { noiseScale } from "../../../src/stream/release/forest.js";
import { type MakeTargets, THETA } from "../target.js";

const FANOUT = 4;
const LEVELS = 2;

export const forest: MakeTargets = (epsilon, core) => {
  const scale = noiseScale(LEVELS, THETA, epsilon);
  const t = (LEVELS * THETA) / epsilon;
  /** ln of P(H = h | count is 0)/P(H = h | count is Θ). */
  const evidence = (h: number) => (Math.abs(h - THETA) - Math.abs(h)) / t;
  return [
    {
      name: `the first leaf's count, 0 or ${THETA}`,
      features: ["likelihood ratio of all counts", "noisy count of the leaf"],
      effort: 1,
      observe(world, random, rows) {
        for (let at = 0; at < rows.length; at += 2) {
          const { noise, corrections } = core.growTree(random, scale, FANOUT, LEVELS);
          noise[0]! += world * THETA; // from here on: noisy counts
          const leaf = noise[0]!;
          const residual = Math.round((FANOUT + 1) * corrections[0]!);
          const top = residual + noise.reduce((sum, count) => sum + count, 0);
          rows[at] = evidence(leaf) + evidence(top);
          rows[at + 1] = leaf;
        }
      },
    },
  ];
};
