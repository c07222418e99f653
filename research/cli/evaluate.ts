/** brume evaluate: how far the answers of any system are off, on data you know. */
import { SYSTEM_NAMES, type EvaluateOptions, type Evaluation, type SystemName } from "../evaluate.js";
import { evaluateInWorkers } from "../evaluateInWorkers.js";
import { ANSWER_KINDS } from "../../src/stream/answer/answer.js";
import { given } from "../../src/core/given.js";
import { type Arguments, type Command, UsageError } from "../../src/cli/command.js";
import { readNumbers } from "../../src/cli/input.js";
import { INPUT_FLAGS, inputOf } from "../../src/cli/inputOptions.js";
import { Progress } from "../../src/cli/progress.js";
import { table } from "../../src/cli/table.js";
import { evaluateEvents } from "./events.js";
import { evaluateOpponents } from "./opponents.js";
import { evaluateZoo } from "./zoo.js";
import { evaluateShort } from "./short.js";
import { evaluateSweep } from "./sweep.js";
import { skipLevelsOf, smootherOf, SMOOTHERS } from "../../src/cli/streamOptions.js";
import { SUMMARIES } from "../../src/cli/summaries.js";

export const evaluate: Command = {
  name: "evaluate",
  operands: "",
  summary: `${SUMMARIES.evaluate}\nSystems: ${SYSTEM_NAMES.join(", ")}.`,
  options: {
    data: {
      value: "FILE",
      repeatable: true,
      help: "numbers: plain, CSV or NDJSON, gzip or not (required; beside --zoo NAME=FILE:MAX)",
    },
    zoo: { value: "G", help: "in place of data: all streams of tuning, fresh or all, against --paper" },
    streams: { value: "N,N,…", help: "only these streams of the zoo" },
    recorded: { help: "compare the zoo with recorded figures of --paper instead of running it" },
    still: { help: "compare the zoo also with the default whose θ does not follow the stream" },
    sweep: { help: "with --zoo: how good θ is for hold-outs and ranges of many lengths" },
    short: { help: "with --zoo: what a short --holdout (1024) costs, and what a second choice of θ mends" },
    events: { help: "in place of data: how good θ of event streams is, against the best θ" },
    kept: { value: "FILE", help: "where finished runs are kept (build/zoo or build/opponents, runs.ndjson)" },
    out: { value: "DIR", help: "beside --zoo and --methods: also write table, figure and cells there" },
    ...INPUT_FLAGS,
    max: { value: "B", help: "public upper bound of a value (required)" },
    epsilon: { value: "E,E,…", help: "privacy budgets (required)" },
    methods: { value: "M,M,…", help: "systems to run (tops); beside --zoo all, or some opponents" },
    repeat: { value: "N", help: "runs per system and budget (10)" },
    queries: { value: "Q", help: "random ranges per run (200)" },
    holdout: { value: "M", help: "values that choose θ (65536)" },
    "max-range": { value: "R", help: "values released, and the longest range (1048576)" },
    tile: { help: "extend short data by appending it mirrored" },
    threshold: { value: "T", help: "a public θ for every system" },
    answer: { value: "A", help: "best, blocks or published (each system's own)" },
    "skip-levels": { value: "S", help: "levels left to prediction: auto, paper or a number" },
    smoother: { value: "S", help: SMOOTHERS },
    paper: { help: "all choices as in the paper" },
    "unsafe-seed": { value: "S", help: "the same ranges and noise every time" },
    json: { help: "one JSON object instead of a table" },
  },
  example:
    "brume evaluate --data fares.csv.gz --column fare --max 30000 --epsilon 0.01,0.1 --methods tops,pak --tile",
  async run(args) {
    if (args.has("events")) return evaluateEvents(args);
    if (args.has("sweep")) return evaluateSweep(args);
    if (args.has("short")) return evaluateShort(args);
    if (args.text("zoo") !== undefined)
      return args.text("methods") === undefined ? evaluateZoo(args) : evaluateOpponents(args);
    const options = { ...(await readData(args)), ...evaluateOptions(args) };
    const progress = new Progress("runs");
    const result = await evaluateInWorkers(options, {
      progress: (done, of) => progress.show(done, done / of),
    }).finally(() => progress.clear());
    process.stdout.write(args.has("json") ? `${JSON.stringify(result)}\n` : `${tableOf(result)}\n`);
  },
};

async function readData(args: Arguments): Promise<Pick<EvaluateOptions, "data">> {
  const [path, ...more] = args.texts("data");
  if (path === undefined) throw new UsageError("--data: missing; expected a file");
  if (more.length > 0) throw new UsageError("--data: expected one file, got several; only --zoo takes more");
  return { data: await readNumbers(...inputOf(args, path)) };
}

function evaluateOptions(args: Arguments): Omit<EvaluateOptions, "data"> {
  const epsilons = args.numbers("epsilon");
  if (epsilons === undefined)
    throw new UsageError("--epsilon: missing; expected numbers with commas between");
  const options = {
    repeat: args.number("repeat"),
    queries: args.number("queries"),
    holdout: args.number("holdout"),
    maxRange: args.number("max-range"),
    tile: args.has("tile"),
    threshold: args.number("threshold"),
    answer: args.choice("answer", ANSWER_KINDS),
    skipLevels: skipLevelsOf(args),
    smoother: smootherOf(args.text("smoother")),
    variant: args.has("paper") ? ("paper" as const) : undefined,
    seed: args.text("unsafe-seed"),
  };
  const methods = (args.text("methods") ?? "tops").split(",").map((name) => systemOf(name.trim()));
  return { max: args.required("max"), epsilons, methods, ...given(options) };
}

function systemOf(name: string): SystemName {
  const found = SYSTEM_NAMES.find((known) => known === name);
  if (found === undefined)
    throw new UsageError(`--methods: expected ${SYSTEM_NAMES.join(", ")}, got "${name}"`);
  return found;
}

function tableOf({ results }: Evaluation): string {
  const short = (x: number) =>
    x !== 0 && (Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3)
      ? x.toExponential(2)
      : String(Number(x.toPrecision(3)));
  return table(
    ["method", "ε", "MSE", "(sd)", "MAE", "MMSE", "MMAE", "θ min", "median", "max", "s"],
    results.map(({ method, epsilon, mse, mae, mmse, mmae, theta, seconds }) => [
      method,
      String(epsilon),
      ...[mse.mean, mse.sd, mae.mean, mmse.mean, mmae.mean, theta.min, theta.median, theta.max, seconds].map(
        short,
      ),
    ]),
  );
}
