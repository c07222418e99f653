/**
 * θ that follows the stream. Nodes and the count of a tree read the same value, so there are two attacks: on the count
 * alone, as if it were all that ε is spent on, and on a stream whose trees are single values.
 */
import { geometricCandidates } from "../../../src/stream/holdout/choice.js";
import { COUNT_SHARE, makeFollowRule, noisyCount } from "../../../src/stream/release/follow.js";
import { WHOLE } from "../../../src/stream/release/epochs.js";
import { type MakeTargets, THETA } from "../target.js";
import { observing } from "./stream.js";

export const following: MakeTargets = (epsilon, core) => {
  const rule = makeFollowRule((epsilon * WHOLE) / COUNT_SHARE, geometricCandidates(THETA));
  const options = {
    ...{ epsilon, max: THETA, holdout: 16, maxRange: 2 },
    tuning: { fanout: 2, skipLevels: 0, follow: true },
  };
  return [
    {
      name: "a value that is above the limit or not, with all of ε on the count",
      features: ["count of values above the limit"],
      effort: 1,
      observe(world, random, rows) {
        const keys = new Uint32Array(8 * rows.length);
        core.keystream(random, keys);
        for (let i = 0; i < rows.length; i++)
          rows[i] = noisyCount(core, keys.slice(8 * i, 8 * i + 8), rule, 0, 0, world);
      },
    },
    {
      name: "a published value of a stream that follows, 0 or max",
      features: ["published number over the threshold", "threshold of the next tree"],
      effort: 1 / 8,
      observe: observing(core, options, 2, (stream, world, row) => {
        stream.pushMany(new Float64Array(16));
        const { threshold } = stream.statement();
        row[0] = stream.push(world * THETA)! / threshold!;
        row[1] = stream.statement().threshold!;
      }),
    },
  ];
};
