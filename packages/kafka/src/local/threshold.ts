/**
 * θ: decided once, by one task, from the learn-reports of all partitions, and published in a topic of its own. The
 * writer of that topic is fenced like any other, so of two that decide only one publishes.
 */
import { aggregator } from "brume";

import { readAll, readDecided } from "../committed.js";
import type { Port } from "../port.js";
import type { LocalOptions } from "./options.js";
import { readTallies } from "./tallies.js";

const KEY = Buffer.from("threshold");

/** What the topic says, for devices too. */
export interface PublishedThreshold {
  readonly theta: number;
  /** Learn-reports that chose it. */
  readonly learned: number;
}

/** θ, once it is published. */
export async function readThreshold(
  port: Port,
  { threshold: topic }: LocalOptions,
  read = readDecided,
): Promise<PublishedThreshold | undefined> {
  let last: PublishedThreshold | undefined;
  for await (const records of read(port, topic, 0))
    for (const { value } of records) if (value) last = JSON.parse(value.toString()) as PublishedThreshold;
  return last;
}

/** Decides and publishes θ if there are enough learn-reports and there is none yet. */
export async function decideThreshold(
  port: Port,
  options: LocalOptions,
  group: string,
): Promise<PublishedThreshold | undefined> {
  const merged = aggregator({ ...options.local, history: 1 });
  const { partitions } = (await port.describe([options.tallies]))[0]!;
  for (let partition = 0; partition < partitions; partition++)
    for (const { at, bytes } of (await readTallies(port, options, partition)).stored)
      if (at === undefined) merged.merge(bytes);
  if (merged.learned < (options.local.holdout ?? 65_536)) return undefined;
  const decided = { theta: await merged.threshold(), learned: merged.learned };
  const writer = await port.writer(`${group}/${options.threshold}/decide`);
  try {
    const earlier = await readThreshold(port, options, readAll); // others are fenced now, so this stays true
    if (earlier !== undefined) return earlier;
    const record = { key: KEY, value: Buffer.from(JSON.stringify(decided)) };
    await writer.write([{ topic: options.threshold, partition: 0, records: [record] }]);
    await writer.commit();
    return decided;
  } finally {
    await writer.close().catch(() => undefined);
  }
}
