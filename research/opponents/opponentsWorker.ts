/** One thread of the comparison: gets the values of files once, makes the other streams itself, and takes one job at a time. */
import { parentPort, workerData } from "node:worker_threads";
import { valuesFrom } from "../zoo/measure.js";
import { opponentRunner } from "./run.js";
import type { OpponentJob } from "./trial.js";

const run = opponentRunner(valuesFrom(workerData as ReadonlyMap<string, Float64Array>));
parentPort!.on("message", (job: OpponentJob) => parentPort!.postMessage(run(job)));
