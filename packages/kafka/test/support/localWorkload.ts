/** Reports, topics and options of the local model that the tests share. */
import { type Aggregator, aggregator, type LocalTerms, reporter } from "brume";

import { collect } from "../../src/local/collect.js";
import type { LocalOptions } from "../../src/local/options.js";
import { readLocalFrom } from "../../src/local/read.js";
import { readTerms } from "../../src/local/threshold.js";
import type { LocalWorkerOptions } from "../../src/local/worker.js";
import type { Port } from "../../src/port.js";
import { until } from "./workload.js";

export const local = { epsilon: 4, max: 100 };
export const localValues = Float64Array.from({ length: 1500 }, (_, i) => 10 + ((i * 7919) % 20));
export const DAY = 86_400_000;

export function localTopics(name: string): LocalWorkerOptions {
  return {
    ...{
      group: name,
      reports: `${name}-reports`,
      tallies: `${name}-tallies`,
      threshold: `${name}-threshold`,
    },
    ...{ local, commitInterval: 5, development: true },
  };
}

/** Batches of 50 packed reports, as collectors get them. */
export function reportBatches(threshold = local.max): Uint8Array[] {
  const bytes = reporter({ ...local, threshold }).reportMany(localValues);
  return Array.from({ length: localValues.length / 50 }, (_, i) => bytes.subarray(400 * i, 400 * i + 400));
}

/** Sends batches, every fifth one twice. */
export async function sendReports(
  port: Port,
  { reports }: LocalOptions,
  list: readonly Uint8Array[],
  name: string,
): Promise<void> {
  for (const [i, batch] of list.entries())
    for (let times = i % 5 === 0 ? 2 : 1; times > 0; times--)
      await collect(port, reports, [{ reports: batch, nonce: `${name} ${i}` }]);
}

/** Asks for the terms of today and sends all reports; gives both. */
export async function askAndSend(port: Port, options: LocalOptions) {
  let terms: LocalTerms | undefined;
  await until(async () => (terms = (await readTerms(port, options)).at(-1)) !== undefined, 60_000);
  const batches = reportBatches(terms!.threshold);
  await sendReports(port, options, batches, "reports");
  return { terms: terms!, batches };
}

/** One aggregator with the reports that all workers together have. */
export function oneAggregator({ batches }: Awaited<ReturnType<typeof askAndSend>>): Aggregator {
  const single = aggregator(local);
  for (const batch of batches) single.add(batch);
  return single;
}

/** Waits until all reports are in the tallies. */
export function allCounted(port: Port, options: LocalOptions): Promise<void> {
  return until(async () => (await readLocalFrom(port, options)).reports === localValues.length, 60_000);
}
