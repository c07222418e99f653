/**
 * θ of a day: decided once, by one task, from the reports of all partitions on the days before, and published in a topic of its own.
 * The writer of that topic is fenced like any other, so of two that decide only one publishes.
 */
import { aggregator, type Aggregator, type LocalTerms } from "brume";

import { readAll, readDecided } from "../committed.js";
import type { Port } from "../port.js";
import type { LocalOptions } from "./options.js";
import { readTallies } from "./partitionTallies.js";

/** The terms of all days that are published, oldest first. The topic has them as JSON, for devices too. */
export async function readTerms(
  port: Port,
  { threshold: topic }: LocalOptions,
  read = readDecided,
): Promise<LocalTerms[]> {
  const days = new Map<number, LocalTerms>();
  for await (const records of read(port, topic, 0))
    for (const { value } of records)
      if (value) {
        const terms = JSON.parse(value.toString()) as LocalTerms;
        days.set(terms.until, terms);
      }
  return [...days.values()].sort((a, b) => a.until - b.until);
}

/** An aggregator that has everything that is committed, of any process. */
export async function mergedReports(
  port: Port,
  options: LocalOptions,
  terms: readonly LocalTerms[],
  clock: () => number = Date.now,
): Promise<Aggregator> {
  const merged = aggregator({ ...options.local, clock });
  for (const day of terms) merged.follow(day);
  const { partitions } = (await port.describe([options.tallies]))[0]!;
  for (let partition = 0; partition < partitions; partition++)
    for (const bytes of (await readTallies(port, options, partition)).stored) merged.merge(bytes);
  return merged;
}

/** Decides and publishes θ of the day that `now` lies in, if that is not done. Returns the terms of all days. */
export async function decideTerms(
  port: Port,
  options: LocalOptions,
  group: string,
  now: number,
): Promise<LocalTerms[]> {
  const known = await readTerms(port, options);
  if (known.some(({ until }) => until > now)) return known;
  const decided = await (await mergedReports(port, options, known, () => now)).terms();
  const writer = await port.writer(`${group}/${options.threshold}/decide`);
  try {
    const earlier = await readTerms(port, options, readAll); // others are fenced now, so this stays true
    if (earlier.some(({ until }) => until >= decided.until)) return earlier;
    const record = { key: Buffer.from(String(decided.until)), value: Buffer.from(JSON.stringify(decided)) };
    await writer.write([{ topic: options.threshold, partition: 0, records: [record] }]);
    await writer.commit();
    return [...earlier, decided];
  } finally {
    await writer.close().catch(() => undefined);
  }
}
