/** Checks the protocol in all runs, with all rules and with each one removed: `npx tsx packages/kafka/model/main.ts`. */
import { ALL_RULES, explore, type Rules } from "./protocol.js";

const runs: [string, Rules][] = [
  ["all rules", ALL_RULES],
  ...(Object.keys(ALL_RULES) as (keyof Rules)[]).map((rule): [string, Rules] => [
    `without ${rule}`,
    { ...ALL_RULES, [rule]: false },
  ]),
];
for (const [name, rules] of runs) {
  const { states, finished, broken } = explore(rules, 3, 3);
  console.log(
    `${name}: ${states} states, ${finished} finished; broken: ${[...broken].join(", ") || "nothing"}`,
  );
}
