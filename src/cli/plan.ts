/** brume plan: what a release would cost, before any data. */
import { plan as planOf } from "../stream/plan.js";
import type { Command } from "./command.js";
import { table } from "./table.js";
import { STREAM_FLAGS, streamOptions } from "./streamOptions.js";

export const plan: Command = {
  name: "plan",
  operands: "",
  summary: "Tells error and memory of a release from its parameters alone.",
  options: { ...STREAM_FLAGS, json: { help: "one JSON object instead of tables" } },
  example: "brume plan --epsilon 0.1 --max 1000",
  run(args) {
    const p = planOf(streamOptions(args));
    if (args.has("json")) {
      process.stdout.write(`${JSON.stringify(p, null, 2)}\n`);
      return;
    }
    const short = (x: number) => String(Number(x.toPrecision(4)));
    process.stdout.write(
      [
        `Blocks of ${p.blockLength} values (${p.skipLevels} levels skipped), ${p.levels} levels of noise with fan-out ${p.fanout}, one forest per ${p.forestLength} values, ${p.holdout} values held out.`,
        `Noise on every node has scale ${short(p.noiseScalePerTheta)}·θ.`,
        `Memory: ${Math.ceil(p.memory.stream / 1024)} KB per stream, and ${Math.ceil(p.memory.index / 1024)} KB of range index at most.`,
        "",
        "Noise in a range (standard error of the sum, and of the mean), in units of θ:",
        table(
          ["values", "sum", "mean"],
          p.errors.map((e) => [
            String(e.length),
            short(e.standardErrorPerTheta),
            short(e.standardErrorPerTheta / e.length),
          ]),
        ),
        "",
        "What a threshold would cost: noise per node, in the sum of a random range, and in the mean of the longest:",
        table(
          ["θ", "noise scale", "random range", "longest mean"],
          p.thresholds.map((t) => [t.threshold, t.noiseScale, t.standardError, t.errorOfMean].map(short)),
        ),
        "",
      ].join("\n"),
    );
  },
};
