/** brume plan: what a release would cost, before any data. */
import { solveEpsilon } from "../events/plan.js";
import { resolveSettings } from "../stream/options.js";
import { errorOfLength, planValues } from "../stream/plan.js";
import { type Arguments, type Command, UsageError } from "./command.js";
import { EVENT_FLAGS, EVENT_RELEASE_FLAGS, FORMER_FLAGS } from "./eventOptions.js";
import { INPUT_FLAGS } from "./inputOptions.js";
import { planOfEvents, targetOf } from "./planEvents.js";
import { table } from "./table.js";
import { STREAM_FLAGS, streamOptions } from "./streamOptions.js";
import { SUMMARIES } from "./summaries.js";

/** Flags about a file of events that limits are tried on. */
const FILE_FLAGS = ["time", "time-unit", "value", "person", "input-format", "delimiter"];

export const plan: Command = {
  name: "plan",
  operands: "[FILE]",
  summary: `${SUMMARIES.plan}\nOf events also, from a FILE that you may see, what limits of a person would drop.`,
  options: {
    ...STREAM_FLAGS,
    ...EVENT_FLAGS,
    ...Object.fromEntries(
      FILE_FLAGS.map((name) => [name, (EVENT_RELEASE_FLAGS[name] ?? INPUT_FLAGS[name])!]),
    ),
    "per-person": { value: "K,L,…", help: "with --every: compares limits of a person's events in a day" },
    ask: { value: "D,E", help: "events: the periods you ask about, such as 1h,1d; recommends --levels" },
    rate: { value: "N/D", help: "events: a guess such as 200/1h; tells widths in % of it" },
    target: {
      value: "P%",
      help: "finds the smallest ε with this error: of the mean as a part of θ, or of events at --rate",
    },
    range: {
      value: "R",
      help: "the range of --target: values, or a duration of events (--max-range; 1h)",
    },
    json: { help: "one JSON object instead of tables" },
  },
  former: FORMER_FLAGS,
  example: "brume plan --ask 1h,1d --rate 200/1h --per-person 3 --epsilon 1",
  run(args) {
    if (args.text("every") !== undefined || args.text("ask") !== undefined) return planOfEvents(args);
    if (args.operands.length > 0)
      throw new UsageError(`expected options only, got "${args.operands[0]}" as well`);
    const p = planValues(streamOptions(args, epsilonFor(args)));
    if (args.has("json")) {
      process.stdout.write(`${JSON.stringify(p, null, 2)}\n`);
      return;
    }
    const short = (x: number) => String(Number(x.toPrecision(4)));
    const theta = (args.number("min") ?? 0) === 0 ? "θ" : "(θ − min)";
    process.stdout.write(
      [
        ...(args.text("target") === undefined
          ? []
          : [`ε = ${short(p.epsilon)} is the smallest that meets the target.`]),
        `Blocks of ${p.blockLength} values (${p.skipLevels} levels skipped), ${p.levels} levels of noise with fan-out ${p.fanout}, one forest per ${p.forestLength} values, ${p.holdout} values held out.`,
        `Noise on every node has scale ${short(p.noiseScalePerTheta)}·${theta}.`,
        ...(p.refining === null
          ? []
          : [
              `θ is chosen once more after ${p.refining.values} published values; until then the scale is ${short(p.refining.noiseScalePerTheta)}·${theta}.`,
            ]),
        `Memory: ${Math.ceil(p.memory.stream / 1024)} KB per stream, and ${Math.ceil(p.memory.index / 1024)} KB of range index at most.`,
        "",
        `Noise in a range (standard error of the sum, and of the mean), in units of ${theta}:`,
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

/** The smallest ε whose noise in the mean of a range is at most a part of θ; undefined without a target. */
function epsilonFor(args: Arguments): number | undefined {
  const target = targetOf(args.text("target"));
  if (target === undefined) return undefined;
  const { maxRange } = resolveSettings(streamOptions(args, 1)).tree;
  const length = args.number("range") ?? maxRange;
  const epsilon = solveEpsilon(target, (tried) => {
    const settings = resolveSettings(streamOptions(args, tried));
    const { blockLength, blocksPerForest } = settings.tree;
    if (blockLength > length) return Infinity; // there is no estimate inside a block
    return errorOfLength(settings, Math.min(length, blocksPerForest * blockLength)) / length;
  });
  if (epsilon === undefined)
    throw new UsageError("--target: expected an error that some ε up to 64 reaches; take a longer --range");
  return epsilon;
}
