/** Reports, topics and options of the local model that the tests share. */
import { aggregator, reporter } from "brume";

import { collect } from "../../src/local/collect.js";
import type { LocalOptions } from "../../src/local/options.js";
import { readLocalFrom } from "../../src/local/read.js";
import { readThreshold } from "../../src/local/threshold.js";
import type { LocalWorkerOptions } from "../../src/local/worker.js";
import type { Port } from "../../src/port.js";
import { until } from "./workload.js";

export const local = { epsilon: 4, max: 100, holdout: 1000 };
export const localValues = Float64Array.from({ length: 1500 }, (_, i) => 10 + ((i * 7919) % 20));
export const MINUTE = 60_000;

export function localTopics(name: string): LocalWorkerOptions {
  return {
    ...{
      group: name,
      reports: `${name}-reports`,
      tallies: `${name}-tallies`,
      threshold: `${name}-threshold`,
    },
    ...{ local, every: MINUTE, commitInterval: 5, development: true },
  };
}

/** Batches of 50 packed reports, as collectors get them. */
export function reportBatches(phase: "learn" | "release", threshold?: number): Uint8Array[] {
  const { epsilon, max } = local;
  const device =
    phase === "learn"
      ? reporter({ epsilon, max, phase })
      : reporter({ epsilon, max, phase, threshold: threshold! });
  const bytes = device.reportMany(localValues);
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

/** Learns θ and releases; gives all reports and θ. */
export async function learnAndRelease(port: Port, options: LocalOptions) {
  const learning = reportBatches("learn");
  await sendReports(port, options, learning, "learn");
  let theta: number | undefined;
  await until(async () => (theta = (await readThreshold(port, options))?.theta) !== undefined, 60_000);
  const releasing = reportBatches("release", theta);
  await sendReports(port, options, releasing, "release");
  return { learning, releasing, theta: theta! };
}

/** The same reports in one aggregator. It learns from all of them, as the partitions together do. */
export function oneAggregator({ learning, releasing, theta }: Awaited<ReturnType<typeof learnAndRelease>>) {
  const single = aggregator({ ...local, holdout: localValues.length, threshold: theta });
  for (const batch of learning) single.learn(batch);
  for (const batch of releasing) single.release(batch);
  return single;
}

/** Waits until all release-reports are in the tallies. */
export function allReleased(port: Port, options: LocalOptions): Promise<void> {
  return until(async () => (await readLocalFrom(port, options)).all.released === localValues.length, 60_000);
}
