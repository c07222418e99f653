/** One thread of `evaluateInWorkers`: gets the experiment once, then one run at a time. */
import { parentPort, workerData } from "node:worker_threads";
import { type EvaluateOptions, prepare, runTrial, type Trial } from "./evaluate.js";

const experiment = prepare(workerData as EvaluateOptions);
parentPort!.on("message", (trial: Trial) => parentPort!.postMessage(runTrial(experiment, trial)));
