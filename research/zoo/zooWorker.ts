/** One thread of the zoo: gets the values of files once, makes the other streams itself, and takes one job at a time. */
import { parentPort, workerData } from "node:worker_threads";
import { valuesFrom } from "./measure.js";
import { type ZooJob, zooRunner } from "./run.js";

const run = zooRunner(valuesFrom(workerData as ReadonlyMap<string, Float64Array>));
parentPort!.on("message", (job: ZooJob) => parentPort!.postMessage(run(job)));
