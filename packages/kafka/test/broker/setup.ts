/** One real broker for all tests of this folder, and the worker program that they start as processes. */
import { fileURLToPath } from "node:url";

import { build } from "esbuild";
import type { TestProject } from "vitest/node";

import { startCluster } from "../../broker/broker.js";

declare module "vitest" {
  export interface ProvidedContext {
    brokers: readonly string[];
    workerProgram: string;
  }
}

/** The worker as one file: a process starts in a third of a second instead of two. */
export async function buildWorkerProgram(name = "kafkaWorker"): Promise<string> {
  const outfile = fileURLToPath(new URL(`../../../../build/${name}.mjs`, import.meta.url));
  await build({
    entryPoints: [fileURLToPath(new URL("../support/workerProcess.ts", import.meta.url))],
    ...{ bundle: true, platform: "node", format: "esm", outfile, logLevel: "warning" },
    external: ["@platformatic/kafka"],
  });
  return outfile;
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [cluster, workerProgram] = await Promise.all([startCluster(), buildWorkerProgram()]);
  project.provide("brokers", cluster.brokers);
  project.provide("workerProgram", workerProgram);
  return () => cluster.stop();
}
