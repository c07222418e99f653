/** The local model on Kafka: what its workers, readers and collectors agree on. */
import type { AggregatorOptions } from "brume";

import { Refusal } from "../keys.js";
import type { NewTopic, Port } from "../port.js";
import { type SafetyOptions, topicPlan, topicProblems } from "../topics.js";

/** All of it is public: devices perturb their values before anything arrives here. */
export interface LocalTopics {
  /** Packed reports, many to a record. */
  readonly reports: string;
  /** Tallies of each partition, compacted. */
  readonly tallies: string;
  /** θ: one partition, compacted, one record once it is known. */
  readonly threshold: string;
}

export interface LocalOptions extends LocalTopics, SafetyOptions {
  /** ε and max of the reports, and how many learn-reports choose θ. θ itself is learned. */
  readonly local: Omit<AggregatorOptions, "history" | "threshold">;
  /** Release-reports are counted in buckets of this many milliseconds, by the time of their record. Default 60,000. */
  readonly every?: number;
}

const HOUR = 3_600_000;

export function bucketLength({ every = 60_000 }: LocalOptions): number {
  if (!Number.isSafeInteger(every) || every < 1 || every > 24 * HOUR)
    throw new RangeError(`every: expected whole milliseconds from 1 to one day, got ${every}`);
  return every;
}

/** Topics as they should be made. */
export function localTopicPlan(
  topics: LocalTopics,
  partitions: number,
  safety: SafetyOptions = {},
): NewTopic[] {
  const [reports, tallies] = topicPlan(reportNames(topics), partitions, safety);
  const [, threshold] = topicPlan(thresholdNames(topics), 1, safety);
  return [reports!, tallies!, threshold!];
}

/** Throws unless the topics are safe. */
export async function checkLocalTopics(
  port: Port,
  topics: LocalTopics,
  safety: SafetyOptions,
): Promise<void> {
  const described = await port.describe([topics.reports, topics.tallies]);
  const problems = [
    ...topicProblems(described, reportNames(topics), safety),
    ...topicProblems(await port.describe([topics.threshold]), thresholdNames(topics), safety),
  ];
  if (problems.length > 0) throw new Refusal(`topics: not safe\n  ${problems.join("\n  ")}`);
}

const reportNames = ({ reports, tallies }: LocalTopics) => ({ in: reports, state: tallies, out: reports });
const thresholdNames = ({ threshold }: LocalTopics) => ({ in: threshold, state: threshold, out: threshold });
