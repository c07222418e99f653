/**
 * Freezes the results that the site's page "Paper" shows before anybody runs anything, in site/src/paper/frozen.json:
 *
 *     npm run web -- paper           # 100 runs of each, five minutes
 *     npm run web -- paper 5      # fewer
 */
import { writeFileSync } from "node:fs";
import { EXAMPLE, exampleStream } from "../research/index.js";
import { METHODS } from "../site/src/paper/methods.js";
import { rowOf } from "../site/src/paper/runner.js";
import { budgets, FIELDS, FROZEN_METHODS } from "../site/src/paper/state.js";
import { Trials } from "../site/src/paper/trials.js";

const RUNS = Number(process.argv[2] ?? 100);
const { queries, seed, epsilons } = FIELDS;
const trials = new Trials(
  { max: EXAMPLE.max, holdout: 2 ** 16, maxRange: 2 ** 20, queries: queries.initial, seed: seed.initial },
  exampleStream(seed.initial),
);

const rows = [];
for (const method of FROZEN_METHODS)
  for (const epsilon of budgets(epsilons.initial)!) {
    const runs = Array.from({ length: RUNS }, (_, run) => trials.once({ method, epsilon, run }));
    const { seconds: _, ...row } = rowOf(
      method,
      epsilon,
      runs.map(({ result }) => result),
      runs[0]!.mean,
    );
    rows.push(row); // times are those of one busy machine: left out
    console.log(`${METHODS[method]!.name}, ε = ${epsilon}: ${(100 * row.relative).toPrecision(3)} %`);
  }
writeFileSync("site/src/paper/frozen.json", `${JSON.stringify({ runs: RUNS, rows }, null, 2)}\n`);
