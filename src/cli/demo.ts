/** brume demo: publishes the built-in example stream and prints it beside the truth. */
import { plan } from "../stream/plan.js";
import { privateStream } from "../stream/stream.js";
import type { Command } from "./command.js";
import { EXAMPLE, exampleStream } from "./example.js";
import { chart } from "./chart.js";
import { table } from "./table.js";
import { SUMMARIES } from "./summaries.js";

const HOLDOUT = 65_536;
const LENGTH = EXAMPLE.length - HOLDOUT;
const DAY = 86_400;

export const demo: Command = {
  name: "demo",
  operands: "",
  summary: SUMMARIES.demo,
  options: { epsilon: { value: "E", help: "privacy budget ε (0.1)" } },
  example: "brume demo --epsilon 0.05",
  run(args) {
    const options = { epsilon: args.number("epsilon") ?? 0.1, max: EXAMPLE.max, holdout: HOLDOUT };
    const values = exampleStream("brume");
    const { blockLength } = plan(options);
    const started = performance.now();
    const stream = privateStream(options);
    stream.pushMany(values);
    const seconds = (performance.now() - started) / 1000;
    const truth = values.subarray(HOLDOUT);

    const columns = Math.floor(LENGTH / blockLength / 3);
    const per = Math.floor(LENGTH / columns);
    const means = Array.from({ length: columns }, (_, i) => [
      sumOf(truth.subarray(i * per, (i + 1) * per)) / per,
      stream.range(i * per, (i + 1) * per).mean,
    ]);
    console.log(
      `Queries per second, mean of every ${per} seconds: · truth, ● published with ε = ${options.epsilon}\n`,
    );
    console.log(
      chart(
        means.map(([t]) => t!),
        means.map(([, p]) => p!),
      ),
    );
    console.log(`\n${LENGTH} values published in ${seconds.toFixed(2)} s. Sums over ranges:\n`);
    console.log(
      table(
        ["range", "true sum", "private sum", "± 95 %", "error"],
        (
          [
            [0, 3600],
            [0, DAY],
            [3 * DAY, 4 * DAY],
            [0, 7 * DAY],
            [0, LENGTH],
          ] as const
        ).map(([from, to]) => {
          const answer = stream.range(from, to);
          const sum = sumOf(truth.subarray(from, to));
          return [
            span(from, to),
            sum.toFixed(0),
            answer.sum.toFixed(0),
            ((answer.high - answer.low) / 2).toFixed(0),
            `${((100 * (answer.sum - sum)) / sum).toFixed(2)} %`,
          ];
        }),
      ),
    );
    const theta = stream.statement().threshold!;
    const total = sumOf(truth);
    const percent = (part: number): string => `${((100 * part) / total).toFixed(2)} %`;
    const cut = truth.reduce((sum, value) => sum + Math.max(0, value - theta), 0);
    const { low, high } = stream.range(0, LENGTH).hidden!;
    console.log(
      `\n± is the error that the noise may cause. Values above θ = ${theta} count as θ: by noisy counts this hides between ${percent(low)} and ${percent(high)} of the total, in truth ${percent(cut)}.\n`,
    );
    console.log(stream.explain());
  },
};

const span = (from: number, to: number): string =>
  to - from < DAY
    ? "first hour"
    : to - from === DAY
      ? `day ${1 + from / DAY}`
      : to === LENGTH
        ? "everything"
        : "first week";

function sumOf(values: Float64Array): number {
  return values.reduce((a, b) => a + b, 0);
}
