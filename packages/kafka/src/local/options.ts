/** The local model on Kafka: what its workers, readers and collectors agree on. */
import { Refusal } from "brume/node";
import type { AggregatorOptions } from "brume";

import type { NewTopic, Port } from "../port.js";
import { type SafetyOptions, topicPlan, topicProblems } from "../topics.js";

/** All of it is public: devices perturb their values before anything arrives here. */
export interface LocalTopics {
  /** Packed reports, many to a record. */
  readonly reports: string;
  /** Tallies of each partition, compacted. */
  readonly tallies: string;
  /** θ: one partition, compacted, one record a day. */
  readonly threshold: string;
}

export interface LocalOptions extends LocalTopics, SafetyOptions {
  /** ε, max, the bound of the first days and the zone. Reports belong to the day of their record's time. */
  readonly local: Omit<AggregatorOptions, "clock">;
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
