#!/usr/bin/env node
/** Publishes a built-in example stream and prints what came of it. */
import { tops } from "../index.js";
import { exampleStream } from "./example.js";

const [holdout, length] = [65_536, 2 ** 20];
const values = exampleStream(holdout + length);
const stream = tops({ epsilon: 0.1, max: 500, holdout });
const started = performance.now();
stream.pushMany(values);
const seconds = (performance.now() - started) / 1000;

console.log(stream.explain());
console.log(
  `\n${stream.length} values published in ${seconds.toFixed(2)} s. Means over ranges, true and private:`,
);
for (const [from, to] of [
  [0, 65_536],
  [200_000, 300_000],
  [0, length],
] as const) {
  const truth = values.slice(holdout + from, holdout + to).reduce((a, b) => a + b, 0) / (to - from);
  const { mean, standardError } = stream.range(from, to);
  const error = (1.96 * standardError) / (to - from);
  console.log(
    `  [${from}, ${to})  true ${truth.toFixed(4)}  private ${mean.toFixed(4)} ± ${error.toFixed(4)}`,
  );
}
