/** One thread of the figures: gets all data sets once, then one job at a time. */
import { parentPort, workerData } from "node:worker_threads";
import type { Job } from "./job.js";
import { runJob } from "./runJob.js";

const datasets = workerData as ReadonlyMap<string, Float64Array>;
parentPort!.on("message", (job: Job) => {
  void runJob(job, datasets.get(job.data)!).then((result) => parentPort!.postMessage(result));
});
