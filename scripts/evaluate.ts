/**
 * Accuracy of systems on a file of numbers, one per line, gzip or not:
 *
 *     npm run evaluate -- --data pos=pos.txt.gz --max 1657 --epsilon 0.01,0.05 --methods tops,pak --repeat 50
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import type { EvaluateOptions, EvaluationRow, SystemName } from "../src/lab/evaluate.js";
import { evaluateInWorkers } from "../src/lab/workers.js";

const { values: args } = parseArgs({
  options: {
    data: { type: "string" },
    max: { type: "string" },
    epsilon: { type: "string", default: "0.05" },
    methods: { type: "string", default: "tops" },
    repeat: { type: "string", default: "50" },
    queries: { type: "string", default: "200" },
    holdout: { type: "string", default: "65536" },
    "max-range": { type: "string", default: "1048576" },
    "skip-levels": { type: "string" },
    threshold: { type: "string" },
    answer: { type: "string" },
    smoother: { type: "string" },
    seed: { type: "string" },
    paper: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
if (args.data === undefined || args.max === undefined)
  throw new TypeError(
    "usage: npm run evaluate -- --data [NAME=]FILE --max B [--epsilon E,E] [--methods tops,pak]",
  );

const [name, file] = args.data.includes("=") ? args.data.split("=", 2) : [args.data, args.data];
const skip = args["skip-levels"];
const options = {
  data: read(file!),
  max: Number(args.max),
  epsilons: args.epsilon.split(",").map(Number),
  methods: args.methods.split(",") as SystemName[],
  repeat: Number(args.repeat),
  queries: Number(args.queries),
  holdout: Number(args.holdout),
  maxRange: Number(args["max-range"]),
  tile: true,
  ...(args.seed === undefined ? {} : { seed: args.seed }),
  ...(args.paper ? { variant: "paper" } : {}),
  ...(skip === undefined ? {} : { skipLevels: skip === "auto" || skip === "paper" ? skip : Number(skip) }),
  ...(args.threshold === undefined ? {} : { threshold: Number(args.threshold) }),
  ...(args.answer === undefined ? {} : { answer: args.answer }),
  ...(args.smoother === undefined ? {} : { smoother: args.smoother }),
} as EvaluateOptions;

const evaluation = await evaluateInWorkers(options, {
  script: new URL("../dist/lab/worker.js", import.meta.url),
});
if (args.json) console.log(JSON.stringify({ name, ...evaluation }, null, 2));
else console.table(evaluation.results.map((row) => ({ data: name, ...shown(row) })));

function read(path: string): Float64Array {
  const bytes = readFileSync(path);
  const text = (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString("utf8");
  return Float64Array.from(text.trim().split(/\s+/), Number);
}

function shown({ method, epsilon, mse, mae, mmse, mmae, theta, seconds }: EvaluationRow) {
  const short = (value: number) => value.toExponential(2);
  return {
    method,
    ε: epsilon,
    MSE: short(mse.mean),
    "sd of a run": short(mse.sd),
    MAE: short(mae.mean),
    MMSE: short(mmse.mean),
    MMAE: short(mmae.mean),
    θ: [theta.min, theta.median, theta.max].map((value) => Number(value.toPrecision(4))).join(" / "),
    seconds: seconds.toPrecision(3),
  };
}
