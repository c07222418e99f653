/**
 * A key that people vote for, found or not: nobody else votes for it, or seven others do, and one person comes or does not.
 * An attacker sees whether the key became public, and with how many noisy votes. The claim has a δ: the probability with
 * which a key that only one person used becomes public.
 */
import { exactRational } from "../../../src/core/tables/fixedPoint.js";
import { makeScale } from "../../../src/core/tables/scale.js";
import { leastTruncation } from "../../../src/core/tables/truncated.js";
import { KeyDiscovery } from "../../../src/events/keys/keyDiscovery.js";
import type { MakeTargets, Target } from "../target.js";

/** Large, so that an attack of a few seconds would see it exceeded. */
const MOST_DELTA = 0.03;

/** δ of the threshold that is used: P(X = k), at most `MOST_DELTA`. */
export const discoveryDelta = (epsilon: number): number => leastTruncation(epsilon, MOST_DELTA).delta;

const HIDDEN = -1;
const DAY = 86_400_000;
const KEY = "/key";
/** The person comes so often, and votes once. */
const VISITS = 5;

function target(name: string, others: number, epsilon: number, core: Parameters<MakeTargets>[1]): Target {
  const { numerator, denominator } = exactRational(epsilon);
  const rule = {
    ...leastTruncation(epsilon, MOST_DELTA),
    ...{ epsilon, scale: makeScale(denominator, numerator), cap: 2 ** 31, cells: 1 },
  };
  return {
    name,
    features: ["noisy votes of the key, −1 if it is not public"],
    effort: 1,
    observe(world, random, rows) {
      const key = new Uint32Array(8);
      core.keystream(random, key);
      const discovery = new KeyDiscovery(rule, core, key, 1);
      rows.forEach((_, run) => {
        const day = run * DAY;
        for (let i = 0; i < others; i++) discovery.vote(KEY, Uint32Array.of(1, 2, 3, i), day);
        for (let i = 0; i < VISITS * world; i++) discovery.vote(KEY, Uint32Array.of(9, 9, 9, 9), day);
        rows[run] = discovery.test(day)[0]?.votes ?? HIDDEN;
        discovery.forgetBefore(day + DAY);
      });
    },
  };
}

export const discovery: MakeTargets = (epsilon, core) => [
  target("a person whose key nobody else used, or nobody", 0, epsilon, core),
  target("a person whose key seven others used, or not", 7, epsilon, core),
];
