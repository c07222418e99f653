/**
 * Different people of a day, end to end, through the code that publishes: one person with several events comes or does not.
 * The day's number of a key is its only node, so an attacker sees every noisy count.
 */
import { EventMetric } from "../../../src/events/eventMetric.js";
import { resolvePeople } from "../../../src/events/options.js";
import { SHARES } from "../../../src/events/shares.js";
import type { Core } from "../../../src/core/core.js";
import type { MakeTargets, Target } from "../target.js";

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const NOBODY = new Uint32Array(4);
/** How many events the person has under each key. */
const EVENTS = 3;

interface Attacked {
  readonly epsilon: number;
  readonly keys: readonly string[];
  /** c: under how many of the keys a person counts. */
  readonly keysPerPerson: number;
  /** Whether the person is another one at each event. */
  readonly isCountedAgain: boolean;
}

function target(
  name: string,
  core: Core,
  { epsilon, keys, keysPerPerson, isCountedAgain }: Attacked,
): Target {
  const settings = resolvePeople({
    ...{ of: "people", over: "1d", epsilon, clock: () => START },
    ...(keys.length === 1 ? {} : { keysPerPerson }),
  });
  const { release: ofRelease, limited } = settings.shares;
  const t = (keysPerPerson * SHARES) / (ofRelease * epsilon);
  const evidence = (h: number, scale: number): number => (Math.abs(h - 1) - Math.abs(h)) / scale;
  return {
    name,
    features: ["likelihood ratio of the published numbers", "first published number"],
    effort: 1,
    observe(world, random, rows) {
      const words = 8 * keys.length;
      const secrets = new Uint32Array((words * rows.length) / 2);
      core.keystream(random, secrets);
      for (let row = 0; row < rows.length; row += 2) {
        const own = secrets.subarray((words * row) / 2, (words * row) / 2 + words);
        const release = (key: string) => own.slice(8 * keys.indexOf(key), 8 * keys.indexOf(key) + 8);
        const metric = new EventMetric(
          settings,
          core,
          { people: NOBODY, own: own.slice(0, 8), release },
          START,
          keys,
        );
        for (let i = 0; i < world * EVENTS; i++)
          for (const key of keys)
            metric.add(key, undefined, { at: START, person: isCountedAgain ? `one, ${i}` : "one" });
        while (metric.closeNext(START + DAY, START + DAY) !== undefined);
        const numbers = keys.map((key) => metric.release(key)!.measure(START, START + DAY).sums[0]!);
        rows[row] = numbers.slice(0, keysPerPerson).reduce((sum, h) => sum + evidence(h, t), 0);
        if (limited > 0) rows[row]! += evidence(metric.limitedDays[0]!.lost, SHARES / (limited * epsilon));
        rows[row + 1] = numbers[0]!;
      }
    },
  };
}

export const people: MakeTargets = (epsilon, core, fault) => {
  const isCountedAgain = fault?.kind === "counted-again";
  const attacked = { epsilon, isCountedAgain };
  return [
    target("a person with three events in a day, or nobody", core, {
      ...attacked,
      keys: [""],
      keysPerPerson: 1,
    }),
    target("a person under two of three keys of a hub in a day, or nobody", core, {
      ...attacked,
      ...{ keys: ["a", "b", "c"], keysPerPerson: 2 },
    }),
  ];
};
