/** Brume on Kafka. The public names. */
export { type ConnectOptions } from "./kafka/connections.js";
export { kafkaPort } from "./kafka/kafkaPort.js";
export { Refusal } from "brume/node";
export type { KeyOption } from "./keyring.js";
export { type Batch as ReportBatch, collect } from "./local/collect.js";
export { type LocalOptions, type LocalTopics, localTopicPlan } from "./local/options.js";
export { readLocal } from "./local/read.js";
export { readTerms } from "./local/threshold.js";
export {
  type LocalWorker,
  localWorker,
  type LocalWorkerOptions,
  type LocalWorkerStats,
} from "./local/worker.js";
export { Fenced, type LogRecord, type Port } from "./port.js";
export { PublishedTwice, readPublished, type ReadOptions } from "./readPublished.js";
export { rekey } from "./rekey.js";
export type { KeyedStreamOptions } from "./streams.js";
export { heartbeat, runClock } from "./clock.js";
export { type TopicNames, topicPlan, topicProblems } from "./topics.js";
export type { OutputFormat, Published, ValueFormat } from "./values.js";
export {
  kafkaWorker,
  type KafkaWorker,
  type KafkaWorkerOptions,
  type WorkerOptions,
  type WorkerStats,
} from "./worker.js";
