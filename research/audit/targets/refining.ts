/**
 * The second choice of θ. Nodes of the first tree and the choice read the same value, so the attack looks at both: a
 * stream whose first tree is one block of 32 values, and whose θ is 1 or 2. One value, of the class that chooses, is 0 or max.
 */
import { refiningEpsilon } from "../../../src/stream/release/refining.js";
import { firstShare, nodeEpsilon } from "../../../src/stream/epsilonShares.js";
import type { MakeTargets } from "../target.js";
import { observing } from "./stream.js";

const HELD = 16;
const TREE = 32;
const MAX = 2;

export const refining: MakeTargets = (epsilon, core) => {
  const options = {
    ...{ epsilon, max: MAX, holdout: HELD, maxRange: TREE ** 2 },
    tuning: { resolution: 1, fanout: TREE, skipLevels: 1, follow: true, refine: true },
  };
  const share = refiningEpsilon(options);
  // So many are above θ = 1 in the class that chooses that with either value the hinge is passed, and θ = 2, whose penalty
  // is 3·ln 2/ε at the gentlest slope, loses by little: its odds then move by all of the share.
  const large = Math.max(0, Math.min(24, Math.floor(1 / share) + Math.floor((3 * Math.LN2) / share) - 1));
  const places = Array.from({ length: TREE }, (_, i) => i).filter(
    (i) => i > 0 && ![3, 7, 15].includes(i % 16),
  );
  const perTheta = nodeEpsilon({ ...options.tuning, epsilon }, firstShare(options.tuning));
  return [
    {
      name: "a published value that is also in the second choice of the threshold, 0 or max",
      features: [
        "likelihood ratio of the block and the second threshold",
        "second threshold",
        "the block's sum",
      ],
      effort: 1,
      observe: observing(core, options, 3, (stream, world, row) => {
        const values = new Float64Array(HELD + TREE);
        for (const place of places.slice(0, large)) values[HELD + place] = MAX;
        values[HELD] = world * MAX;
        const sum = stream.pushMany(values).reduce((total, x) => total + x, 0); // a tree sums to its estimate
        const [rough, second] = stream.statement().thresholds.map(({ threshold }) => threshold);
        // The noise of the block, if the value is 0, and how much likelier its sum is if it is max.
        const noise = sum - large * rough!;
        const likelier = ((Math.abs(noise) - Math.abs(noise - rough!)) * perTheta) / rough!;
        row[0] = likelier + (second === MAX ? 1 : -1) * share;
        row[1] = second!;
        row[2] = noise / rough!;
      }),
    },
  ];
};
