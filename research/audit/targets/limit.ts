/**
 * The choice of k, how many events of a person count: others have two events each, so many that k = 1 and k = 2 are about
 * as likely, and one person with two events comes or does not. An attacker sees k.
 */
import { Purpose } from "../../../src/core/random.js";
import { derivedKey } from "../../../src/events/derivedKey.js";
import { LIMIT_BETA, LimitChoice, limitChoice } from "../../../src/events/people/limitChoice.js";
import { resolveEvents } from "../../../src/events/options.js";
import { People } from "../../../src/events/people/people.js";
import type { MakeTargets } from "../target.js";

const MOST = 2;

export const limit: MakeTargets = (epsilon, core) => {
  const settings = resolveEvents({
    ...{ of: "count", epsilon, every: "1d" },
    perPerson: { events: "choose", most: MOST },
  });
  const { hinge } = limitChoice(settings);
  const others = hinge + Math.max(0, Math.floor((LIMIT_BETA * Math.LN2) / epsilon) - 1);
  return [
    {
      name: `a person with two events beside ${others} others with two, or not`,
      features: ["k"],
      effort: 1,
      observe(world, random, rows) {
        const people = new People(new Uint32Array(4), settings.limit!, MOST);
        for (let i = 0; i < MOST * (others + world); i++)
          people.admit(Uint32Array.of(1 + Math.floor(i / MOST), 2, 3, 4), 0, 0, 1);
        const choice = new LimitChoice(settings, 0);
        const root = new Uint32Array(8);
        core.keystream(random, root);
        rows.forEach((_, run) => {
          const key = derivedKey(core, root, Purpose.groups, 8, run);
          rows[run] = choice.choose(core, key, people);
        });
      },
    },
  ];
};
